// Builds and caches the listings of sessions that can read only part of the tweaks.

import Synchronization

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
