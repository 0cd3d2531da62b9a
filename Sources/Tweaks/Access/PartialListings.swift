// The listings of those who do not see everything.

import Synchronization

extension TweakListing {
    /// What of another listing is seen.
    convenience init(_ all: TweakListing, seenWith rights: Rights) {
        let groups = all.groups.compactMap { group -> Group? in
            if let isSeen = rights.sees(group) { return isSeen ? group : nil }
            let nodes = group.nodes.filter { rights.sees($0) }
            return nodes.isEmpty ? nil : Group(category: group.category, collection: group.collection, nodes: nodes)
        }
        self.init(groups, generation: all.generation)
    }
}

/// The listings of those who do not see everything, made once for all who see the same.
struct PartialListings {
    private var known: [(rights: Rights, listing: TweakListing)] = []
    /// Who comes with yet other rights has the oldest one's made anew when it is asked for again.
    private static let most = 16

    func find(_ rights: Rights) -> TweakListing? { known.last { $0.rights == rights }?.listing }

    mutating func insert(_ listing: TweakListing, for rights: Rights) {
        known.removeAll { $0.rights == rights }
        if known.count >= Self.most { known.removeFirst() }
        known.append((rights, listing))
    }
}

extension TweakRegistry {
    /// What is registered now and seen with certain rights; sorted out outside the lock.
    package func listing(seenWith rights: Rights) -> TweakListing {
        if rights.isWhole(.read) { return listing() }
        let known = state.withLock { $0.partialListings }
        if let listing = known.find(rights) { return listing }
        let listing = TweakListing(listing(), seenWith: rights)
        state.withLock { state in
            if state.generation == listing.generation { state.partialListings.insert(listing, for: rights) }
        }
        return listing
    }
}
