// Changes that wait for a slow reader: each one while there are few, the newest of each tweak when there are many.

/// A change of one tweak, as those see it who watch values.
package struct WatchedChange: Sendable {
    package let node: TweakNode
    /// The value before; where changes were folded, before the first of them.
    package var old: TweakValue
    package let new: TweakValue
    package let origin: TweakOrigin
    package let revision: UInt64
    /// The record that it is of.
    package let sequence: UInt64
    /// Where the new value comes from.
    package let layer: TweakLayer
    /// Whether values are told of it; else only a layer has changed.
    package var isNews: Bool
    /// How many earlier changes of this tweak were folded into this one.
    package var folded = 0

    package init(
        node: TweakNode, old: TweakValue, new: TweakValue, origin: TweakOrigin, revision: UInt64,
        sequence: UInt64 = 0, layer: TweakLayer = .override, isNews: Bool = true
    ) {
        (self.node, self.old, self.new, self.origin, self.revision) = (node, old, new, origin, revision)
        (self.sequence, self.layer, self.isNews) = (sequence, layer, isNews)
    }

    /// Nil for a part that is about no tweak of this run.
    init?(_ part: CommitPart, of record: CommitRecord) {
        guard let node = part.subject.node, let old = part.old, let new = part.new else { return nil }
        self.init(
            node: node, old: old, new: new, origin: record.origin, revision: record.revision,
            sequence: record.sequence, layer: part.layer, isNews: part.isNews)
    }
}

/// A queue of changes that never holds more than a threshold plus one change for each tweak.
package struct FoldingQueue: Sendable {
    private var changes: [WatchedChange?] = []
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
    package var first: WatchedChange? { head < changes.count ? changes[head] : nil }

    /// Adds the newest change.
    /// - Parameter threshold: Instead of the queue's own.
    package mutating func append(_ change: WatchedChange, threshold: Int? = nil) {
        var change = change
        if live >= threshold ?? self.threshold { fold(&change) }
        positions[change.node.slot] = changes.count
        changes.append(change)
        live += 1
        heldBytes += change.heldBytes
        if changes.count > 2 * live + 64 { compact() }
    }

    // A tweak that was removed may have left its slot to another one: only the same node folds.
    private mutating func fold(_ change: inout WatchedChange) {
        guard let position = positions[change.node.slot], let earlier = changes[position],
            earlier.node === change.node
        else { return }
        change.old = earlier.old
        // Only a layer may have changed: then there was nothing to be folded away.
        change.folded += earlier.folded + (earlier.isNews && change.isNews ? 1 : 0)
        change.isNews = change.isNews || earlier.isNews
        heldBytes -= earlier.heldBytes
        changes[position] = nil
        live -= 1
        findHead()
    }

    /// What is taken next stands at the head, so that finding it costs nothing.
    private mutating func findHead() {
        while head < changes.count, changes[head] == nil { head += 1 }
    }

    /// Takes the oldest change.
    package mutating func popFirst() -> WatchedChange? {
        guard head < changes.count, let change = changes[head] else { return nil }
        changes[head] = nil
        if positions[change.node.slot] == head { positions[change.node.slot] = nil }
        live -= 1
        heldBytes -= change.heldBytes
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
    fileprivate var heldBytes: Int { 256 + (new.textBytes ?? 0) }
}
