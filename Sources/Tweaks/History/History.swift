// Records the last commits of a registry, merges a change with the one that it continues, and keeps to the limits.

/// A bounded list of commits, oldest first. Part of the registry's state.
package struct History: Sendable {
    private(set) var records: [Record] = []
    private var lastNumber: UInt64 = 0
    /// The unsaved records; nil without storage.
    private var unsaved: Unsaved?
    /// False if no record can be redone.
    private(set) var hasUndone = false
    /// The maximum number of records; 0 disables the history.
    var limit = 1_000 {
        didSet { if records.count > limit { remove(records.count - limit) } }
    }
    /// The number of records that were removed because of the limits.
    private(set) var forgotten: UInt64 = 0
    /// Removed records, to be released outside the registry's lock: they may hold the last reference to a removed
    /// tweak.
    var released: [Record] = []
    /// The size of all records, in parts.
    private var weight = 0
    /// The maximum of `weight`; beyond it the oldest records are removed.
    private var maxWeight = History.defaultMaxWeight
    /// The numbers of the clients of records.
    private var clients: [String: Int] = [:]

    private static let defaultMaxWeight = 100_000
    /// The approximate size in memory of one part of a commit.
    private static let partBytes = 256
    /// Changes of a session to the same tweaks within this time are merged.
    private static let mergeInterval = Duration.milliseconds(500)
    /// Beyond this number of clients, all are numbered anew: each connection without a token is one of its own.
    private static let maxClients = 4_096
    /// A gesture ends after this time without a change: a slider is rarely held still for longer.
    private static let gestureInterval = Duration.seconds(60)

    // MARK: Recording

    /// Adds a commit, or merges it into the last record.
    mutating func append(_ commit: PendingCommit, revision: UInt64) {
        guard limit > 0, let kind = commit.kind else { return }
        if case .change = kind {
            if extendLast(commit, revision: revision) { return }
            dropUndone()
        }
        let parts = commit.rememberedParts
        if parts.isEmpty { return }
        lastNumber += 1
        let weight = parts.reduce(0) { $0 + $1.weight }
        makeRoom(for: weight)
        self.weight += weight
        // Amortized: removing moves all others, so an eighth of the records is removed at once.
        if records.count - limit >= limit / 8 { remove(records.count - limit + 1) }
        records.append(
            Record(
                number: lastNumber, revision: revision, time: commit.time, origin: commit.origin, kind: kind,
                parts: parts))
    }

    /// Merges a change into the last record if it continues that one.
    private mutating func extendLast(_ commit: PendingCommit, revision: UInt64) -> Bool {
        if commit.parts.count == 1, commit.parts[0].isPlain, let node = commit.parts[0].subject.node,
            extendLast(node, to: commit.parts[0].newValue, commit, revision: revision)
        {
            return true
        }
        let index = records.count - 1
        guard index >= 0, isContinued(by: commit), let places = records[index].places(of: commit.parts) else {
            return false
        }
        for (place, part) in zip(places, commit.parts) {
            if let place {
                weight += records[index].parts[place].extend(to: part)
            } else {
                let part = part.subject.isSecret ? part.redacted : part
                records[index].parts.append(part)
                weight += part.weight
            }
        }
        noteExtension(by: commit, revision)
        makeRoom(sparing: 1)
        return true
    }

    /// Merges a set of an override into the last record if that is a change of this tweak only, which it continues. A
    /// fast path for the most frequent change.
    mutating func extendLast(
        _ node: TweakNode, to value: TweakValue, _ commit: PendingCommit, revision: UInt64
    ) -> Bool {
        // Accessed by index: copying a record costs reference counting.
        let index = records.count - 1
        guard index >= 0, records[index].parts.count == 1, records[index].parts[0].subject.node === node,
            isContinued(by: commit)
        else { return false }
        let isText = node.definition.kind.mayBeLong
        if isText { weight -= records[index].parts[0].weight }
        records[index].parts[0].extend(to: value)
        noteExtension(by: commit, revision)
        if isText {
            weight += records[index].parts[0].weight
            makeRoom(sparing: 1)
        }
        return true
    }

    /// Whether a change continues the last record, if its tweaks allow that: it is made within half a second by the
    /// same session, or by the same gesture.
    private func isContinued(by commit: PendingCommit) -> Bool {
        let index = records.count - 1
        guard records[index].status == .done,
            case .change(let session, isStep: false, let gesture) = records[index].kind,
            case .change(let newSession, isStep: false, let newGesture)? = commit.kind, gesture == newGesture
        else { return false }
        let age = commit.time - records[index].time
        let isRecent =
            gesture == 0 ? session == newSession && age <= Self.mergeInterval : age <= Self.gestureInterval
        return isRecent && records[index].origin.isSameClient(as: commit.origin)
    }

    private mutating func noteExtension(by commit: PendingCommit, _ revision: UInt64) {
        let number = records[records.count - 1].extend(by: commit, revision)
        unsaved?.noteExtension(of: number)
    }

    /// Ends redo, after a new change.
    /// - Parameter number: The last record that it concerns.
    private mutating func dropUndone(upTo number: UInt64 = .max) {
        if !hasUndone { return }
        for index in records.indices where records[index].status == .undone && records[index].number <= number {
            records[index].status = .dropped
            unsaved?.noteStatus(of: records[index].number)
        }
        hasUndone = records.contains { $0.status == .undone }
    }

    // MARK: Making room

    /// Its approximate size in memory, in bytes.
    var memorySize: Int { weight * Self.partBytes }

    /// Whether all records together have more parts than this.
    func hasChanges(moreThan count: Int) -> Bool {
        // A part weighs at least 1.
        weight > count && records.reduce(0) { $0 + $1.parts.count } > count
    }

    /// Sets the memory limit, at most the default one.
    mutating func limit(bytes: Int) {
        maxWeight = max(min(bytes / Self.partBytes, Self.defaultMaxWeight), 1)
    }

    /// Removes records if the total weight is too high.
    /// - Parameters:
    ///   - weight: The weight of the record to be added.
    ///   - spared: The number of newest records that are never removed.
    private mutating func makeRoom(for weight: Int = 0, sparing spared: Int = 0) {
        if self.weight + weight <= maxWeight { return }
        // Amortized: small records come often, and removing from the front moves all others, so an eighth more is
        // removed.
        let slack = weight > 16 ? 0 : maxWeight / 8
        remove(self.weight + weight - maxWeight + slack, byWeight: true, sparing: spared)
    }

    /// Removes records, the oldest of the clients with the largest shares: no client displaces the records of others,
    /// unless it has fewer of them.
    /// - Parameters:
    ///   - excess: How many records to remove, or how much weight, at least.
    ///   - spared: The number of newest records that are never removed.
    private mutating func remove(_ excess: Int, byWeight: Bool = false, sparing spared: Int = 0) {
        numberClients()
        var shares = [Int](repeating: 0, count: clients.count)
        for index in records.indices { shares[records[index].client ?? 0] += byWeight ? records[index].weight : 1 }
        let most = shares.largestShare(keeping: shares.reduce(0, +) - excess)
        var rest = excess
        var position = 0
        var kept: [Record] = []
        while rest > 0, position < records.count - spared {
            let record = records[position]
            let client = record.client ?? 0
            position += 1
            if shares[client] > most {
                let size = byWeight ? record.weight : 1
                shares[client] -= size
                rest -= size
                weight -= record.weight
                released.append(record)
                forgotten += 1
            } else {
                kept.append(record)
            }
        }
        records.replaceSubrange(..<position, with: kept)
    }

    /// Numbers the clients of the records that came since the last removal: each record once, since it is costly to
    /// determine the client of an origin.
    private mutating func numberClients() {
        if clients.count > Self.maxClients {
            clients = [:]
            for index in records.indices { records[index].client = nil }
        }
        for index in records.indices where records[index].client == nil {
            if index > 0, records[index - 1].origin == records[index].origin {
                records[index].client = records[index - 1].client
                continue
            }
            let client = records[index].origin.client
            let number = clients[client] ?? clients.count
            clients[client] = number
            records[index].client = number
        }
    }

    // MARK: Undo and redo

    /// Marks a change as undone or redone.
    /// - Returns: Whether the commit is an undo or redo.
    mutating func mark(_ kind: CommitKind?) -> Bool {
        switch kind {
        case .undo(let number, _, _)?: mark(number, .undone)
        case .redo(let number, _, _)?: mark(number, .done)
        case .change?, .reload?, .expiry?, .preview?, nil: return false
        }
        return true
    }

    private mutating func mark(_ number: UInt64, _ status: Record.Status) {
        guard let index = records.lastIndex(where: { $0.number == number }) else { return }
        records[index].status = status
        unsaved?.noteStatus(of: number)
        if status == .undone {
            hasUndone = true
            records[index].undoneAt = lastNumber
        }
    }

    /// The revision of the commit that an undo or redo refers to; nil for other kinds.
    func targetRevision(of kind: CommitKind?) -> UInt64? {
        switch kind {
        case .undo(let number, _, _)?, .redo(let number, _, _)?: records.last { $0.number == number }?.revision
        case .change?, .reload?, .expiry?, .preview?, nil: nil
        }
    }

    // MARK: Loading

    /// Inserts the records of earlier runs before those of this one, and starts to track unsaved records.
    /// - Parameter raise: The revision that counting has continued from: those of this run's records are raised by it.
    mutating func load(_ older: [Record], raisingBy raise: UInt64) {
        let shift = older.last?.number ?? 0
        for index in records.indices {
            records[index].number += shift
            records[index].revision += raise
            records[index].undoneAt += shift
            records[index].kind = records[index].kind.shifted(by: shift)
        }
        lastNumber += shift
        let hasChanged = records.contains { $0.isChange }
        records = Self.withUndoneAt(older) + records
        weight = records.reduce(0) { $0 + $1.weight }
        hasUndone = records.contains { $0.status == .undone }
        // The file has more records than fit, which is no loss.
        let forgottenBefore = forgotten
        if records.count > limit { remove(records.count - limit) }
        forgotten = forgottenBefore
        unsaved = Unsaved(from: shift + 1)
        // The program has set values before the history was loaded, which ends redo of changes from earlier runs.
        if hasChanged, shift > 0 { dropUndone(upTo: shift) }
    }

    /// Restores `undoneAt` of undone records from the undo records; the file does not contain it.
    private static func withUndoneAt(_ records: [Record]) -> [Record] {
        if records.allSatisfy({ $0.status == .done }) { return records }
        var times: [UInt64: UInt64] = [:]
        for record in records {
            if case .undo(let number, _, _) = record.kind { times[number] = record.number }
        }
        return records.map { record in
            var record = record
            record.undoneAt = times[record.number] ?? record.number
            return record
        }
    }

    // MARK: Saving

    /// Whether there are unsaved records.
    var hasUnsaved: Bool {
        guard let unsaved else { return false }
        return unsaved.from <= lastNumber || !unsaved.marked.isEmpty
    }

    /// Returns the records to save, all or the unsaved ones, and the numbers of those with only a changed status.
    mutating func takeUnsaved(all: Bool) -> (records: [Record], marked: Set<UInt64>) {
        guard let unsaved else { return ([], []) }
        self.unsaved = Unsaved(from: lastNumber + 1)
        if all { return (records, []) }
        let start = records.lastIndex { $0.number < unsaved.from }.map { $0 + 1 } ?? 0
        let marked = unsaved.marked.filter { $0 < unsaved.from }
        if marked.isEmpty { return (Array(records[start...]), []) }
        return (records[..<start].filter { marked.contains($0.number) } + records[start...], marked)
    }

    /// Stops tracking unsaved records.
    mutating func endSaving() { unsaved = nil }

    /// Tracks the records that are new or changed since the last save.
    private struct Unsaved {
        /// The number of the first record that is new, or into which changes were merged.
        private(set) var from: UInt64
        /// The numbers of older records with a changed status.
        private(set) var marked: Set<UInt64> = []

        init(from number: UInt64) { from = number }

        /// Only the newest record is extended, so at most one before the first new one.
        mutating func noteExtension(of number: UInt64) { from = min(from, number) }

        mutating func noteStatus(of number: UInt64) { if number < from { marked.insert(number) } }
    }
}

extension CommitKind {
    /// The same kind with the number of its undone or redone commit shifted.
    fileprivate func shifted(by count: UInt64) -> CommitKind {
        switch self {
        case .undo(let number, let session, let choice): .undo(number + count, session: session, choice)
        case .redo(let number, let session, let choice): .redo(number + count, session: session, choice)
        case .change, .reload, .expiry, .preview: self
        }
    }
}

extension PendingCommit {
    /// The parts that the history records; those of secrets without values.
    fileprivate var rememberedParts: [CommitPart] {
        let isPlain = parts.allSatisfy { !$0.subject.isSecret && $0.isRemembered(kind) }
        return isPlain ? parts : parts.filter { $0.isRemembered(kind) }.map { $0.subject.isSecret ? $0.redacted : $0 }
    }
}
