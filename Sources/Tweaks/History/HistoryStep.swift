// What taking back a commit, or making it again, comes to: a batch like any other.

import Synchronization

/// The way back, or forward again, as changes to be committed.
package struct HistoryStep: Sendable {
    /// Which way.
    package enum Direction: String, Sendable { case undo, redo }

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
    /// - Parameters:
    ///   - owner: Whose own changes it goes through; nil: everybody's.
    ///   - session: Who asks; 0 for the program.
    ///   - rights: Whoever does not see everything goes back through what he sees.
    /// - Throws: `conflict` when there is nothing to do, or it would overwrite something else; `denied` when it is about
    ///   something that he sees and may not change.
    package func historyStep(
        _ direction: HistoryStep.Direction, force isForced: Bool, of owner: TweakOrigin? = nil, session: UInt64 = 0,
        rights: Rights = .all
    ) throws(TweakError) -> HistoryStep {
        let time = currentTime
        let (record, revision, problem) = state.withLock { state in
            let record = state.step(direction, at: time, rights, owner)
            let problem = record.flatMap { record in
                state.denial(record, isForced ? .admin : .write, rights)
                    ?? (isForced ? nil : state.conflict(record, direction, at: time, isNewest: owner == nil))
            }
            return (record, state.revision, problem)
        }
        guard let record else {
            let word = direction == .undo ? "undo" : "redo"
            let what = owner.map { " of \($0)'s own; \(word) alone is for everybody's" } ?? ""
            throw TweakError(.conflict, "there is nothing to \(word)\(what); history lists the last commits")
        }
        if let problem { throw problem }
        let kind =
            direction == .undo
            ? CommitKind.undo(record.number, session: session, isMine: owner != nil)
            : .redo(record.number, session: session, isMine: owner != nil)
        return step(record, direction, revision, kind, at: isForced ? time : nil)
    }

    /// The revision of the commit that undo or redo is about now, whoever made it; that may still be refused. Nil: there is
    /// nothing.
    /// - Parameter rights: As above.
    package func nextHistoryStep(_ direction: HistoryStep.Direction, rights: Rights = .all) -> UInt64? {
        let time = currentTime
        return state.withLock { $0.step(direction, at: time, rights, nil) }?.revision
    }

    /// - Parameter time: When it is forced: what cannot be had any more is left out.
    private func step(
        _ record: History.Record, _ direction: HistoryStep.Direction, _ revision: UInt64, _ kind: CommitKind,
        at time: ContinuousClock.Instant?
    ) -> HistoryStep {
        var batch = TweakBatch()
        var nodes: [TweakNode] = []
        // A secret's value is not remembered, and who is gone cannot be set; only force leads here with these.
        for part in record.parts where !part.subject.isSecret {
            guard let node = state.withLock({ $0.node(part.subject) }), !node.isSecret else { continue }
            let layers = (direction == .undo ? part.before : part.after).layers
            // Nor does a value fit that is of another kind, or beyond a range, of today's definition.
            if let time, (try? node.judge(layers, at: time, nil)) == nil { continue }
            batch.append(node, .restore(layers))
            nodes.append(node)
        }
        return HistoryStep(entry: entry(record), batch: batch, nodes: nodes, kind: kind, revision: revision)
    }
}

extension RegistryState {
    /// The commit that would be taken back now, or made again.
    fileprivate func step(
        _ direction: HistoryStep.Direction, at time: ContinuousClock.Instant, _ rights: Rights, _ owner: TweakOrigin?
    ) -> History.Record? {
        let scope = History.Scope(sees: sight(rights), owner: owner)
        return direction == .undo ? history.undoable(time, scope) : history.redoable(scope)
    }

    /// Which parts somebody sees; nil: all.
    private func sight(_ rights: Rights) -> ((CommitPart) -> Bool)? {
        rights.isWhole(.read) ? nil : { sees($0, with: rights) }
    }

    /// Whether a part of a commit is seen: by the path that it had then, and the one that its tweak has now.
    func sees(_ part: CommitPart, with rights: Rights) -> Bool {
        guard rights.allows(.read, part.subject.path) else { return false }
        if case .path = part.subject, let node = node(part.subject) { return rights.sees(node) }
        return true
    }

    /// Why somebody may not take back a commit that he sees, or make it again.
    fileprivate func denial(_ record: History.Record, _ kind: TweakScope.Kind, _ rights: Rights) -> TweakError? {
        if rights.isWhole(kind) { return nil }
        let paths = record.parts.map { node($0.subject)?.path ?? $0.subject.path }
        return paths.first { !rights.allows(kind, $0) }.map { rights.denied(kind, $0) }
    }

    /// Why a commit cannot be taken back or made again without overwriting something else.
    /// - Parameter isNewest: No other change that stands is later.
    fileprivate func conflict(
        _ record: History.Record, _ direction: HistoryStep.Direction, at time: ContinuousClock.Instant, isNewest: Bool
    ) -> TweakError? {
        for part in record.parts {
            let node = node(part.subject)
            let path = node?.path ?? part.subject.path
            if part.subject.isSecret || node?.isSecret == true {
                return TweakError(
                    .conflict, "\(path.token) is a secret, whose earlier value is not remembered; set it", path: path)
            }
            guard let node else {
                return TweakError(.conflict, "\(path.token) is not registered now; force leaves it out", path: path)
            }
            let expected = direction == .undo ? part.after : part.before
            let now = overlays[node.slot].setLayers
            // The same value may have been set meanwhile, on purpose.
            let later =
                isNewest
                ? nil : history.change(of: part.subject, after: direction == .undo ? record.number : record.undoneAt)
            if later == nil, SetValues(now).agrees(with: expected, at: time) { continue }
            let who = (later?.origin ?? (now.temporary ?? now.override)?.origin)?.description
            return TweakError(
                .conflict,
                "\(path.token) has changed since, in revision \(later?.revision ?? overlays[node.slot].changedAt) by "
                    + "\(who ?? "a reset or the config file"); look at history, or force it", path: path)
        }
        return nil
    }

    /// The tweak that a part of a commit is about; nil where it is not registered.
    func node(_ subject: CommitSubject) -> TweakNode? {
        switch subject {
        case .node(let node): holds(node) ? node : nil
        case .path(let named): node(named.path) ?? formerly[named.path]
        }
    }

    /// Whether a commit that goes back or forward is still the one that is due, for somebody with these rights.
    func isDue(
        _ kind: CommitKind, at time: ContinuousClock.Instant, _ rights: Rights, _ origin: TweakOrigin
    ) -> Bool {
        let (direction, number, isMine): (HistoryStep.Direction, UInt64, Bool)
        switch kind {
        case .undo(let undone, _, let mine): (direction, number, isMine) = (.undo, undone, mine)
        case .redo(let redone, _, let mine): (direction, number, isMine) = (.redo, redone, mine)
        case .change, .reload, .expiry: return true
        }
        return step(direction, at: time, rights, isMine ? origin : nil)?.number == number
    }
}
