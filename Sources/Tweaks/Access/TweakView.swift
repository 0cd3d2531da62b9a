// Restricts a registry to the tweaks that a session's rights make visible.

import Synchronization

/// A registry as seen with certain rights.
///
/// It behaves like a registry that contains only the visible tweaks: a hidden tweak cannot be distinguished from one
/// that does not exist.
package struct TweakView: Sendable {
    package let registry: TweakRegistry
    package let rights: Rights

    /// - Parameter rights: By default, everything.
    package init(_ registry: TweakRegistry, _ rights: Rights = .all) {
        self.registry = registry
        self.rights = rights
    }

    /// Whether everything is visible.
    package var isWhole: Bool { rights.isWhole(.read) }

    /// The visible tweaks, in listing order.
    package var listing: TweakListing { registry.listing(seenWith: rights) }

    /// The number of visible tweaks and actions.
    package var count: Int { isWhole ? registry.count : listing.count }

    /// The tweak or action with this path; nil if there is none.
    package subscript(path: String) -> AnyTweak? {
        registry[path].flatMap { rights.sees($0.node) ? $0 : nil }
    }

    /// The tweak or action that has this path, or had it in an earlier version of the program.
    func node(orFormerly path: String) -> TweakNode? {
        if let tweak = self[path] { return tweak.node }
        let former = registry.state.withLock { state in
            state.formerly.isEmpty ? nil : (try? TweakPath(path)).flatMap { state.formerly[$0] }
        }
        return former.flatMap { rights.sees($0) ? $0 : nil }
    }

    /// Whether these rights allow replies about a path without a tweak.
    package func canSee(_ path: TweakPath) -> Bool { rights.allows(.read, path) }
}

extension TweakView {
    /// The error for a path or pattern that matches nothing.
    package func unknown(_ text: String) -> TweakError {
        if let node = node(orFormerly: text) {
            return TweakError(
                .unknownTweak, "there is no tweak \(Quoting.excerpt(text)); it is called \(node.path.token) now")
        }
        let remedy = listing.groups.isEmpty ? "; there are no tweaks yet" : "; see ls or find"
        let near = groupSuggestion(for: text.pathParts) ?? suggestion(for: text)?.token
        let guess = near.map { "; did you mean \($0)?" } ?? remedy
        return TweakError(.unknownTweak, "there is no tweak \(Quoting.excerpt(text))\(guess)")
    }

    /// The category or collection most similar to a text of one or two parts; nil if a name is as similar.
    private func groupSuggestion(for parts: [String]) -> String? {
        if parts.count > 2 { return nil }
        let groups = listing.groups
        let names = groups.lazy.flatMap(\.nodes).prefix(parts.count == 1 ? 2_000 : 0).map(\.path.name)
        let categories = groups.prefix(1_000).map(\.category)
        guard let category = Spelling.nearest(to: parts[0], among: Array(names) + categories),
            categories.contains(category), !names.contains(category)
        else { return nil }
        var near = [category]
        if parts.count == 2 {
            let within = groups.lazy.filter { $0.category == category }.map(\.collection)
            guard let collection = Spelling.nearest(to: parts[1], among: within) else { return nil }
            near.append(collection)
        }
        // A group that exists is no path, and no better guess.
        if near == parts { return nil }
        let text = near.joined(separator: "/")
        return Quoting.needsQuotes(text) ? Quoting.json(text) : text
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

extension TweakListing {
    /// The part of a listing that is visible with certain rights.
    convenience init(_ all: TweakListing, seenWith rights: Rights) {
        let groups = all.groups.compactMap { group -> Group? in
            if let isVisible = rights.sees(group) { return isVisible ? group : nil }
            let nodes = group.nodes.filter { rights.sees($0) }
            return nodes.isEmpty ? nil : Group(category: group.category, collection: group.collection, nodes: nodes)
        }
        self.init(groups, generation: all.generation)
    }
}

/// A cache of partial listings, shared by all sessions with equal rights.
struct PartialListings {
    private var cached: [(rights: Rights, listing: TweakListing)] = []
    /// Beyond this, the oldest listing is evicted.
    private static let capacity = 16

    func find(_ rights: Rights) -> TweakListing? { cached.last { $0.rights == rights }?.listing }

    mutating func insert(_ listing: TweakListing, for rights: Rights) {
        cached.removeAll { $0.rights == rights }
        if cached.count >= Self.capacity { cached.removeFirst() }
        cached.append((rights, listing))
    }
}

extension TweakRegistry {
    /// The registered tweaks visible with certain rights; filtered outside the lock.
    package func listing(seenWith rights: Rights) -> TweakListing {
        if rights.isWhole(.read) { return listing() }
        let cache = state.withLock { $0.partialListings }
        if let listing = cache.find(rights) { return listing }
        let listing = TweakListing(listing(), seenWith: rights)
        state.withLock { state in
            if state.generation == listing.generation { state.partialListings.insert(listing, for: rights) }
        }
        return listing
    }
}
