// The tweaks of a registry in the order of all listings.

import Synchronization

/// A category and its collections.
public struct TweakCategory: Sendable {
    /// Its name, the first part of its tweaks' paths.
    public let name: String
    /// Its collections, by name.
    public let collections: [TweakCollection]
}

/// A collection and its tweaks.
public struct TweakCollection: Sendable {
    /// Its name, the second part of its tweaks' paths.
    public let name: String
    /// Its tweaks and actions, in the order of their declaration.
    public let tweaks: [AnyTweak]
}

/// All nodes, sorted by category, then collection (bytewise), then order of declaration. Immutable, shared, made once
/// for each state of the registry.
package final class TweakListing: Sendable {
    /// A run of nodes with the same category and collection.
    package struct Group: Sendable {
        package let category: String
        package let collection: String
        package let nodes: [TweakNode]
    }

    package let groups: [Group]
    /// All nodes in order.
    package let nodes: [TweakNode]
    package var count: Int { nodes.count }

    init(_ nodes: [TweakNode?]) {
        // By bytes: as strings, canonically equivalent names would be one.
        var byGroup: [[UInt8]: [TweakNode]] = [:]
        for case let node? in nodes { byGroup[Array(node.path.groupBytes), default: []].append(node) }
        groups = byGroup.values.map { nodes in
            let path = nodes[0].path
            return Group(
                category: path.category, collection: path.collection,
                nodes: nodes.sorted { $0.sequence < $1.sequence })
        }
        .sorted { left, right in
            if !left.category.utf8.elementsEqual(right.category.utf8) {
                return left.category.utf8.lexicographicallyPrecedes(right.category.utf8)
            }
            return left.collection.utf8.lexicographicallyPrecedes(right.collection.utf8)
        }
        self.nodes = groups.flatMap(\.nodes)
    }
}

extension TweakRegistry {
    /// All categories by name, each with its collections and tweaks.
    public var categories: [TweakCategory] {
        var categories: [TweakCategory] = []
        var collections: [TweakCollection] = []
        let groups = listing().groups
        for (position, group) in groups.enumerated() {
            let tweaks = group.nodes.map { AnyTweak(node: $0, registry: self) }
            collections.append(TweakCollection(name: group.collection, tweaks: tweaks))
            let next = position + 1 < groups.count ? groups[position + 1].category : nil
            if next?.utf8.elementsEqual(group.category.utf8) != true {
                categories.append(TweakCategory(name: group.category, collections: collections))
                collections = []
            }
        }
        return categories
    }

    /// The listing of what is registered now; sorted outside the lock.
    package func listing() -> TweakListing {
        let (cached, nodes, generation) = state.withLock { ($0.listing, $0.nodes, $0.generation) }
        if let cached { return cached }
        let listing = TweakListing(nodes)
        state.withLock { if $0.generation == generation { $0.listing = listing } }
        return listing
    }
}
