// Counts the memory that clients can make a registry hold: texts that were set, and the history.

import Synchronization

extension TweakRegistry {
    /// How many bytes the texts have that people have set, and how many the history takes, roughly.
    package var heldBytes: (values: Int, history: Int) {
        state.withLock { ($0.textBytes, $0.history.heldBytes) }
    }

    /// Has the history forget its oldest commits where all of them take more than this; never more than it does anyway.
    package func limitHistory(bytes: Int) { state.withLock { $0.history.limit(bytes: bytes) } }

    /// How many more bytes the texts would have after a batch.
    package func textGrowth(_ batch: TweakBatch) -> Int {
        state.withLock { state in
            batch.entries.reduce(0) { sum, entry in
                guard let bytes = entry.change.textBytes else { return sum }
                guard case .node(let node) = entry.target, state.holds(node) else { return sum + bytes }
                if node.isSecret { return sum }
                let layer = entry.lifetime == nil ? TweakLayer.override : .temporaryOverride
                return sum + bytes - (state.overlays[node.slot][layer]?.prepared.value.textBytes ?? 0)
            }
        }
    }
}

extension TweakBatch {
    /// How many bytes its texts have.
    package var textBytes: Int { entries.reduce(0) { $0 + ($1.change.textBytes ?? 0) } }
}

extension TweakBatch.Change {
    /// Nil where it sets no text.
    package var textBytes: Int? {
        switch self {
        case .set(let value): value.textBytes
        case .judged(let prepared, _): prepared.value.textBytes
        case .restore(let layers):
            [layers.override, layers.temporary].reduce(0) { $0 + ($1?.prepared.value.textBytes ?? 0) }
        case .add, .subtract, .toggle, .reset, .keep: nil
        }
    }
}

extension TweakValue {
    /// How many bytes it has as a text, or as a list; nil for what always takes the same place.
    package var textBytes: Int? {
        if case .string(let text) = self { return text.utf8.count }
        // Apart: this is asked several times for each commit, and the answer is nearly always nil.
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
    /// Whether values of this kind may be texts or lists, which take more than their place.
    var mayBeLong: Bool { self == .string || self == .list || self == .optional }
}

extension RegistryState {
    /// How many bytes the texts have that were set of a tweak. Those of a secret are not counted: the sum is shown, and
    /// would tell how long they are.
    func heldText(_ node: TweakNode) -> Int { node.isSecret ? 0 : overlays[node.slot].textBytes }
}

extension Overlays {
    /// How many bytes the texts have that people have set.
    fileprivate var textBytes: Int {
        entries.reduce(0) { $1.layer >= .override ? $0 + ($1.prepared.value.textBytes ?? 0) : $0 }
    }
}

extension TweakSnapshot {
    /// Its largest size in memory, in bytes, once the registry has changed and shares nothing with it.
    package var heldBytes: Int {
        textBytes + nodes.count * (MemoryLayout<TweakNode?>.stride + MemoryLayout<Overlays>.stride)
    }
}

extension TweakHistoryEntry {
    /// Its approximate size in memory, in bytes, once the registry has forgotten it.
    package var heldBytes: Int {
        changes.reduce(256) { $0 + 256 + ($1.old?.textBytes ?? 0) + ($1.new?.textBytes ?? 0) }
    }
}

extension PresetSwap {
    /// How many bytes the texts have that it would put back.
    package var heldBytes: Int {
        parts.reduce(0) { $0 + 256 + (TweakBatch.Change.restore($1.before).textBytes ?? 0) }
    }
}
