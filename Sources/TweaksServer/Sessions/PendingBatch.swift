// The changes that a session collects between begin and commit.

import Tweaks

/// An open batch.
struct PendingBatch {
    /// The commit is refused if one of its tweaks changed after this.
    let revision: UInt64?
    private(set) var changes = TweakBatch()
    /// The tweaks that are named, in order.
    private(set) var nodes: [TweakNode] = []
    /// The first error; `commit` answers it and changes nothing.
    private(set) var failure: TweakError?
    /// For each tweak what was asked since its last absolute change, so that a `+=` is judged on top of that.
    private var byTweak: [TweakPath: [TweakBatch.Change]] = [:]

    init(revision: UInt64?) { self.revision = revision }

    /// Judges a change now and keeps it for the commit.
    mutating func append(
        _ node: TweakNode, _ change: TweakBatch.Change, registry: TweakRegistry, limit: Int
    ) throws(TweakError) {
        if changes.count >= limit {
            throw TweakError(.tooMany, "a batch holds at most \(limit) changes; commit, then begin again")
        }
        var history = byTweak[node.path] ?? []
        switch change {
        case .set, .reset: history = [change]
        case .add, .toggle: history.append(change)
        }
        var trial = TweakBatch()
        for step in history { trial.append(node, step) }
        _ = try registry.forecast(trial)
        // Judged again at the commit, when the values beneath a `+=` may be others.
        byTweak[node.path] = history.count > 64 ? history.suffix(64) : history
        changes.append(node, change)
        nodes.append(node)
    }

    mutating func fail(_ error: TweakError) {
        if failure == nil { failure = error }
    }
}
