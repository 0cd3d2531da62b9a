// What programs and people see of the history.

import Synchronization

/// One commit as a registry remembers it.
public struct TweakHistoryEntry: Sendable {
    /// What sort of commit it was.
    public enum Kind: Hashable, Sendable {
        /// Somebody changed something.
        case change
        /// Somebody took back the commit of this revision.
        case undo(of: UInt64)
        /// Somebody made the commit of this revision again.
        case redo(of: UInt64)
        /// The config file was read.
        case reload
        /// Temporary overrides ran out.
        case expiry
    }

    /// One tweak's part in it.
    public struct Change: Sendable {
        /// The tweak.
        public let path: TweakPath
        /// Its value before; nil for a secret, whose values are not remembered.
        public let old: TweakValue?
        /// Its value after; nil for a secret.
        public let new: TweakValue?
        /// How long the value after was meant to last; nil: for good.
        public let lifetime: Duration?
    }

    /// The revision it led to; of several that were merged into one, the last.
    public let revision: UInt64
    /// When.
    public let time: ContinuousClock.Instant
    /// Who.
    public let origin: TweakOrigin
    /// What sort of commit it was.
    public let kind: Kind
    /// Whether it was taken back.
    public let isUndone: Bool
    /// What it changed.
    public let changes: [Change]
}

/// A commit that was taken back, or made again.
public struct TweakUndo: Sendable {
    /// The commit it was about.
    public let entry: TweakHistoryEntry
    /// What became of each of its tweaks.
    public let result: TweakCommitResult
}

extension TweakRegistry {
    /// The last commits, newest first: 1,000, or what ``historyLimit`` says. Figures are not among them.
    ///
    /// Changes that one client makes to the same tweaks within half a second are one entry: a drag is one step. Of a
    /// program that sets several in turn, faster than any hand, each has an entry.
    public var history: [TweakHistoryEntry] { history(last: .max) }

    /// The last few of these, newest first.
    /// - Parameter rights: Of each commit what is seen with these; one of which nothing is seen does not count.
    package func history(last count: Int, seenWith rights: Rights = .all) -> [TweakHistoryEntry] {
        if rights.isWhole(.read) {
            return state.withLock { Array($0.history.kept.suffix(count)) }.reversed().map { record in entry(record) }
        }
        var entries: [TweakHistoryEntry] = []
        for var record in state.withLock({ $0.history.kept }).reversed() where entries.count < count {
            let parts = record.parts
            record.parts = state.withLock { state in parts.filter { state.sees($0, with: rights) } }
            if !record.parts.isEmpty { entries.append(entry(record)) }
        }
        return entries
    }

    /// The commits of earlier runs from a revision on, oldest first, as the stream tells of this one's; what is a secret
    /// by now without values.
    package func earlierCommits(from revision: UInt64) -> [CommitRecord] {
        state.withLock { state in
            state.history.kept.filter { $0.revision >= revision }.map { record in
                CommitRecord(
                    sequence: 0, revision: record.revision, moment: record.moment, origin: record.origin,
                    kind: record.kind, about: state.history.revision(about: record.kind), isUrgent: false,
                    parts: record.parts.map { state.isSecretNow($0.subject) ? $0.redacted : $0 })
            }.filter(\.isOfEarlierRun)
        }
    }

    /// How many commits are remembered; 0 remembers none, and more than a million are never kept.
    ///
    /// Large commits are remembered as long as all together have changed no more than 100,000 tweaks; long texts count as
    /// several.
    public var historyLimit: Int {
        get { state.withLock { $0.history.limit } }
        set { state.withLock { $0.history.limit = min(max(0, newValue), 1_000_000) } }
    }

    /// How many commits were remembered and are no longer, because of the limits.
    package var forgottenCommits: UInt64 { state.withLock { $0.history.forgotten } }

    /// Takes back the last commit of overrides, as one commit.
    ///
    /// One's own need not be the newest of all, but nobody else may have changed its tweaks since.
    /// - Parameters:
    ///   - origin: Who does so.
    ///   - isMine: The last one of the same origin, rather than the last of all.
    ///   - isForced: Also if its tweaks were changed since by something else, such as the config file.
    /// - Throws: ``TweakError`` with code `conflict` when there is nothing to take back, or a tweak has changed since.
    @discardableResult
    public func undo(
        origin: TweakOrigin = .code, mine isMine: Bool = false, force isForced: Bool = false
    ) throws(TweakError) -> TweakUndo {
        let step = try historyStep(.undo, force: isForced, of: isMine ? origin : nil)
        return TweakUndo(entry: step.entry, result: try commit(step, origin: origin, delivery: .caller))
    }

    /// Makes the commit again that was taken back last. A new change ends that.
    ///
    /// One's own is also what one has taken back of others'; only a new change of one's own ends it.
    /// - Throws: As ``undo(origin:mine:force:)``.
    @discardableResult
    public func redo(
        origin: TweakOrigin = .code, mine isMine: Bool = false, force isForced: Bool = false
    ) throws(TweakError) -> TweakUndo {
        let step = try historyStep(.redo, force: isForced, of: isMine ? origin : nil)
        return TweakUndo(entry: step.entry, result: try commit(step, origin: origin, delivery: .caller))
    }

    private func commit(
        _ step: HistoryStep, origin: TweakOrigin, delivery: TweakDelivery
    ) throws(TweakError) -> TweakCommitResult {
        try commit(
            step.batch, origin: origin, ifUnchangedSince: step.revision, kind: step.kind, delivery: delivery)
    }

    func entry(_ record: History.Record) -> TweakHistoryEntry {
        let revisionOf = { [self] (number: UInt64) in
            state.withLock { state in state.history.records.first { $0.number == number }?.revision } ?? 0
        }
        let changes = state.withLock { state in
            record.parts.map { state.isSecretNow($0.subject) ? $0.change.redacted : $0.change }
        }
        let kind: TweakHistoryEntry.Kind =
            switch record.kind {
            case .change: .change
            case .undo(let number, _, _): .undo(of: revisionOf(number))
            case .redo(let number, _, _): .redo(of: revisionOf(number))
            case .reload: .reload
            case .expiry: .expiry
            }
        return TweakHistoryEntry(
            revision: record.revision, time: record.time, origin: record.origin, kind: kind,
            isUndone: record.status != .done,
            changes: changes)
    }
}

extension TweakHistoryEntry.Change {
    fileprivate var redacted: Self { .init(path: path, old: nil, new: nil, lifetime: nil) }
}
