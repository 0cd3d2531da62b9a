// Chooses the commit that undo or redo applies to, checks it for conflicts, and translates it into a batch of changes.

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
    /// The secrets that a forced step leaves as they are.
    package let skippedSecrets: [TweakPath]
}

extension TweakRegistry {
    /// Determines the changes that undo or redo would make now.
    /// - Parameters:
    ///   - owner: The origin whose changes it applies to, those of its window if it has one; nil for those of all
    ///     origins.
    ///   - expected: The revision of the change that the client means; nil for whichever is next.
    ///   - session: The requesting session; 0 for the program.
    ///   - rights: The access rights of the session; changes that it may not read are skipped.
    /// - Throws: `conflict` if there is nothing to do, if the next change is another, or if it would overwrite another
    ///   change; `denied` if the session may read the change but not write its tweaks.
    package func historyStep(
        _ direction: HistoryStep.Direction, force isForced: Bool, of owner: TweakOrigin? = nil,
        expecting expected: UInt64? = nil, session: UInt64 = 0, rights: Rights = .all
    ) throws(TweakError) -> HistoryStep {
        let time = currentTime
        let (record, revision, problem) = state.withLock { state in
            let record = state.next(direction, at: time, rights, owner)
            let problem = record.flatMap { state.denial($0, isForced ? .admin : .write, rights) }
            return (record, state.revision, problem)
        }
        guard let record else {
            let word = direction == .undo ? "undo" : "redo"
            let what = owner.map { " by \($0); plain \(word) covers the changes of all clients" } ?? ""
            throw TweakError(.conflict, "there is nothing to \(word)\(what); history lists the last commits")
        }
        if let expected, record.revision != expected {
            let words = "\(direction.rawValue)\(owner == nil ? "" : " mine") \(record.revision)"
            throw TweakError(
                .conflict,
                "the change to \(direction.rawValue) is now that of revision \(record.revision), by \(record.origin); "
                    + "see history, or \(words)")
        }
        if let problem { throw problem }
        if !isForced { try check(record, direction, at: time, isNewest: owner == nil, remedy: nil) }
        let choice: CommitKind.Choice = owner == nil ? .last : .mine
        let kind: CommitKind =
            direction == .undo
            ? .undo(record.number, session: session, choice) : .redo(record.number, session: session, choice)
        return step(record, direction, revision, kind, at: isForced ? time : nil)
    }

    /// Determines the changes that undo of a certain change would make now. It need not be the last one.
    /// - Parameters:
    ///   - named: The revision of the change.
    ///   - remedy: The words for how to force it, which its conflicts end with.
    /// - Throws: `conflict` if the history does not hold it, if it is undone, or if undo would overwrite another change;
    ///   `denied` if the session may not write its tweaks.
    package func historyStep(
        undoing named: UInt64, force isForced: Bool, remedy: String, session: UInt64, rights: Rights
    ) throws(TweakError) -> HistoryStep {
        let (record, revision, problem) = state.withLock { state in
            let record = state.history.change(named).flatMap { $0.status == .done ? $0 : nil }
            return (record, state.revision, record.flatMap { state.denial($0, .write, rights) })
        }
        guard let record else {
            throw TweakError(
                .conflict, "the change of revision \(named) is undone or forgotten; history lists the last commits")
        }
        if let problem { throw problem }
        let time = currentTime
        if !isForced { try check(record, .undo, at: time, isNewest: false, remedy: remedy) }
        let kind = CommitKind.undo(record.number, session: session, .named)
        return step(record, .undo, revision, kind, at: isForced ? time : nil)
    }

    /// Whether the change of a revision is undone, by hand or as a step; nil if the history does not hold it.
    package func isUndone(_ revision: UInt64) -> Bool? {
        let time = currentTime
        return state.withLock { state in
            state.history.change(revision).map { record in
                record.status != .done || record.parts.allSatisfy { state.isAsBefore($0, at: time) }
            }
        }
    }

    /// The revision of the commit that undo or redo would apply to now, regardless of its origin; nil if there is none.
    /// The undo or redo may still be refused.
    /// - Parameter rights: The access rights of the session.
    package func nextHistoryStep(_ direction: HistoryStep.Direction, rights: Rights = .all) -> UInt64? {
        let time = currentTime
        return state.withLock { $0.next(direction, at: time, rights, nil) }?.revision
    }

