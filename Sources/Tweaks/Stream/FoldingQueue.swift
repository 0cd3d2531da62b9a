// Queues changes for one slow reader; above a threshold it keeps only the newest change of each tweak.

/// A change of one tweak, in the form for value watchers.
package struct WatchedChange: Sendable {
    package let node: TweakNode
    /// The value before; if changes were folded, before the first of them.
    package var old: TweakValue
    package let new: TweakValue
    package let origin: TweakOrigin
    package let revision: UInt64
    /// The sequence of its record.
    package let sequence: UInt64
    /// The layer of the new value.
    package let layer: LayerIndex
    /// Whether value watchers are notified; if false, only a layer has changed.
    package var isReported: Bool
    /// The number of earlier changes of this tweak that were folded into this one.
    package var folded = 0

    package init(
        node: TweakNode, old: TweakValue, new: TweakValue, origin: TweakOrigin, revision: UInt64,
        sequence: UInt64 = 0, layer: LayerIndex = .override, isReported: Bool = true
    ) {
        self.node = node
        self.old = old
        self.new = new
        self.origin = origin
        self.revision = revision
        self.sequence = sequence
        self.layer = layer
        self.isReported = isReported
    }

    /// Creates a change from a part; nil if the part has no registered tweak or no values.
    package init?(_ part: CommitPart, of record: CommitRecord) {
        guard let node = part.subject.node, let old = part.old, let new = part.new else { return nil }
        self.init(
            node: node, old: old, new: new, origin: record.origin, revision: record.revision,
            sequence: record.sequence, layer: part.layer, isReported: part.isReported)
    }
}

/// A queue of changes whose length is bounded by a threshold plus one change for each tweak.
package struct FoldingQueue: Sendable {
    private var changes: [WatchedChange?] = []
    private var head = 0
    /// The index of each tweak's newest change, by slot.
    private var positions: [Int: Int] = [:]
    private var live = 0
    private let threshold: Int
    /// The approximate size of the changes in memory, in bytes.
    package private(set) var memorySize = 0

    /// - Parameter threshold: The number of queued changes from which a tweak's earlier change is folded into its
    ///   newest.
    package init(threshold: Int) { self.threshold = threshold }

    package var isEmpty: Bool { live == 0 }
    package var count: Int { live }

    /// The oldest change.
    package var first: WatchedChange? { head < changes.count ? changes[head] : nil }

    /// Adds the newest change.
    /// - Parameter threshold: Overrides the queue's threshold.
    package mutating func append(_ change: WatchedChange, threshold: Int? = nil) {
        var change = change
        if live >= threshold ?? self.threshold { fold(&change) }
        positions[change.node.slot] = changes.count
        changes.append(change)
        live += 1
        memorySize += change.memorySize
        if changes.count > 2 * live + 64 { compact() }
    }

    // Folds only changes of the same node: the slot of a removed tweak may have been reused.
    private mutating func fold(_ change: inout WatchedChange) {
        guard let position = positions[change.node.slot], let earlier = changes[position],
            earlier.node === change.node
        else { return }
        change.old = earlier.old
        // Layer-only changes are not counted as folded.
        change.folded += earlier.folded + (earlier.isReported && change.isReported ? 1 : 0)
        change.isReported = change.isReported || earlier.isReported
        memorySize -= earlier.memorySize
        changes[position] = nil
        live -= 1
        findHead()
    }

    /// Moves the head to the next change, so that `popFirst` need not search.
    private mutating func findHead() {
        while head < changes.count, changes[head] == nil { head += 1 }
    }

    /// Removes and returns the oldest change.
    package mutating func popFirst() -> WatchedChange? {
        guard head < changes.count, let change = changes[head] else { return nil }
        changes[head] = nil
        if positions[change.node.slot] == head { positions[change.node.slot] = nil }
        live -= 1
        memorySize -= change.memorySize
        if live == 0 { removeAll() } else { findHead() }
        return change
    }

    private mutating func removeAll() {
        let isSmall = changes.count <= 1_024
        changes.removeAll(keepingCapacity: isSmall)
        positions.removeAll(keepingCapacity: isSmall)
        head = 0
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

extension WatchedChange {
    fileprivate var memorySize: Int { 256 + (new.textBytes ?? 0) }
}
