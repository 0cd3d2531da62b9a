// Changes that wait for a slow reader: each one while there are few, the newest of each tweak when there are many.

/// A change of one tweak, as feeds carry it.
package struct FeedChange: Sendable {
    package let node: TweakNode
    /// The value before; where changes were folded, before the first of them.
    package var old: TweakValue
    package let new: TweakValue
    package let origin: TweakOrigin
    package let revision: UInt64
    /// Where the new value comes from.
    package let layer: TweakLayer
    /// How many earlier changes of this tweak were folded into this one.
    package var folded = 0

    package init(
        node: TweakNode, old: TweakValue, new: TweakValue, origin: TweakOrigin, revision: UInt64,
        layer: TweakLayer = .override
    ) {
        self.node = node
        self.old = old
        self.new = new
        self.origin = origin
        self.revision = revision
        self.layer = layer
    }
}

/// A queue of changes that never holds more than a threshold plus one change for each tweak.
package struct FoldingQueue: Sendable {
    private var changes: [FeedChange?] = []
    private var head = 0
    /// Where each tweak's newest change stands.
    private var positions: [Int: Int] = [:]
    private var live = 0
    private let threshold: Int
    /// The approximate size of the changes in memory, in bytes.
    package private(set) var heldBytes = 0

    /// - Parameter threshold: From how many waiting changes on a tweak's earlier change is folded into its newest.
    package init(threshold: Int) { self.threshold = threshold }

    package var isEmpty: Bool { live == 0 }
    package var count: Int { live }

    /// The change that is taken next.
    package var first: FeedChange? {
        changes[head...].lazy.compactMap { $0 }.first
    }

    /// Adds the newest change.
    /// - Parameter threshold: Instead of the queue's own.
    package mutating func append(_ change: FeedChange, threshold: Int? = nil) {
        var change = change
        if live >= threshold ?? self.threshold { fold(&change) }
        positions[change.node.slot] = changes.count
        changes.append(change)
        live += 1
        heldBytes += change.heldBytes
        if changes.count > 2 * live + 64 { compact() }
    }

    // A tweak that was removed may have left its slot to another one: only the same node folds.
    private mutating func fold(_ change: inout FeedChange) {
        guard let position = positions[change.node.slot], let earlier = changes[position],
            earlier.node === change.node
        else { return }
        change.old = earlier.old
        change.folded += earlier.folded + 1
        heldBytes -= earlier.heldBytes
        changes[position] = nil
        live -= 1
    }

    /// Takes the oldest change.
    package mutating func popFirst() -> FeedChange? {
        while head < changes.count {
            defer { head += 1 }
            guard let change = changes[head] else { continue }
            changes[head] = nil
            if positions[change.node.slot] == head { positions[change.node.slot] = nil }
            live -= 1
            heldBytes -= change.heldBytes
            if live == 0 { removeAll() }
            return change
        }
        return nil
    }

    private mutating func removeAll() {
        changes.removeAll(keepingCapacity: changes.count <= 1_024)
        positions.removeAll(keepingCapacity: changes.count <= 1_024)
        head = -1  // `popFirst` adds one.
    }

    private mutating func compact() {
        changes = changes.filter { $0 != nil }
        head = 0
        positions.removeAll(keepingCapacity: true)
        for (position, change) in changes.enumerated() {
            if let change { positions[change.node.slot] = position }
        }
    }
}

extension FeedChange {
    fileprivate var heldBytes: Int { 256 + (new.textBytes ?? 0) }
}