    /// Throws if undo or redo of a commit would overwrite another change. The commit is refused if a tweak changes after
    /// the revision of the step, so the lock may be released meanwhile.
    private func check(
        _ record: History.Record, _ direction: HistoryStep.Direction, at time: Moment,
        isNewest: Bool, remedy: String?
    ) throws(TweakError) {
        var problem: TweakError?
        record.parts.forEachSlice { parts in
            if problem != nil { return }
            problem = state.withLock {
                $0.conflict(parts, record, direction, at: time, isNewest: isNewest, remedy: remedy)
            }
        }
        guard var problem else { return }
        problem.canBeForced = true
        throw problem
    }

    /// - Parameter time: The current time if forced: values that are no longer valid are skipped. Otherwise nil.
    private func step(
        _ record: History.Record, _ direction: HistoryStep.Direction, _ revision: UInt64, _ kind: CommitKind,
        at time: Moment?
    ) -> HistoryStep {
        var batch = TweakBatch()
        var nodes: [TweakNode] = []
        var secrets: [TweakPath] = []
        // Skips secrets, whose values are not recorded, and removed tweaks; both occur only with force.
        // What a gesture has left as it was may have been changed by others since.
        for part in record.parts where !part.isVoid {
            let node = state.withLock { $0.node(part.subject) }
            if part.subject.isSecret || node?.isSecret == true {
                secrets.append(node?.path ?? part.subject.path)
                continue
            }
            guard let node else { continue }
            let overrides = direction == .undo ? part.before : part.after
            // With force, also skips values that the current definition does not allow.
            if let time, (try? node.validate(overrides, at: time, nil)) == nil { continue }
            batch.append(node, .restore(overrides))
            nodes.append(node)
        }
        return HistoryStep(
            entry: entry(record), batch: batch, nodes: nodes, kind: kind, revision: revision,
            skippedSecrets: secrets)
    }
}

// MARK: - Choosing the commit

extension History {
    /// Selects the changes that undo and redo apply to.
    fileprivate struct Scope {
        /// Whether the session may read a part; nil if it may read all. Changes with unreadable parts are excluded.
        var sees: ((CommitPart) -> Bool)?
        /// If not nil, only changes of this origin, or of its browser window.
        var owner: TweakOrigin?

        var isWhole: Bool { sees == nil && owner == nil }

        func isSeen(_ record: Record) -> Bool { sees.map { record.parts.allSatisfy($0) } ?? true }

        func endsRedo(_ record: Record) -> Bool {
            if let owner, !record.origin.isSameOwner(as: owner) { return false }
            return sees.map { record.parts.contains(where: $0) } ?? true
        }
    }

    /// The newest change that was neither undone nor has expired.
    /// - Parameter scope: The changes that the requesting session may undo.
    fileprivate func undoable(_ time: Moment, _ scope: Scope) -> Record? {
        records.last { record in
            record.isChange && record.status == .done && !record.isVoid && !record.hasExpired(time)
                && scope.isSeen(record) && (scope.owner.map { record.origin.isSameOwner(as: $0) } ?? true)
        }
    }

    /// The change that was undone last. With an owner in the scope: a change of that origin, or one that it has undone.
    fileprivate func redoable(_ scope: Scope) -> Record? {
        if scope.isWhole { return hasUndone ? Self.undoneLast(records.filter { $0.status == .undone }) : nil }
        // A change outside the scope does not end redo within it.
        let end = records.last { $0.isChange && !$0.isVoid && scope.endsRedo($0) }?.number ?? 0
        let candidates = records.filter { $0.status != .done && $0.undoneAt >= end && scope.isSeen($0) }
        guard let owner = scope.owner else { return Self.undoneLast(candidates) }
        return Self.undoneLast(
            candidates.filter { record in
                record.origin.isSameOwner(as: owner) || undoOrigin(of: record)?.isSameOwner(as: owner) == true
            })
    }

    /// The origin of the last undo of a change.
    private func undoOrigin(of record: Record) -> TweakOrigin? {
        records.last { if case .undo(record.number, _, _) = $0.kind { true } else { false } }?.origin
    }

