// From patterns to the tweaks that they name.

extension TweakView {
    /// The nodes that a pattern names, in listing order. A text that is a registered path means that tweak alone.
    /// - Throws: `unknown-tweak` when nothing matches, except for `*`.
    package func resolve(_ text: String) throws(TweakError) -> [TweakNode] {
        if let tweak = self[text] { return [tweak.node] }
        // Everything is a list that is there already: no session has to wait while it is made.
        if text == "*" { return listing.nodes }
        guard let pattern = TweakPattern(text) else { throw unknown(text) }
        let nodes = listing.nodes(matching: [pattern]).nodes
        if nodes.isEmpty { throw unknown(text) }
        return nodes
    }

    /// The nodes that several patterns name, in listing order, each once.
    package func resolve(_ texts: [String]) throws(TweakError) -> [TweakNode] {
        if texts.count == 1 { return try resolve(texts[0]) }
        var single = Set<ObjectIdentifier>()
        var patterns: [TweakPattern] = []
        for text in texts {
            if let tweak = self[text] {
                single.insert(ObjectIdentifier(tweak.node))
            } else if let pattern = TweakPattern(text) {
                patterns.append(pattern)
            } else {
                throw unknown(text)
            }
        }
        let (nodes, unmatched) = listing.nodes(matching: patterns, and: single)
        if let pattern = unmatched.first(where: { $0.text != "*" }) { throw unknown(pattern.text) }
        return nodes
    }
}

extension TweakListing {
    /// The nodes that a text names: the one that has it as its path, or those that it means as a pattern.
    func nodes(named text: String) -> [TweakNode] {
        if let node = nodes.first(where: { $0.path.joined == text }) { return [node] }
        return TweakPattern(text).map { nodes(matching: [$0]).nodes } ?? []
    }

    /// The nodes that any of the patterns names, or that are in a set, in order; and the patterns that name nothing.
    package func nodes(
        matching patterns: [TweakPattern], and single: Set<ObjectIdentifier> = []
    ) -> (nodes: [TweakNode], unmatched: [TweakPattern]) {
        var selection = Selection(patterns: patterns, single: single)
        for group in groups { selection.take(from: group) }
        return (selection.nodes, selection.unmatched)
    }
}

/// What patterns name, found group by group: most patterns have nothing to do with most groups.
private struct Selection {
    private let patterns: [TweakPattern]
    private let single: Set<ObjectIdentifier>
    private var hasMatched: [Bool]
    private(set) var nodes: [TweakNode] = []

    init(patterns: [TweakPattern], single: Set<ObjectIdentifier>) {
        self.patterns = patterns
        self.single = single
        hasMatched = patterns.map { _ in false }
    }

    var unmatched: [TweakPattern] { patterns.indices.filter { !hasMatched[$0] }.map { patterns[$0] } }

    mutating func take(from group: TweakListing.Group) {
        var takesAll = false
        var open: [(position: Int, progress: TweakPattern.Progress)] = []
        for (position, pattern) in patterns.enumerated() {
            let progress = pattern.progress(in: group)
            if pattern.takesAll(progress) {
                takesAll = true
                hasMatched[position] = true
            } else if !progress.hasFailed {
                open.append((position, progress))
            }
        }
        if takesAll {
            nodes += group.nodes
            // Nothing is left to take, only to be known: which of the others name something here.
            open.removeAll { hasMatched[$0.position] }
        }
        if open.isEmpty, takesAll || single.isEmpty { return }
        for node in group.nodes where isNamed(node, open) && !takesAll { nodes.append(node) }
    }

    private mutating func isNamed(
        _ node: TweakNode, _ open: [(position: Int, progress: TweakPattern.Progress)]
    ) -> Bool {
        var isNamed = single.contains(ObjectIdentifier(node))
        let start = node.path.groupBytes.count + 1
        for (position, progress) in open where !isNamed || !hasMatched[position] {
            guard patterns[position].matches(node.path, from: progress, nameAt: start) else { continue }
            hasMatched[position] = true
            isNamed = true
        }
        return isNamed
    }
}
