// Counts the memory that clients can make a registry use: texts that were set, and the history.

import Synchronization

extension TweakRegistry {
    /// The size in bytes of the texts that were set at run time or are in a preview, and the approximate size of the
    /// history.
    package var memorySize: (values: Int, history: Int) {
        state.withLock { ($0.textBytes + ($0.preview?.memorySize ?? 0), $0.history.memorySize) }
    }

    /// Whether the commits of the history have more changes than this, all together.
    package func hasHistory(ofMoreThan count: Int) -> Bool { state.withLock { $0.history.hasChanges(moreThan: count) } }

    /// Lowers the memory limit of the history, in bytes; above it the oldest commits are dropped. A limit above the
    /// default one has no effect.
    package func limitHistory(bytes: Int) { state.withLock { $0.history.limit(bytes: bytes) } }

    /// By how many bytes a batch would increase the size of the texts.
    package func textGrowth(_ batch: TweakBatch) -> Int {
        state.withLock { state in
            batch.entries.reduce(0) { sum, entry in
                guard let bytes = entry.change.textBytes else { return sum }
                guard case .node(let node) = entry.target, state.holds(node) else { return sum + bytes }
                if node.isSecret { return sum }
                let layer = entry.lifetime == nil ? LayerIndex.override : .temporaryOverride
                return sum + bytes - (state.overlays[node.slot][layer]?.prepared.value.textBytes ?? 0)
            }
        }
    }
}

extension TweakBatch {
    /// The size of its texts in bytes.
    package var textBytes: Int { entries.reduce(0) { $0 + ($1.change.textBytes ?? 0) } }
}

extension TweakBatch.Change {
    /// The size of its texts in bytes; nil if it sets none.
    package var textBytes: Int? {
        switch self {
        case .set(let value): value.textBytes
        case .validated(let prepared, _): prepared.value.textBytes
        case .restore(let values):
            (values.override?.textBytes ?? 0) + (values.temporary?.value.textBytes ?? 0)
        case .add, .subtract, .toggle, .reset, .keep: nil
        }
    }
}

extension TweakValue {
    /// The size in bytes of a text or list; nil for values of a fixed size.
    package var textBytes: Int? {
        if case .string(let text) = self { return text.utf8.count }
        // Not inlined: this runs several times for each commit and is nearly always nil.
        if case .list = self { return listBytes }
        return nil
    }

    @inline(never)
    private var listBytes: Int {
        guard case .list(let values) = self else { return 0 }
        return values.reduce(0) { $0 + MemoryLayout<TweakValue>.stride + ($1.textBytes ?? 0) }
    }
}

extension TweakKind {
    /// Whether values of this kind may be texts or lists, which have a variable size.
    var mayBeLong: Bool { self == .string || self == .list || self == .optional }
}

extension RegistryState {
    /// The size in bytes of a tweak's override texts. Secrets count as 0: clients see the sum, which would reveal their
    /// length.
    func overrideTextBytes(_ node: TweakNode) -> Int { node.isSecret ? 0 : overlays[node.slot].textBytes }
}

extension Overlays {
    /// The size in bytes of the override texts.
    fileprivate var textBytes: Int {
        entries.reduce(0) { $1.layer.isOverride ? $0 + ($1.prepared.value.textBytes ?? 0) : $0 }
    }
}

extension TweakSnapshot {
    /// Its maximum size in memory, in bytes, when the registry shares no storage with it any more.
    package var memorySize: Int {
        textBytes + nodes.count * (MemoryLayout<TweakNode?>.stride + MemoryLayout<Overlays>.stride)
    }
}

extension TweakHistoryEntry {
    /// Its approximate size in memory, in bytes, when the registry has dropped it.
    package var memorySize: Int {
        changes.reduce(256) { $0 + 256 + ($1.old?.textBytes ?? 0) + ($1.new?.textBytes ?? 0) }
    }
}

extension TweakOutcome {
    /// Its approximate size in memory, in bytes.
    package var memorySize: Int {
        MemoryLayout<TweakOutcome>.stride + (old.textBytes ?? 0) + (new.textBytes ?? 0)
    }
}