    /// The record that was undone last; of several with the same `undoneAt` the oldest, since undo goes backwards.
    private static func undoneLast(_ records: [Record]) -> Record? {
        records.max { ($0.undoneAt, $1.number) < ($1.undoneAt, $0.number) }
    }

    /// The change that ended in a revision.
    fileprivate func change(_ revision: UInt64) -> Record? { records.last { $0.revision == revision && $0.isChange } }

    /// The last change of the same tweak that is not undone.
    /// - Parameter number: The change must be later than the record with this number.
    fileprivate func change(of subject: CommitSubject, after number: UInt64) -> Record? {
        records.last { record in
            record.number > number && record.isChange && record.status == .done
                && record.parts.contains { $0.subject.path == subject.path && !$0.isVoid }
        }
    }
}

extension RegistryState {
    /// The commit that would be undone or redone now.
    fileprivate func next(
        _ direction: HistoryStep.Direction, at time: Moment, _ rights: Rights, _ owner: TweakOrigin?
    ) -> History.Record? {
        var scope = History.Scope(sees: nil, owner: owner)
        if !rights.isWhole(.read) { scope.sees = { sees($0, with: rights) } }
        return direction == .undo ? history.undoable(time, scope) : history.redoable(scope)
    }

    /// Whether an undo or redo still applies to the right commit, given the rights; true for other kinds.
    func isStillNext(
        _ kind: CommitKind, at time: Moment, _ rights: Rights, _ origin: TweakOrigin
    ) -> Bool {
        switch kind {
        case .undo(let number, _, .named), .redo(let number, _, .named):
            history.records.contains { $0.number == number && $0.status == .done }
        case .undo(let number, _, let choice):
            next(.undo, at: time, rights, choice == .mine ? origin : nil)?.number == number
        case .redo(let number, _, let choice):
            next(.redo, at: time, rights, choice == .mine ? origin : nil)?.number == number
        case .change, .reload, .expiry, .preview: true
        }
    }

    // MARK: Rights and conflicts

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
    /// - Parameters:
    ///   - isNewest: Whether no later change can exist that is not undone.
    ///   - remedy: The words for how to force it; nil for those of undo and redo.
    fileprivate func conflict(
        _ parts: ArraySlice<CommitPart>, _ record: History.Record, _ direction: HistoryStep.Direction,
        at time: Moment, isNewest: Bool, remedy: String?
    ) -> TweakError? {
        let forced = direction.rawValue + (isNewest ? " force" : " mine force")
        for part in parts where !part.isVoid {
            let node = node(part.subject)
            let path = node?.path ?? part.subject.path
            if part.subject.isSecret || node?.isSecret == true {
                let force = remedy ?? "\(forced) \(direction.rawValue)es the rest"
                return TweakError(
                    .conflict,
                    "\(path.token) is a secret, whose earlier value is not recorded; \(force); set \(path.token) again",
                    path: path)
            }
            guard let node else {
                return TweakError(
                    .conflict, "\(path.token) is not registered now; \(remedy ?? "\(forced) skips it")", path: path)
            }
            let expected = direction == .undo ? part.after : part.before
            let now = overlays[node.slot]
            // A later change to the same value is a conflict, too: it may be intended.
            let later =
                isNewest
                ? nil : history.change(of: part.subject, after: direction == .undo ? record.number : record.undoneAt)
            if later == nil, now.overrideValues.agrees(with: expected, at: time) { continue }
            let who = (later?.origin ?? now.topOverride?.origin)?.description
            return TweakError(
                .conflict,
                "\(path.token) has changed since, in revision \(later?.revision ?? now.changedAt) by "
                    + "\(who ?? "a reset or the config file"); \(remedy ?? "see history, or \(forced)")", path: path)
        }
        return nil
    }

    /// Whether the overrides of a part's tweak are as they were before the commit.
    fileprivate func isAsBefore(_ part: CommitPart, at time: Moment) -> Bool {
        guard !part.subject.isSecret, let node = node(part.subject) else { return false }
        return overlays[node.slot].overrideValues.agrees(with: part.before, at: time)
    }

    /// The tweak of a part of a commit; nil if it is not registered.
    func node(_ subject: CommitSubject) -> TweakNode? {
        switch subject {
        case .node(let node): holds(node) ? node : nil
        case .path(let named): node(named.path) ?? formerly[named.path]
        }
    }
}
