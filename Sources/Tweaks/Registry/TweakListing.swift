// Sorts the tweaks of a registry into categories and collections, in the order of all listings.

/// A category and its collections.
public struct TweakCategory: TweakHandle {
    /// Its name, the first part of its tweaks' paths.
    public let name: String
    /// Its collections, by name.
    public let collections: [TweakCollection]

    /// All its tweaks and actions.
    public var tweaks: [AnyTweak] { collections.flatMap(\.tweaks) }

    /// Removes the overrides of all its tweaks in one commit: the next layer applies. Skips actions and figures.
    /// - Throws: ``TweakError`` if one of them was removed, or the process is frozen. Then nothing has changed.
    @discardableResult
    public func reset() throws(TweakError) -> TweakCommitResult {
        // Never empty: only categories and collections with tweaks are listed.
        try tweaks[0].registry.reset(self)
    }
}

/// A collection and its tweaks.
public struct TweakCollection: TweakHandle {
    /// Its name, the second part of its tweaks' paths.
    public let name: String
    /// Its tweaks and actions, in the order of their declaration.
    public let tweaks: [AnyTweak]

    /// Removes the overrides of all its tweaks in one commit: the next layer applies. Skips actions and figures.
    /// - Throws: ``TweakError`` if one of them was removed, or the process is frozen. Then nothing has changed.
    @discardableResult
    public func reset() throws(TweakError) -> TweakCommitResult {
        // Never empty: only categories and collections with tweaks are listed.
        try tweaks[0].registry.reset(self)
    }
}

/// All nodes, sorted by category, then collection (bytewise, numbers by value), then order of declaration. Immutable and shared; created
/// once for each generation of the registry.
package final class TweakListing: Sendable {
    /// The nodes with the same category and collection.
    package struct Group: Sendable {
        package let category: String
        package let collection: String
        package let nodes: [TweakNode]

        /// Whether it comes before the group of these names, in their natural order.
        func precedes(_ category: String, _ collection: String) -> Bool {
            if !self.category.utf8.elementsEqual(category.utf8) {
                return self.category.naturallyPrecedes(category)
            }
            return self.collection.naturallyPrecedes(collection)
        }
    }

    package let groups: [Group]
    /// All nodes in order.
    package let nodes: [TweakNode]
    package var count: Int { nodes.count }
    /// The registry's generation that it lists.
    package let generation: UInt64

    convenience init(_ nodes: [TweakNode?], generation: UInt64) {
        self.init(Self.sortedGroups(nodes), generation: generation)
    }

    /// Creates a listing from an earlier one and the nodes that were registered since: far less work than sorting all.
    convenience init(_ earlier: TweakListing, adding added: [TweakNode], generation: UInt64) {
        var groups: [Group] = []
        groups.reserveCapacity(earlier.groups.count + added.count)
        var rest = earlier.groups[...]
        for addition in Self.sortedGroups(added) {
            let end = rest.endOfFirstPart { $0.precedes(addition.category, addition.collection) }
            groups += rest[..<end]
            rest = rest[end...]
            if let known = rest.first, !addition.precedes(known.category, known.collection) {
                rest.removeFirst()
                groups.append(
                    Group(
                        category: known.category, collection: known.collection, nodes: known.nodes + addition.nodes))
            } else {
                groups.append(addition)
            }
        }
        self.init(groups + rest, generation: generation)
    }

    private static func sortedGroups(_ nodes: [TweakNode?]) -> [Group] {
        grouped(nodes).map { nodes in
            let path = nodes[0].path
            return Group(
                category: path.category, collection: path.collection,
                nodes: nodes.sorted { $0.sequence < $1.sequence })
        }
        .sorted { $0.precedes($1.category, $1.collection) }
    }

    /// Creates a listing from sorted groups.
    init(_ groups: [Group], generation: UInt64) {
        self.groups = groups
        self.generation = generation
        nodes = groups.flatMap(\.nodes)
    }

    /// The nodes of each category and collection, in the order given.
    private static func grouped(_ nodes: [TweakNode?]) -> [[TweakNode]] {
        // Keyed by bytes: string keys would merge canonically equivalent names.
        var positions: [[UInt8]: Int] = [:]
        var members: [[TweakNode]] = []
        var latest: (path: TweakPath, position: Int)?
        for case let node? in nodes {
            // Fast path: the tweaks of a group are mostly declared in sequence; one comparison saves a look-up.
            if let latest, latest.path.hasSameGroup(as: node.path) {
                members[latest.position].append(node)
                continue
            }
            let key = Array(node.path.groupBytes)
            let position = positions[key] ?? members.count
            if position == members.count { members.append([]) }
            positions[key] = position
            members[position].append(node)
            latest = (node.path, position)
        }
        return members
    }

    /// Whether a node comes before another one in listings.
    package static func precedes(_ left: TweakNode, _ right: TweakNode) -> Bool {
        if left.path.groupBytes.elementsEqual(right.path.groupBytes) { return left.sequence < right.sequence }
        return Group(category: left.path.category, collection: left.path.collection, nodes: [])
            .precedes(right.path.category, right.path.collection)
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

    /// All tweaks and actions that a pattern matches, in the order of listings: a path, a category `Content`, a collection
    /// `Content/Text`, parts with wildcards `*/Text/?ize`, or `*` for all. Empty if nothing matches.
    ///
    /// ```swift
    /// let changed = registry.tweaks(matching: "Content").filter(\.isModified)
    /// ```
    public func tweaks(matching pattern: String) -> [AnyTweak] {
        listing().nodes(named: pattern).map { AnyTweak(node: $0, registry: self) }
    }

    /// The listing of all registered tweaks; sorted outside the lock.
    package func listing() -> TweakListing {
        let (cached, earlier, nodes, generation) = state.withLock {
            (
                $0.listing, $0.earlierListing, $0.listing == nil && $0.earlierListing == nil ? $0.nodes : [],
                $0.generation
            )
        }
        if let cached { return cached }
        let listing =
            earlier.map { TweakListing($0.listing, adding: $0.added, generation: generation) }
            ?? TweakListing(nodes, generation: generation)
        state.withLock { if $0.generation == generation { ($0.listing, $0.earlierListing) = (listing, nil) } }
        return listing
    }
}
