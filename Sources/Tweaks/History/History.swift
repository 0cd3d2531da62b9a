// The last commits of a registry, and which of them can be taken back.

/// Commits, oldest first, never more than a limit. Part of the registry's state.
struct History: Sendable {
    var records: [Record] = []
    var lastNumber: UInt64 = 0
    /// What the storage has not seen yet; nil where there is none.
    var unsaved: Unsaved?
    var hasUndone = false
    /// How many are kept; 0 keeps none.
    var limit = 1_000 {
        didSet { if records.count > limit { removeOldest(records.count - limit) } }
    }
    private var removed: UInt64 = 0

    /// How many were remembered and are no longer, because there are newer ones.
    var forgotten: UInt64 { removed + UInt64(max(0, records.count - limit)) }

    private mutating func removeOldest(_ count: Int) {
        records.removeFirst(count)
        removed += UInt64(count)
    }

    /// Large commits are kept as long as all together weigh no more than this.
    static let mostWeight = 100_000

    /// Changes that follow each other within this time are one.
    static let mergeInterval = Duration.milliseconds(500)
    /// Nobody holds a slider longer than this without moving it.
    static let gestureInterval = Duration.seconds(60)

    // MARK: Remembering

    mutating func append(
        _ parts: inout Parts, _ kind: CommitKind, revision: UInt64, time: ContinuousClock.Instant, origin: TweakOrigin
    ) {
        if limit == 0 || parts.isEmpty { return }
        if case .change = kind {
            if merge(parts, kind, time: time, origin: origin) { return touchLast(revision, time) }
            forgetUndone()
        }
        lastNumber += 1
        unsaved?.note(lastNumber)
        makeRoom(for: parts.weight)
        // Now and then, and then half of it: removing the first is moving all others.
        if records.count >= 2 * limit { removeOldest(records.count - limit + 1) }
        records.append(
            Record(number: lastNumber, revision: revision, time: time, origin: origin, kind: kind, parts: parts.take()))
    }

    /// Forgets the oldest before a large commit, so that a thousand of these do not eat up the memory. Small ones never
    /// come to that much.
    private mutating func makeRoom(for weight: Int) {
        if weight <= 16 { return }
        var room = Self.mostWeight - weight
        let last = records.lastIndex { record in
            room -= record.parts.reduce(0) { $0 + $1.weight }
            return room < 0
        }
        if let last { removeOldest(last + 1) }
    }

    /// Adds a change of one tweak to the last one, where they are one drag. This is the most frequent of all, so nothing
    /// is made for it.
    mutating func goesOn(
        _ node: TweakNode, after: SetValues, new: TweakValue?, _ kind: CommitKind, revision: UInt64,
        time: ContinuousClock.Instant, origin: TweakOrigin
    ) -> Bool {
        let index = records.count - 1
        guard canMerge(kind, time, origin), records[index].parts.count == 1,
            records[index].parts[0].subject.isSame(as: .node(node))
        else { return false }
        let isSecret = node.isSecret
        records[index].parts[0].after = isSecret ? SetValues() : after
        records[index].parts[0].new = isSecret ? nil : new
        touchLast(revision, time)
        return true
    }

    private mutating func touchLast(_ revision: UInt64, _ time: ContinuousClock.Instant) {
        let index = records.count - 1
        records[index].revision = revision
        records[index].time = time
        unsaved?.note(records[index].number)
    }

    private func canMerge(_ kind: CommitKind, _ time: ContinuousClock.Instant, _ origin: TweakOrigin) -> Bool {
        guard case .change(_, isStep: false, let gesture) = kind, limit > 0, let index = records.indices.last,
            records[index].status == .done, records[index].origin == origin
        else { return false }
        if gesture != 0, case .change(_, _, gesture) = records[index].kind {
            return time - records[index].time <= Self.gestureInterval
        }
        return records[index].kind == kind && time - records[index].time <= Self.mergeInterval
    }

    /// Adds a change to the last one, where they are one drag.
    private mutating func merge(
        _ parts: Parts, _ kind: CommitKind, time: ContinuousClock.Instant, origin: TweakOrigin
    ) -> Bool {
        let index = records.count - 1
        guard canMerge(kind, time, origin) else { return false }
        let list = parts.list
        guard list.count == records[index].parts.count,
            list.indices.allSatisfy({ records[index].parts[$0].subject.isSame(as: list[$0].subject) })
        else { return false }
        for (position, part) in list.enumerated() {
            records[index].parts[position].after = part.after
            records[index].parts[position].new = part.new
        }
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

    /// The newest change that was not taken back, nor has ended by itself.
    /// - Parameter sees: Which parts somebody sees who does not see all: steps with others are not there for him.
    func undoable(_ time: ContinuousClock.Instant, _ sees: ((Part) -> Bool)?) -> Record? {
        kept.last { record in
            record.isChange && record.status == .done && !record.isSpent(time)
                && (sees.map { record.parts.allSatisfy($0) } ?? true)
        }
    }

    /// The change that was taken back last.
    /// - Parameter sees: As above.
    func redoable(_ sees: ((Part) -> Bool)?) -> Record? {
        guard let sees else { return hasUndone ? Self.takenBackLast(kept.filter { $0.status == .undone }) : nil }
        // What ended redo for all others may be something that he does not see.
        let end = kept.last { $0.isChange && $0.parts.contains(where: sees) }?.number ?? 0
        return Self.takenBackLast(
            kept.filter { $0.status != .done && $0.undoneAt >= end && $0.parts.allSatisfy(sees) })
    }

    /// Of several that were taken back without a trace in between, the oldest: that one was reached last.
    private static func takenBackLast(_ records: [Record]) -> Record? {
        records.max { ($0.undoneAt, $1.number) < ($1.undoneAt, $0.number) }
    }

    /// The last ones, no more than the limit.
    var kept: ArraySlice<Record> { records.suffix(limit) }

    /// The revision of the commit that one is about.
    func revision(about kind: CommitKind) -> UInt64? {
        switch kind {
        case .undo(let number, _), .redo(let number, _): records.last { $0.number == number }?.revision
        case .change, .reload, .expiry: nil
        }
    }

    /// Notes that a change was taken back, or made again.
    mutating func mark(_ kind: CommitKind) {
        switch kind {
        case .undo(let number, _): mark(number, .undone)
        case .redo(let number, _): mark(number, .done)
        case .change, .reload, .expiry: break
        }
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
