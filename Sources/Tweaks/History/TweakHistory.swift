// Provides the public history of a registry, with undo and redo.

import Synchronization

/// One commit in the history of a registry.
public struct TweakHistoryEntry: Sendable {
    /// The kind of a commit.
    public enum Kind: Hashable, Sendable {
        /// An ordinary change.
        case change
        /// An undo of the commit with this revision.
        case undo(of: UInt64)
        /// A redo of the commit with this revision.
        case redo(of: UInt64)
        /// A reload of the config file.
        case reload
        /// The expiry of temporary overrides.
        case expiry
    }

    /// One tweak's part in it.
    public struct Change: Sendable {
        /// The tweak.
        public let path: TweakPath
        /// Its value before; nil for a secret, whose values are not recorded.
        public let old: TweakValue?
        /// Its value after; nil for a secret.
        public let new: TweakValue?
        /// The lifetime with which the value was set; nil if it was permanent.
        public let lifetime: Duration?
    }

    /// The revision after it; of merged commits, the last one.
    public let revision: UInt64
    /// When it was made.
    public var time: ContinuousClock.Instant { moment.instant }
    package let moment: Moment
    /// Who made it.
    public let origin: TweakOrigin
    /// The kind of the commit.
    public let kind: Kind
    /// Whether it was undone.
    public let isUndone: Bool
    /// Its changes.
    public let changes: [Change]
}

/// The outcome of an undo or redo.
public struct TweakUndo: Sendable {
    /// The commit that was undone or redone.
    public let entry: TweakHistoryEntry
    /// The outcome for each of its tweaks.
    public let result: TweakCommitResult
}

extension TweakRegistry {
    /// The last commits, newest first, up to ``historyLimit`` (1,000 by default). Figures are not included.
    ///
    /// Changes that one client makes to the same tweaks, each within half a second of the one before, are one entry, so
    /// a drag is one step. A change of anything else in between begins another entry, but for the changes of one gesture,
    /// which are one entry of up to 100 tweaks. What leaves everything as it was, such as a canceled drag, is none.
    public var history: [TweakHistoryEntry] { history(last: .max) }

    /// The last commits, newest first.
    /// - Parameter rights: The access rights; unreadable changes are left out, and so are commits without readable
    ///   ones.
    package func history(last count: Int, seenWith rights: Rights = .all) -> [TweakHistoryEntry] {
        if rights.isWhole(.read) {
            let records = state.withLock { $0.history.records }
            return records.reversed().lazy.filter { !$0.isVoid }.prefix(count).map { entry($0) }
        }
        var entries: [TweakHistoryEntry] = []
        for var record in state.withLock({ $0.history.records }).reversed() where entries.count < count {
            if record.isVoid { continue }
            let parts = record.parts
            record.parts = state.withLock { state in parts.filter { state.sees($0, with: rights) } }
            if !record.parts.isEmpty { entries.append(entry(record)) }
        }
        return entries
    }

    /// The commits of earlier runs from a revision on, oldest first, as records of the stream; those of tweaks that are
    /// secret now have no values.
    package func earlierCommits(from revision: UInt64) -> [CommitRecord] {
        state.withLock { state in
            state.history.records.filter { $0.revision >= revision }.map { record in
                CommitRecord(
                    sequence: 0, revision: record.revision, time: record.time, origin: record.origin,
                    kind: record.kind, targetRevision: state.history.targetRevision(of: record.kind), isUrgent: false,
                    parts: record.parts.map { state.isSecretNow($0.subject) ? $0.redacted : $0 })
            }.filter(\.isFromEarlierRun)
        }
    }

    /// The number of commits that the history keeps, at most 1,000,000; 0 disables it.
    ///
    /// Up to an eighth more are there before the oldest of the clients with the most are removed.
    ///
    /// In addition, the total number of changes in all commits is limited to 100,000; a long text counts as several.
    public var historyLimit: Int {
        get { state.withLock { $0.history.limit } }
        set { state.withLock { $0.history.limit = min(max(0, newValue), 1_000_000) } }
    }

    /// The number of commits that were removed from the history because of the limits.
    package var forgottenCommits: UInt64 { state.withLock { $0.history.forgotten } }

    /// Undoes the last change, as one commit.
    ///
    /// With `mine`, the commit need not be the newest of all, but no other origin may have changed its tweaks since.
    /// - Parameters:
    ///   - origin: The origin of the undo.
    ///   - isMine: Whether to undo the last change of the same origin, instead of the last one of all.
    ///   - isForced: Whether to undo it even if its tweaks were changed since, for example by the config file.
    /// - Throws: ``TweakError`` with code `conflict` if there is nothing to undo, or if a tweak has changed since.
    @discardableResult
    public func undo(
        origin: TweakOrigin = .code, mine isMine: Bool = false, force isForced: Bool = false
    ) throws(TweakError) -> TweakUndo {
        try reverse(.undo, origin, isMine: isMine, isForced: isForced)
    }

    /// Redoes the change that was undone last. A new change ends redo.
    ///
    /// With `mine`, this includes changes of other origins that this origin has undone; only a new change of the same
    /// origin ends redo.
    /// - Throws: As ``undo(origin:mine:force:)``.
    @discardableResult
    public func redo(
        origin: TweakOrigin = .code, mine isMine: Bool = false, force isForced: Bool = false
    ) throws(TweakError) -> TweakUndo {
        try reverse(.redo, origin, isMine: isMine, isForced: isForced)
    }

    private func reverse(
        _ direction: HistoryStep.Direction, _ origin: TweakOrigin, isMine: Bool, isForced: Bool
    ) throws(TweakError) -> TweakUndo {
        let step = try historyStep(direction, force: isForced, of: isMine ? origin : nil)
        let result = try commit(
            step.batch, origin: origin, ifUnchangedSince: step.revision, kind: step.kind, delivery: .caller)
        return TweakUndo(entry: step.entry, result: result)
    }

    func entry(_ record: History.Record) -> TweakHistoryEntry {
        var changes: [TweakHistoryEntry.Change] = []
        changes.reserveCapacity(record.parts.count)
        record.parts.forEachSlice { parts in
            changes += state.withLock { state in
                parts.map { state.isSecretNow($0.subject) ? $0.change.redacted : $0.change }
            }
        }
        // 0 if the history has forgotten that commit.
        let target = state.withLock { $0.history.targetRevision(of: record.kind) } ?? 0
        let kind: TweakHistoryEntry.Kind =
            switch record.kind {
            case .change: .change
            case .undo: .undo(of: target)
            case .redo: .redo(of: target)
            case .reload: .reload
            case .expiry: .expiry
            // The history has none.
            case .preview: .change
            }
        return TweakHistoryEntry(
            revision: record.revision, moment: record.time, origin: record.origin, kind: kind,
            isUndone: record.status != .done, changes: changes)
    }
}

extension Array<CommitPart> {
    /// Calls `body` with all parts in turn, few at a time, so that none holds the registry's lock for long.
    func forEachSlice(_ body: (ArraySlice<CommitPart>) -> Void) {
        for start in stride(from: 0, to: count, by: 256) { body(self[start..<Swift.min(start + 256, count)]) }
    }
}

extension TweakHistoryEntry.Change {
    fileprivate var redacted: Self { .init(path: path, old: nil, new: nil, lifetime: nil) }
}
