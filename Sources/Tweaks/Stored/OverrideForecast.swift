// What a batch would make of the stored overrides, for a disk that is asked first.

import Synchronization

/// The overrides that a batch leads to.
package struct OverrideForecast: Sendable {
    /// By path: the override, or nil for none. Without those that are so already.
    package let changes: [TweakPath: StoredEntry?]
    /// What those overrides are before it.
    private let before: [TweakPath: StoredEntry]

    fileprivate init(changes: [TweakPath: StoredEntry?], before: [TweakPath: StoredEntry]) {
        self.changes = changes
        self.before = before
    }

    /// Whether nobody has set one of these tweaks between two forecasts.
    package func hasSameStart(as other: OverrideForecast) -> Bool { before == other.before }

    /// Whether two forecasts of one batch come to the same values.
    package func agrees(with other: OverrideForecast) -> Bool {
        changes.count == other.changes.count
            && changes.allSatisfy { path, entry in
                guard let counterpart = other.changes[path] else { return false }
                return counterpart?.content == entry?.content
            }
    }
}

extension TweakRegistry {
    /// What a batch would make of the stored overrides, without doing it.
    /// - Throws: What `commit` would.
    package func overrides(after batch: TweakBatch, origin: TweakOrigin) throws(TweakError) -> OverrideForecast {
        let steps = try plan(batch, policy: nil)
        if let node = steps.first?.node, isFrozen { throw node.frozen }
        let time = currentTime
        var changes: [TweakPath: StoredEntry?] = [:]
        var before: [TweakPath: StoredEntry] = [:]
        state.withLock { state in
            for step in steps where state.holds(step.node) {
                let now = state.storedOverride(step.node)
                let wanted = step.prepared.map { prepared in
                    StoredEntry(
                        path: step.node.path, content: .value(prepared.value), origin: origin, time: time,
                        covered: state.beneath(step.node)?.value)
                }
                if now?.content == wanted?.content { continue }
                changes[step.node.path] = .some(wanted)
                before[step.node.path] = now
            }
        }
        return OverrideForecast(changes: changes, before: before)
    }
}
