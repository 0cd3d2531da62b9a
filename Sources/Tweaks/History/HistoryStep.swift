// What taking back a commit, or making it again, comes to: a batch like any other.

import Synchronization

/// The way back, or forward again, as changes to be committed.
package struct HistoryStep: Sendable {
    /// Which way.
    package enum Direction: Sendable { case undo, redo }

    /// The commit it is about.
    package let entry: TweakHistoryEntry
    package let batch: TweakBatch
    package let nodes: [TweakNode]
    package let kind: CommitKind
    /// The revision at which this was found out; what changes after it is a conflict.
    package let revision: UInt64
}

extension TweakRegistry {
    /// Finds out what undo or redo would do now.
    /// - Throws: `conflict` when there is nothing to do, or it would overwrite something else.
    package func historyStep(
        _ direction: HistoryStep.Direction, force isForced: Bool
    ) throws(TweakError) -> HistoryStep {
        let time = currentTime
        let (record, revision, problem) = state.withLock { state in
            let record = direction == .undo ? state.history.undoable(time) : state.history.redoable
            let problem = record.flatMap { isForced ? nil : state.conflict($0, direction, at: time) }
            return (record, state.revision, problem)
        }
        guard let record else {
            let word = direction == .undo ? "undo" : "redo"
            throw TweakError(.conflict, "there is nothing to \(word); history lists the last commits")
        }
        if let problem { throw problem }
        return step(record, direction, revision)
    }

    private func step(
        _ record: History.Record, _ direction: HistoryStep.Direction, _ revision: UInt64
    ) -> HistoryStep {
        var batch = TweakBatch()
        var nodes: [TweakNode] = []
        // A secret's value is not remembered, and who is gone cannot be set; only force leads here with these.
        for part in record.parts where !part.node.isSecret && state.withLock({ $0.holds(part.node) }) {
            batch.append(part.node, .restore(direction == .undo ? part.before : part.after))
            nodes.append(part.node)
        }
        return HistoryStep(
            entry: entry(record), batch: batch, nodes: nodes,
            kind: direction == .undo ? .undo(record.number) : .redo(record.number), revision: revision)
    }
}

extension RegistryState {
    /// Why a commit cannot be taken back or made again without overwriting something else.
    fileprivate func conflict(
        _ record: History.Record, _ direction: HistoryStep.Direction, at time: ContinuousClock.Instant
    ) -> TweakError? {
        for part in record.parts {
            let path = part.node.path
            if part.node.isSecret {
                return TweakError(
                    .conflict, "\(path.token) is a secret, whose earlier value is not remembered; set it", path: path)
            }
            guard holds(part.node) else {
                return TweakError(.conflict, "\(path.token) is no longer registered", path: path)
            }
            let expected = direction == .undo ? part.after : part.before
            let now = overlays[part.node.slot].setLayers
            if now.agrees(with: expected, at: time) { continue }
            let who = (now.temporary ?? now.override)?.origin.description ?? "a reset or the config file"
            return TweakError(
                .conflict,
                "\(path.token) has changed since, in revision \(overlays[part.node.slot].changedAt) by \(who); "
                    + "look at history, or force it", path: path)
        }
        return nil
    }

    /// Whether a commit that goes back or forward is still the one that is due.
    func isDue(_ kind: CommitKind, at time: ContinuousClock.Instant) -> Bool {
        switch kind {
        case .undo(let number): history.undoable(time)?.number == number
        case .redo(let number): history.redoable?.number == number
        case .change, .reload, .expiry: true
        }
    }
}
