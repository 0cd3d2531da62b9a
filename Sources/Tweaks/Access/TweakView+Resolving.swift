// Resolves patterns to the tweaks that they match.

extension TweakView {
    /// The nodes that a pattern matches, in listing order. A registered path matches only its own tweak.
    /// - Throws: `unknown-tweak` when nothing matches, except for `*`.
    package func resolve(_ text: String) throws(TweakError) -> [TweakNode] {
        if let tweak = self[text] { return [tweak.node] }
        // The complete listing is cached, so no session waits for it.
        if text == "*" { return listing.nodes }
        guard let pattern = TweakPattern(text) else { throw unknown(text) }
        let nodes = listing.nodes(matching: [pattern]).nodes
        if nodes.isEmpty { throw unknown(text) }
        return nodes
    }

    /// The nodes that any of several patterns matches, in listing order, without duplicates.
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
    /// The node with this path, or the nodes that the text matches as a pattern.
    func nodes(named text: String) -> [TweakNode] {
        if let node = nodes.first(where: { $0.path.joined == text }) { return [node] }
        return TweakPattern(text).map { nodes(matching: [$0]).nodes } ?? []
    }

    /// The nodes that match a pattern or are in a set, in order; and the patterns that match nothing.
    package func nodes(
        matching patterns: [TweakPattern], and single: Set<ObjectIdentifier> = []
    ) -> (nodes: [TweakNode], unmatched: [TweakPattern]) {
        var selection = Selection(patterns: patterns, single: single)
        for group in groups { selection.add(from: group) }
        return (selection.nodes, selection.unmatched)
    }
}

/// The nodes that patterns match, collected by group: most patterns can be excluded for a whole group.
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

    mutating func add(from group: TweakListing.Group) {
        var addsAll = false
        var open: [(position: Int, progress: TweakPattern.Progress)] = []
        for (position, pattern) in patterns.enumerated() {
            let progress = pattern.progress(in: group)
            if pattern.matchesAll(progress) {
                addsAll = true
                hasMatched[position] = true
            } else if !progress.hasFailed {
                open.append((position, progress))
            }
        }
        if addsAll {
            nodes += group.nodes
            // All nodes are added; what remains is which other patterns match here.
            open.removeAll { hasMatched[$0.position] }
        }
        if open.isEmpty, addsAll || single.isEmpty { return }
        for node in group.nodes where matches(node, open) && !addsAll { nodes.append(node) }
    }

    private mutating func matches(
        _ node: TweakNode, _ open: [(position: Int, progress: TweakPattern.Progress)]
    ) -> Bool {
        var isMatch = single.contains(ObjectIdentifier(node))
        let start = node.path.groupBytes.count + 1
        for (position, progress) in open where !isMatch || !hasMatched[position] {
            guard patterns[position].matches(node.path, from: progress, nameAt: start) else { continue }
            hasMatched[position] = true
            isMatch = true
        }
        return isMatch
    }
}
