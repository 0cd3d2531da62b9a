// Resolves patterns to the tweaks that they match.

extension TweakView {
    /// The nodes that any of several patterns matches, in listing order, without duplicates. A registered path matches
    /// only its own tweak.
    /// - Throws: `unknown-tweak` when a pattern matches nothing, except for `*`.
    package func resolve(_ texts: [String]) throws(TweakError) -> [TweakNode] {
        var selection = try select(texts)
        _ = selection.visit(.max)
        return try nodes(of: selection)
    }

    /// The nodes that a pattern matches.
    package func resolve(_ text: String) throws(TweakError) -> [TweakNode] { try resolve([text]) }

    /// The nodes that a pattern matches; nil if it takes more than this number of visits to find out.
    package func resolve(_ text: String, visiting count: Int) throws(TweakError) -> [TweakNode]? {
        var selection = try select([text])
        return selection.visit(count) ? try nodes(of: selection) : nil
    }

    /// Prepares to resolve patterns.
    /// - Throws: `unknown-tweak` for a text that is not a pattern.
    package func select(_ texts: [String]) throws(TweakError) -> TweakSelection {
        // The complete listing is cached, so no session waits for it.
        if texts.count == 1 {
            if let tweak = self[texts[0]] { return .nodes([tweak.node]) }
            if texts[0] == "*" { return .nodes(listing.nodes) }
        }
        var single = Set<ObjectIdentifier>()
        var patterns: [TweakPattern] = []
        for text in texts {
            let text = TweakPattern.trimmed(text)
            if let tweak = self[text] {
                single.insert(ObjectIdentifier(tweak.node))
            } else if let pattern = TweakPattern(text), !pattern.isPath {
                patterns.append(pattern)
            } else {
                throw unknown(text)
            }
        }
        return TweakSelection(listing.groups, patterns, single)
    }

    /// The nodes of a selection that has visited all.
    /// - Throws: `unknown-tweak` when a pattern has matched nothing.
    package func nodes(of selection: TweakSelection) throws(TweakError) -> [TweakNode] {
        if let pattern = selection.unmatched.first(where: { $0.text != "*" }) { throw unknown(pattern.text) }
        return selection.nodes
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
        var selection = TweakSelection(groups, patterns, single)
        _ = selection.visit(.max)
        return (selection.nodes, selection.unmatched)
    }
}

/// The nodes that patterns match, collected by group: most patterns can be excluded for a whole group. A long listing can
/// be visited in parts.
package struct TweakSelection {
    private let groups: [TweakListing.Group]
    private let patterns: [TweakPattern]
    private let single: Set<ObjectIdentifier>
    private var hasMatched: [Bool]
    package private(set) var nodes: [TweakNode] = []
    /// The next group and, in it, the next node.
    private var group = 0
    private var node = 0
    /// Whether the group is added as a whole.
    private var addsAll = false
    /// The patterns that match only some of the group.
    private var open: [(position: Int, progress: TweakPattern.Progress)] = []

    fileprivate init(
        _ groups: [TweakListing.Group], _ patterns: [TweakPattern], _ single: Set<ObjectIdentifier>
    ) {
        self.groups = groups
        self.patterns = patterns
        self.single = single
        hasMatched = patterns.map { _ in false }
    }

    /// These nodes, without a visit.
    package static func nodes(_ nodes: [TweakNode]) -> TweakSelection {
        var selection = TweakSelection([], [], [])
        selection.nodes = nodes
        return selection
    }

    package var unmatched: [TweakPattern] { patterns.indices.filter { !hasMatched[$0] }.map { patterns[$0] } }

    /// Visits some more nodes or groups.
    /// - Returns: Whether all were visited.
    package mutating func visit(_ count: Int) -> Bool {
        var left = count
        while group < groups.count, left > 0 {
            if node == 0 { begin(groups[group]) }
            let all = groups[group].nodes
            let isDone = open.isEmpty && (addsAll || single.isEmpty)
            let end = isDone ? all.count : node + min(left, all.count - node)
            if !isDone { for node in all[node..<end] where matches(node, open) && !addsAll { nodes.append(node) } }
            left -= isDone ? 1 : max(end - node, 1)
            node = end
            if node == all.count { (group, node) = (group + 1, 0) }
        }
        return group == groups.count
    }

    private mutating func begin(_ group: TweakListing.Group) {
        addsAll = false
        open = []
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
