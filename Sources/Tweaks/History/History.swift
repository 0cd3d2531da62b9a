// The last commits of a registry, and which of them can be taken back.

/// What a commit is to the history.
package enum CommitKind: Sendable, Equatable {
    /// Somebody's change. Those of one session to the same tweaks in quick succession, a drag, are one.
    case change(session: UInt64)
    /// Takes back the commit with this number.
    case undo(UInt64)
    /// Makes the commit with this number again.
    case redo(UInt64)
    /// The config file.
    case reload
    /// Temporary overrides that have run out.
    case expiry
}

/// Commits, oldest first, never more than a limit. Part of the registry's state.
struct History: Sendable {
    /// One tweak's part in a commit.
    struct Part: Sendable {
        let node: TweakNode
        /// What was set before and after. Of a secret neither is kept.
        let before: SetLayers
        var after: SetLayers
        /// The current value before and after; of a secret neither is kept.
        let old: TweakValue?
        var new: TweakValue?

        /// How long a temporary override was meant to last that this set.
        var lifetime: Duration? {
            guard let temporary = after.temporary, let expires = temporary.expires,
                expires != before.temporary?.expires
            else { return nil }
            return expires - temporary.time
        }
    }

    /// One commit, or several that were merged.
    struct Record: Sendable {
        enum Status: Sendable {
            case done
            /// Taken back, and can be made again.
            case undone
            /// Taken back for good.
            case dropped
        }

        let number: UInt64
        var revision: UInt64
        var time: ContinuousClock.Instant
        let origin: TweakOrigin
        let kind: CommitKind
        var parts: [Part]
        var status = Status.done

        var isChange: Bool { if case .change = kind { true } else { false } }

        /// Whether all that it set has run out meanwhile, so that there is nothing to take back.
        func isSpent(_ time: ContinuousClock.Instant) -> Bool {
            parts.allSatisfy { part in
                part.after.temporary != nil && part.after.temporary?.unlessExpired(time) == nil
                    && part.before.agrees(with: part.after, at: time)
            }
        }
    }

    private(set) var records: [Record] = []
    private var lastNumber: UInt64 = 0
    private var hasUndone = false
    /// How many are kept; 0 keeps none.
    var limit = 1_000 {
        didSet { if records.count > limit { records.removeFirst(records.count - limit) } }
    }

    /// Changes that follow each other within this time are one.
    static let mergeInterval = Duration.milliseconds(500)

    // MARK: Remembering

    mutating func append(
        _ parts: [Part], _ kind: CommitKind, revision: UInt64, time: ContinuousClock.Instant, origin: TweakOrigin
    ) {
        if limit == 0 || parts.isEmpty { return }
        if case .change = kind {
            if merge(parts, kind, revision: revision, time: time, origin: origin) { return }
            forgetUndone()
        }
        lastNumber += 1
        // Now and then, and then half of it: removing the first is moving all others.
        if records.count >= 2 * limit { records.removeFirst(records.count - limit + 1) }
        records.append(
            Record(number: lastNumber, revision: revision, time: time, origin: origin, kind: kind, parts: parts))
    }

    private mutating func merge(
        _ parts: [Part], _ kind: CommitKind, revision: UInt64, time: ContinuousClock.Instant, origin: TweakOrigin
    ) -> Bool {
        guard let index = records.indices.last, records[index].kind == kind, records[index].status == .done,
            time - records[index].time <= Self.mergeInterval, records[index].parts.count == parts.count,
            records[index].origin == origin,
            zip(records[index].parts, parts).allSatisfy({ $0.node === $1.node })
        else { return false }
        for (position, part) in parts.enumerated() {
            records[index].parts[position].after = part.after
            records[index].parts[position].new = part.new
        }
        records[index].revision = revision
        records[index].time = time
        return true
    }

    /// A new change ends redo.
    private mutating func forgetUndone() {
        if !hasUndone { return }
        hasUndone = false
        for index in records.indices where records[index].status == .undone { records[index].status = .dropped }
    }

    // MARK: The way back

    /// The newest change that was not taken back, nor has ended by itself.
    func undoable(_ time: ContinuousClock.Instant) -> Record? {
        kept.last { $0.isChange && $0.status == .done && !$0.isSpent(time) }
    }

    /// The change that was taken back last.
    var redoable: Record? { hasUndone ? kept.first { $0.status == .undone } : nil }

    /// The last ones, no more than the limit.
    var kept: ArraySlice<Record> { records.suffix(limit) }

    /// Notes that a change was taken back, or made again.
    mutating func mark(_ kind: CommitKind) {
        switch kind {
        case .undo(let number): mark(number, .undone)
        case .redo(let number): mark(number, .done)
        case .change, .reload, .expiry: break
        }
    }

    private mutating func mark(_ number: UInt64, _ status: Record.Status) {
        guard let index = records.lastIndex(where: { $0.number == number }) else { return }
        records[index].status = status
        if status == .undone { hasUndone = true }
    }
}
