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
}

/// Commits, oldest first, never more than a limit. Part of the registry's state.
struct History: Sendable {
    /// One tweak's part in a commit.
    struct Part: Sendable {
        let subject: Subject
        /// The override before and after; nil: none. Of a secret neither is kept.
        let oldOverride: Overlays.Entry?
        var newOverride: Overlays.Entry?
        /// The current value before and after; of a secret neither is kept.
        let old: TweakValue?
        var new: TweakValue?
    }

    /// Whose part it is.
    enum Subject: Sendable {
        case node(TweakNode)
        /// In a commit of an earlier run: whoever has this path now, or will have it.
        case path(TweakPath, isSecret: Bool)

        var path: TweakPath {
            switch self {
            case .node(let node): node.path
            case .path(let path, _): path
            }
        }

        /// Whether the values were not to be shown.
        var isSecret: Bool {
            switch self {
            case .node(let node): node.isSecret
            case .path(_, let isSecret): isSecret
            }
        }

        /// Commits of earlier runs are not merged with anything.
        func isSame(as other: Subject) -> Bool {
            if case .node(let node) = self, case .node(let other) = other { node === other } else { false }
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

        var number: UInt64
        var revision: UInt64
        var time: ContinuousClock.Instant
        let origin: TweakOrigin
        var kind: CommitKind
        var parts: [Part]
        var status = Status.done

        var isChange: Bool { if case .change = kind { true } else { false } }
    }

    var records: [Record] = []
    var lastNumber: UInt64 = 0
    /// What the storage has not seen yet; nil where there is none.
    var unsaved: Unsaved?
    var hasUndone = false
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
        unsaved?.note(lastNumber)
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
            zip(records[index].parts, parts).allSatisfy({ $0.subject.isSame(as: $1.subject) })
        else { return false }
        for (position, part) in parts.enumerated() {
            records[index].parts[position].newOverride = part.newOverride
            records[index].parts[position].new = part.new
        }
        records[index].revision = revision
        records[index].time = time
        unsaved?.note(records[index].number)
        return true
    }

    /// A new change ends redo.
    private mutating func forgetUndone() {
        if !hasUndone { return }
        hasUndone = false
        for index in records.indices where records[index].status == .undone {
            records[index].status = .dropped
            unsaved?.mark(records[index].number)
        }
    }

    // MARK: The way back

    /// The newest change that was not taken back.
    var undoable: Record? { kept.last { $0.isChange && $0.status == .done } }

    /// The change that was taken back last.
    var redoable: Record? { hasUndone ? kept.first { $0.status == .undone } : nil }

    /// The last ones, no more than the limit.
    var kept: ArraySlice<Record> { records.suffix(limit) }

    /// The revision of the commit that one is about.
    func revision(about kind: CommitKind) -> UInt64? {
        switch kind {
        case .undo(let number), .redo(let number): records.last { $0.number == number }?.revision
        case .change, .reload: nil
        }
    }

    /// Notes that a change was taken back, or made again.
    mutating func mark(_ kind: CommitKind) {
        switch kind {
        case .undo(let number): mark(number, .undone)
        case .redo(let number): mark(number, .done)
        case .change, .reload: break
        }
    }

    private mutating func mark(_ number: UInt64, _ status: Record.Status) {
        guard let index = records.lastIndex(where: { $0.number == number }) else { return }
        records[index].status = status
        unsaved?.mark(number)
        if status == .undone { hasUndone = true }
    }
}
