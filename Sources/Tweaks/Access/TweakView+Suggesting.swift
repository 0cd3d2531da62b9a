// Builds the error for an unknown path, and suggests a similar one among the visible tweaks.

extension TweakView {
    /// The error for a path or pattern that matches nothing.
    package func unknown(_ text: String) -> TweakError {
        if let node = node(orFormerly: text) {
            return TweakError(
                .unknownTweak, "there is no tweak \(Quoting.excerpt(text)); it is called \(node.path.token) now")
        }
        let guess = suggestion(for: text).map { "; did you mean \($0.token)?" } ?? "; see ls or find"
        return TweakError(.unknownTweak, "there is no tweak \(Quoting.excerpt(text))\(guess)")
    }

    /// The most similar path: the nearest category, then collection, then name.
    ///
    /// It runs on the I/O thread, so the number of comparisons is bounded to a few milliseconds.
    package func suggestion(for text: String) -> TweakPath? {
        let groups = listing.groups
        let parts = text.pathParts
        if parts.count == 3, let path = Self.suggestion(for: parts, in: groups) { return path }
        // A bare name, or misplaced parts: compare the text with names, then with whole paths.
        let nodes = groups.lazy.flatMap(\.nodes).prefix(2_000)
        if let name = Spelling.nearest(to: parts.last ?? text, among: nodes.lazy.map(\.path.name)) {
            return nodes.first { $0.path.name == name }?.path
        }
        let joined = Spelling.nearest(to: text, among: nodes.lazy.map(\.path.joined))
        return joined.flatMap { joined in nodes.first { $0.path.joined == joined }?.path }
    }

    private static func suggestion(for parts: [String], in groups: [TweakListing.Group]) -> TweakPath? {
        // Groups are sorted, so those of a category are adjacent.
        let starts = groups.indices.lazy.filter { $0 == 0 || groups[$0].category != groups[$0 - 1].category }
        let categories = starts.map { groups[$0].category }
        guard let category = Spelling.nearest(to: parts[0], among: categories) else { return nil }
        let within = groups.lazy.filter { $0.category == category }
        guard let collection = Spelling.nearest(to: parts[1], among: within.map(\.collection)),
            let group = within.first(where: { $0.collection == collection }),
            let name = Spelling.nearest(to: parts[2], among: group.nodes.lazy.map(\.path.name))
        else { return nil }
        return group.nodes.first { $0.path.name == name }?.path
    }
}
