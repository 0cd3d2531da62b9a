// Translates undo and redo into a batch of changes, and checks it for conflicts.

import Synchronization

/// An undo or redo as changes to be committed.
package struct HistoryStep: Sendable {
    /// Undo or redo.
    package enum Direction: String, Sendable { case undo, redo }

    /// The commit to be undone or redone.
    package let entry: TweakHistoryEntry
    package let batch: TweakBatch
    package let nodes: [TweakNode]
    package let kind: CommitKind
    /// The revision at which it was determined; later changes are conflicts.
    package let revision: UInt64
}

extension TweakRegistry {
    /// Determines the changes that undo or redo would make now.
    /// - Parameters:
    ///   - owner: The origin whose changes it applies to; nil for those of all origins.
    ///   - session: The requesting session; 0 for the program.
    ///   - rights: The access rights of the session; changes that it may not read are skipped.
    /// - Throws: `conflict` if there is nothing to do, or if it would overwrite another change; `denied` if the session
    ///   may read the change but not write its tweaks.
    package func historyStep(
        _ direction: HistoryStep.Direction, force isForced: Bool, of owner: TweakOrigin? = nil, session: UInt64 = 0,
        rights: Rights = .all
    ) throws(TweakError) -> HistoryStep {
        let time = currentTime
        let (record, revision, problem) = state.withLock { state in
            let record = state.step(direction, at: time, rights, owner)
            let problem = record.flatMap { state.denial($0, isForced ? .admin : .write, rights) }
            return (record, state.revision, problem)
        }
        guard let record else {
            let word = direction == .undo ? "undo" : "redo"
            let what = owner.map { " by \($0); plain \(word) covers the changes of all clients" } ?? ""
            throw TweakError(.conflict, "there is nothing to \(word)\(what); history lists the last commits")
        }
        if let problem { throw problem }
        if !isForced { try check(record, direction, at: time, isNewest: owner == nil) }
        let kind =
            direction == .undo
            ? CommitKind.undo(record.number, session: session, isMine: owner != nil)
            : .redo(record.number, session: session, isMine: owner != nil)
        return step(record, direction, revision, kind, at: isForced ? time : nil)
    }

    /// Throws if undo or redo of a commit would overwrite another change. The commit is refused if a tweak changes after
    /// the revision of the step, so the lock may be released meanwhile.
    private func check(
        _ record: History.Record, _ direction: HistoryStep.Direction, at time: ContinuousClock.Instant, isNewest: Bool
    ) throws(TweakError) {
        var problem: TweakError?
        record.parts.forEachSlice { parts in
            if problem != nil { return }
            problem = state.withLock { $0.conflict(parts, record, direction, at: time, isNewest: isNewest) }
        }
        if let problem { throw problem }
    }

    /// The revision of the commit that undo or redo would apply to now, regardless of its origin; nil if there is none.
    /// The undo or redo may still be refused.
    /// - Parameter rights: The access rights of the session.
    package func nextHistoryStep(_ direction: HistoryStep.Direction, rights: Rights = .all) -> UInt64? {
        let time = currentTime
        return state.withLock { $0.step(direction, at: time, rights, nil) }?.revision
    }

    /// - Parameter time: The current time if forced: values that are no longer valid are skipped. Otherwise nil.
    private func step(
        _ record: History.Record, _ direction: HistoryStep.Direction, _ revision: UInt64, _ kind: CommitKind,
        at time: ContinuousClock.Instant?
    ) -> HistoryStep {
        var batch = TweakBatch()
        var nodes: [TweakNode] = []
        // Skips secrets, whose values are not recorded, and removed tweaks; both occur only with force.
        for part in record.parts where !part.subject.isSecret {
            guard let node = state.withLock({ $0.node(part.subject) }), !node.isSecret else { continue }
            let layers = (direction == .undo ? part.before : part.after).layers
            // With force, also skips values that the current definition does not allow.
            if let time, (try? node.validate(layers, at: time, nil)) == nil { continue }
            batch.append(node, .restore(layers))
            nodes.append(node)
        }
        return HistoryStep(entry: entry(record), batch: batch, nodes: nodes, kind: kind, revision: revision)
    }
}

extension RegistryState {
    /// The commit that would be undone or redone now.
    fileprivate func step(
        _ direction: HistoryStep.Direction, at time: ContinuousClock.Instant, _ rights: Rights, _ owner: TweakOrigin?
    ) -> History.Record? {
        let scope = History.Scope(sees: visibility(rights), owner: owner)
        return direction == .undo ? history.undoable(time, scope) : history.redoable(scope)
    }

    /// A predicate for the readable parts; nil if all are readable.
    private func visibility(_ rights: Rights) -> ((CommitPart) -> Bool)? {
        rights.isWhole(.read) ? nil : { sees($0, with: rights) }
    }

    /// Whether a part of a commit is readable: both by the path that it had then and by the current path of its tweak.
    func sees(_ part: CommitPart, with rights: Rights) -> Bool {
        guard rights.allows(.read, part.subject.path) else { return false }
        if case .path = part.subject, let node = node(part.subject) { return rights.sees(node) }
        return true
    }

    /// The error if the rights do not allow undo or redo of a commit; nil if they do.
    fileprivate func denial(_ record: History.Record, _ kind: TweakScope.Kind, _ rights: Rights) -> TweakError? {
        if rights.isWhole(kind) { return nil }
        let paths = record.parts.map { node($0.subject)?.path ?? $0.subject.path }
        return paths.first { !rights.allows(kind, $0) }.map { rights.denied(kind, $0) }
    }

    /// The error if undo or redo of a commit would overwrite another change; nil if it would not.
    /// - Parameter isNewest: Whether no later change can exist that is not undone.
    fileprivate func conflict(
        _ parts: ArraySlice<CommitPart>, _ record: History.Record, _ direction: HistoryStep.Direction,
        at time: ContinuousClock.Instant, isNewest: Bool
    ) -> TweakError? {
        for part in parts {
            let node = node(part.subject)
            let path = node?.path ?? part.subject.path
            if part.subject.isSecret || node?.isSecret == true {
                return TweakError(
                    .conflict, "\(path.token) is a secret, whose earlier value is not recorded; set it again",
                    path: path)
            }
            guard let node else {
                return TweakError(.conflict, "\(path.token) is not registered now; use force to skip it", path: path)
            }
            let expected = direction == .undo ? part.after : part.before
            let now = overlays[node.slot].overrideLayers
            // A later change to the same value is a conflict, too: it may be intended.
            let later =
                isNewest
                ? nil : history.change(of: part.subject, after: direction == .undo ? record.number : record.undoneAt)
            if later == nil, OverrideValues(now).agrees(with: expected, at: time) { continue }
            let who = (later?.origin ?? (now.temporary ?? now.override)?.origin)?.description
            return TweakError(
                .conflict,
                "\(path.token) has changed since, in revision \(later?.revision ?? overlays[node.slot].changedAt) by "
                    + "\(who ?? "a reset or the config file"); see history, or use force", path: path)
        }
        return nil
    }

    /// The tweak of a part of a commit; nil if it is not registered.
    func node(_ subject: CommitSubject) -> TweakNode? {
        switch subject {
        case .node(let node): holds(node) ? node : nil
        case .path(let named): node(named.path) ?? formerly[named.path]
        }
    }

    /// Whether an undo or redo still applies to the right commit, given the rights; true for other kinds.
    func isStillNext(
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
