// Finds the commits that undo and redo apply to, and marks them as undone or redone.

extension History {
    /// The newest change that was neither undone nor has expired.
    /// - Parameter scope: The changes that the requesting session may undo.
    func undoable(_ time: ContinuousClock.Instant, _ scope: Scope) -> Record? {
        kept.last { record in
            record.isChange && record.status == .done && !record.hasExpired(time) && scope.isSeen(record)
                && (scope.owner.map { record.origin == $0 } ?? true)
        }
    }

    /// The change that was undone last. With an owner in the scope: a change of that origin, or one that it has undone.
    func redoable(_ scope: Scope) -> Record? {
        if scope.isWhole { return hasUndone ? Self.undoneLast(kept.filter { $0.status == .undone }) : nil }
        // A change outside the scope does not end redo within it.
        let end = kept.last { $0.isChange && scope.endsRedo($0) }?.number ?? 0
        let candidates = kept.filter { $0.status != .done && $0.undoneAt >= end && scope.isSeen($0) }
        return Self.undoneLast(
            scope.owner.map { owner in candidates.filter { $0.origin == owner || undoOrigin(of: $0) == owner } }
                ?? candidates)
    }

    /// The origin of the last undo of a change.
    private func undoOrigin(of record: Record) -> TweakOrigin? {
        kept.last { if case .undo(record.number, _, _) = $0.kind { true } else { false } }?.origin
    }

    /// The last change of the same tweak that is not undone.
    /// - Parameter number: The change must be later than the record with this number.
    func change(of subject: CommitSubject, after number: UInt64) -> Record? {
        kept.last { record in
            record.number > number && record.isChange && record.status == .done
                && record.parts.contains { $0.subject.path == subject.path }
        }
    }

    /// Selects the changes that undo and redo apply to.
    struct Scope {
        /// Whether the session may read a part; nil if it may read all. Changes with unreadable parts are excluded.
        var sees: ((CommitPart) -> Bool)?
        /// If not nil, only changes of this origin.
        var owner: TweakOrigin?

        var isWhole: Bool { sees == nil && owner == nil }

        fileprivate func isSeen(_ record: Record) -> Bool { sees.map { record.parts.allSatisfy($0) } ?? true }

        fileprivate func endsRedo(_ record: Record) -> Bool {
            if let owner, record.origin != owner { return false }
            return sees.map { record.parts.contains(where: $0) } ?? true
        }
    }

    /// The record that was undone last; of several with the same `undoneAt` the oldest, since undo goes backwards.
    private static func undoneLast(_ records: [Record]) -> Record? {
        records.max { ($0.undoneAt, $1.number) < ($1.undoneAt, $0.number) }
    }

    /// All records, as a slice.
    var kept: ArraySlice<Record> { records[...] }

    /// The revision of the commit that an undo or redo refers to; nil for other kinds.
    func targetRevision(of kind: CommitKind?) -> UInt64? {
        switch kind {
        case .undo(let number, _, _)?, .redo(let number, _, _)?: records.last { $0.number == number }?.revision
        case .change?, .reload?, .expiry?, nil: nil
        }
    }

    /// Marks a change as undone or redone.
    /// - Returns: Whether the commit is an undo or redo.
    mutating func mark(_ kind: CommitKind?) -> Bool {
        switch kind {
        case .undo(let number, _, _)?: mark(number, .undone)
        case .redo(let number, _, _)?: mark(number, .done)
        case .change?, .reload?, .expiry?, nil: return false
        }
        return true
    }

    private mutating func mark(_ number: UInt64, _ status: Record.Status) {
        guard let index = records.lastIndex(where: { $0.number == number }) else { return }
        records[index].status = status
        unsaved?.mark(number)
        if status == .undone {
            hasUndone = true
            records[index].undoneAt = lastNumber
        }
    }
}
