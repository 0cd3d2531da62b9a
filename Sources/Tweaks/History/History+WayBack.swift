// Finds the commits that undo and redo go through, and marks those that were taken back.

extension History {
    /// The newest change that was not taken back, nor has ended by itself.
    /// - Parameter scope: Those that the asking session sees.
    func undoable(_ time: ContinuousClock.Instant, _ scope: Scope) -> Record? {
        kept.last { record in
            record.isChange && record.status == .done && !record.isSpent(time) && scope.isSeen(record)
                && (scope.owner.map { record.origin == $0 } ?? true)
        }
    }

    /// The change that was taken back last. Where it is to be one's own, that is one's own change, or one that one has
    /// taken back oneself.
    func redoable(_ scope: Scope) -> Record? {
        if scope.isWhole { return hasUndone ? Self.takenBackLast(kept.filter { $0.status == .undone }) : nil }
        // What ended redo for all others may be something that is none of his.
        let end = kept.last { $0.isChange && scope.endsRedo($0) }?.number ?? 0
        let candidates = kept.filter { $0.status != .done && $0.undoneAt >= end && scope.isSeen($0) }
        return Self.takenBackLast(
            scope.owner.map { owner in candidates.filter { $0.origin == owner || undoer(of: $0) == owner } }
                ?? candidates)
    }

    /// Who took a change back, the last time.
    private func undoer(of record: Record) -> TweakOrigin? {
        kept.last { if case .undo(record.number, _, _) = $0.kind { true } else { false } }?.origin
    }

    /// A later change of the same tweak that still stands.
    /// - Parameter number: Later than this one.
    func change(of subject: CommitSubject, after number: UInt64) -> Record? {
        kept.last { record in
            record.number > number && record.isChange && record.status == .done
                && record.parts.contains { $0.subject.path == subject.path }
        }
    }

    /// Which changes undo and redo go through.
    struct Scope {
        /// Which parts a session sees that does not see all; to it there are no changes with other parts.
        var sees: ((CommitPart) -> Bool)?
        /// Only this one's own.
        var owner: TweakOrigin?

        var isWhole: Bool { sees == nil && owner == nil }

        fileprivate func isSeen(_ record: Record) -> Bool { sees.map { record.parts.allSatisfy($0) } ?? true }

        fileprivate func endsRedo(_ record: Record) -> Bool {
            if let owner, record.origin != owner { return false }
            return sees.map { record.parts.contains(where: $0) } ?? true
        }
    }

    /// Of several that were taken back without a trace in between, the oldest: that one was reached last.
    private static func takenBackLast(_ records: [Record]) -> Record? {
        records.max { ($0.undoneAt, $1.number) < ($1.undoneAt, $0.number) }
    }

    /// The last ones, no more than the limit.
    var kept: ArraySlice<Record> { records.suffix(limit) }

    /// The revision of the commit that one is about.
    func revision(about kind: CommitKind?) -> UInt64? {
        switch kind {
        case .undo(let number, _, _)?, .redo(let number, _, _)?: records.last { $0.number == number }?.revision
        case .change?, .reload?, .expiry?, nil: nil
        }
    }

    /// Notes that a change was taken back, or made again.
    /// - Returns: Whether the kind of commit says so of one.
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
