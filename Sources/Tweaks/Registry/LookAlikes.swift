// Finds tweak paths that are equal in another Unicode normalization, or that look the same on a screen.

/// The tweaks with non-ASCII paths, indexed by normalized text and by skeleton. Part of a registry's state.
struct LookAlikes: Sendable {
    /// Strings compare by canonical equivalence, as NFC does (Unicode Standard Annex #15).
    private var spellings: [String: TweakNode] = [:]
    private var skeletons: [String: [TweakNode]] = [:]

    var isEmpty: Bool { spellings.isEmpty }

    /// The tweak whose path is this text in any normalization.
    func node(spelled path: String) -> TweakNode? { spellings[path] }

    /// The tweaks whose paths have this skeleton.
    func nodes(looking skeleton: String) -> [TweakNode] { skeletons[skeleton] ?? [] }

    mutating func add(_ node: TweakNode) {
        if node.path.isASCII { return }
        spellings[node.path.joined] = node
        skeletons[node.path.joined.skeleton, default: []].append(node)
    }

    mutating func remove(_ node: TweakNode) {
        if node.path.isASCII { return }
        spellings[node.path.joined] = nil
        skeletons[node.path.joined.skeleton]?.removeAll { $0 === node }
    }
}

extension TweakPath {
    fileprivate var isASCII: Bool { joined.utf8.allSatisfy { $0 < 0x80 } }
}

extension RegistryState {
    /// Another tweak whose path looks like the one of this tweak.
    func lookAlike(of node: TweakNode) -> TweakNode? {
        if lookAlikes.isEmpty { return nil }
        let skeleton = node.path.joined.skeleton
        if let other = lookAlikes.nodes(looking: skeleton).first(where: { $0 !== node }) { return other }
        let plain = skeleton.withBytes { index.find($0, in: nodes) }.flatMap { nodes[$0] }
        return plain === node ? nil : plain
    }
}
