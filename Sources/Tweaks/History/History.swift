// Records the last commits of a registry, and merges changes in quick succession.

/// A bounded list of commits, oldest first. Part of the registry's state.
package struct History: Sendable {
    var records: [Record] = []
    var lastNumber: UInt64 = 0
    /// The unsaved records; nil without storage.
    var unsaved: Unsaved?
    var hasUndone = false
    /// The maximum number of records; 0 disables the history.
    var limit = 1_000 {
        didSet { if records.count > limit { remove(records.count - limit) { _ in 1 } } }
    }
    /// The number of records that were removed because of the limits.
    var removed: UInt64 = 0
    /// Removed records, to be released outside the registry's lock: they may hold the last reference to a removed
    /// tweak.
    var released: [Record] = []
    /// The size of all records, in parts.
    private(set) var weight = 0
    /// The maximum of `weight`; beyond it the oldest records are removed.
    private(set) var maxWeight = History.defaultMaxWeight
    private var clients = ClientNumbers()

    /// The number of records that were removed because of the limits.
    var forgotten: UInt64 { removed }

    /// The approximate size in memory of one part of a commit.
    private static let partBytes = 256

    /// Its approximate size in memory, in bytes.
    var memorySize: Int { weight * Self.partBytes }

    /// Sets the memory limit, at most the default one.
    mutating func limit(bytes: Int) {
        maxWeight = max(min(bytes / Self.partBytes, Self.defaultMaxWeight), 1)
    }

    /// Whether all records together have more parts than this.
    func hasChanges(moreThan count: Int) -> Bool {
        var rest = count
        for index in records.indices {
            rest -= records[index].parts.count
            if rest < 0 { return true }
        }
        return false
    }

    /// Recomputes the weight, after records were inserted.
    mutating func updateWeight() { weight = Self.weight(records[...]) }

    private static func weight(_ records: ArraySlice<Record>) -> Int {
        records.reduce(0) { $0 + $1.weight }
    }

    /// Removes records, the oldest of the clients with the largest shares: no client displaces the records of others,
    /// unless it has fewer of them.
    /// - Parameters:
    ///   - excess: How much to remove, at least.
    ///   - spared: The number of newest records that are never removed.
    ///   - size: The size of a record.
    mutating func remove(_ excess: Int, sparing spared: Int = 0, _ size: (Record) -> Int) {
        var shares = [Int](repeating: 0, count: clients.count)
        for index in records.indices { shares[records[index].client] += size(records[index]) }
        let most = Self.largestShare(shares, total: shares.reduce(0, +) - excess)
        var (excess, position, kept): (Int, Int, [Record]) = (excess, 0, [])
        let end = records.count - spared
        while excess > 0, position < end {
            let record = records[position]
            position += 1
            if shares[record.client] > most {
                shares[record.client] -= size(record)
                excess -= size(record)
                weight -= record.weight
                released.append(record)
                removed += 1
            } else {
                kept.append(record)
            }
        }
        records.replaceSubrange(..<position, with: kept)
    }

    /// Numbers the clients of records from 0, so that counting by client is cheap.
    private struct ClientNumbers {
        private var origins: [TweakOrigin: Int] = [:]
        private var clients: [String: Int] = [:]
        private var last: (origin: TweakOrigin, number: Int)?

        /// The number of clients so far.
        var count: Int { clients.count }
        /// Each connection of a client without a token has an origin of its own.
        var hasManyOrigins: Bool { origins.count > 4_096 }

        mutating func number(of origin: TweakOrigin) -> Int {
            if let last, last.origin == origin { return last.number }
            let number = origins[origin] ?? add(origin)
            last = (origin, number)
            return number
        }

        private mutating func add(_ origin: TweakOrigin) -> Int {
            let client = origin.client
            let number = clients[client] ?? clients.count
            clients[client] = number
            origins[origin] = number
            return number
        }
    }

    /// Numbers the clients of all records again.
    mutating func renumberClients() {
        clients = ClientNumbers()
        for index in records.indices { records[index].client = clients.number(of: records[index].origin) }
    }

    /// The share that each client may keep, so that all together keep a total.
    private static func largestShare(_ shares: [Int], total: Int) -> Int {
        var rest = total
        for (position, share) in shares.sorted().enumerated() {
            let most = max(0, rest) / (shares.count - position)
            if share > most { return most }
            rest -= share
        }
        return 0
    }

    static let defaultMaxWeight = 100_000

    /// Changes of a session to the same tweaks within this time are merged.
    static let mergeInterval = Duration.milliseconds(500)
    /// A gesture ends after this time without a change: a slider is rarely held still for longer.
    static let gestureInterval = Duration.seconds(60)

    // MARK: Recording

    /// Adds a commit, or merges it into a record.
    mutating func append(_ commit: PendingCommit, revision: UInt64) {
        guard limit > 0, let kind = commit.kind else { return }
        if case .change = kind {
            if commit.parts.count == 1, commit.parts[0].isPlain, let node = commit.parts[0].subject.node,
                extendLast(node, to: commit.parts[0].newValue, commit, revision: revision)
            {
                return
            }
            if extend(commit, kind, revision) { return }
            dropUndone()
        }
        let parts = commit.rememberedParts
        if parts.isEmpty { return }
        lastNumber += 1
        unsaved?.note(lastNumber)
        let weight = parts.reduce(0) { $0 + $1.weight }
        makeRoom(for: weight)
        self.weight += weight
        // Amortized: removing moves all others, so an eighth of the records is removed at once.
        if records.count - limit >= limit / 8 { remove(records.count - limit + 1) { _ in 1 } }
        if clients.hasManyOrigins { renumberClients() }
        var record = Record(lastNumber, revision, commit.moment, commit.origin, kind, .done, parts)
        record.client = clients.number(of: commit.origin)
        records.append(record)
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
        remove(self.weight + weight - maxWeight + slack, sparing: spared) { $0.weight }
    }

    /// Merges a change into a record that it continues. Returns false if there is none.
    private mutating func extend(_ commit: PendingCommit, _ kind: CommitKind, _ revision: UInt64) -> Bool {
        guard let index = mergeable(commit, kind) else { return false }
        records[index].share(with: commit.origin)
        for position in commit.parts.indices {
            weight += records[index].parts[position].extend(to: commit.parts[position])
        }
        moveToEnd(index, revision, commit.moment)
        makeRoom(sparing: 1)
        return true
    }

    /// Merges a set of an override into the last record, if that is a recent change of the same session and tweak. A
    /// fast path for the most frequent change.
    mutating func extendLast(
        _ node: TweakNode, to value: TweakValue, _ commit: PendingCommit, revision: UInt64
    ) -> Bool {
        let index = records.count - 1
        guard index >= 0, isLast(node, of: commit) else { return false }
        let isText = node.definition.kind.mayBeLong
        if isText { weight -= records[index].parts[0].weight }
        records[index].parts[0].extend(to: value)
        (records[index].revision, records[index].moment) = (revision, commit.moment)
        unsaved?.note(records[index].number)
        if isText {
            weight += records[index].parts[0].weight
            makeRoom(sparing: 1)
        }
        return true
    }

    /// Whether the last record is a recent change of the same session and of this tweak only.
    private func isLast(_ node: TweakNode, of commit: PendingCommit) -> Bool {
        let index = records.count - 1
        // Accessed by index: copying a record costs reference counting.
        guard case .change(let session, isStep: false, gesture: 0) = records[index].kind,
            case .change(session, isStep: false, gesture: 0)? = commit.kind, records[index].status == .done,
            records[index].parts.count == 1, records[index].parts[0].subject.node === node
        else { return false }
        return commit.moment - records[index].moment <= Self.mergeInterval && records[index].origin == commit.origin
    }

    private func mergeable(_ commit: PendingCommit, _ kind: CommitKind) -> Int? {
        let list = commit.parts
        if list.count == 1, let part = list.first {
            return mergeable(commit, kind) { Self.overlap($0, part) }
        }
        return mergeable(commit, kind) { Self.overlap($0, list) }
    }

    private static func overlap(_ parts: [CommitPart], _ part: CommitPart) -> Overlap {
        if parts.count > maxComparedParts { return .overlapping }
        guard parts.contains(where: { $0.subject.isSame(as: part.subject) }) else { return .apart }
        return parts.count == 1 ? .same : .overlapping
    }

    private static func overlap(_ parts: [CommitPart], _ list: [CommitPart]) -> Overlap {
        // Large lists are only compared for equality, which is fast.
        if parts.count == list.count, list.indices.allSatisfy({ parts[$0].subject.isSame(as: list[$0].subject) }) {
            return .same
        }
        if parts.count > maxComparedParts || list.count > maxComparedParts { return .overlapping }
        let isOverlapping = parts.contains { part in list.contains { $0.subject.isSame(as: part.subject) } }
        return isOverlapping ? .overlapping : .apart
    }

    /// Updates a record after a merge and moves it to the end: undo applies to it next.
    private mutating func moveToEnd(_ index: Int, _ revision: UInt64, _ moment: Moment) {
        records[index].revision = revision
        records[index].moment = moment
        unsaved?.note(records[index].number)
        if index < records.count - 1 { records[index].isInterleaved = true }
        // Numbers stay in order. The records in between concern other tweaks, so their order does not matter.
        for next in records.indices[(index + 1)...] {
            let (number, nextNumber) = (records[next - 1].number, records[next].number)
            records.swapAt(next - 1, next)
            (records[next - 1].number, records[next].number) = (number, nextNumber)
            unsaved?.note(nextNumber)
        }
    }

    /// How the tweaks of a record and those of a change overlap.
    private enum Overlap { case same, overlapping, apart }

    /// The maximum number of records searched for one to merge with.
    private static let mergeSearchDepth = 16
    /// Records of more tweaks are not compared in detail.
    private static let maxComparedParts = 64

    /// The record that a change continues: of the same session and the same tweaks, at most half a second old.
    ///
    /// If a program sets tweaks in turn, it need not be the last one; the records in between concern other tweaks.
    private func mergeable(
        _ commit: PendingCommit, _ kind: CommitKind, where overlap: ([CommitPart]) -> Overlap
    ) -> Int? {
        let (time, origin) = (commit.moment, commit.origin)
        guard case .change(_, isStep: false, let gesture) = kind, limit > 0 else { return nil }
        for index in records.indices.suffix(Self.mergeSearchDepth).reversed() {
            switch overlap(records[index].parts) {
            case .apart: continue
            case .overlapping: return nil
            case .same:
                guard records[index].isBySameClient(as: origin), isRecent(index, time, gesture),
                    isGesture(index, gesture)
                        || records[index].kind == kind && time - records[index].moment <= Self.mergeInterval
                else { return nil }
                let isLast = index == records.count - 1
                return isLast || records[index].isInterleaved || isBurst(kind, time, origin) ? index : nil
            }
        }
        return nil
    }

    private func isGesture(_ index: Int, _ gesture: UInt64) -> Bool {
        if gesture != 0, case .change(_, _, gesture) = records[index].kind { true } else { false }
    }

    /// Whether a record and all later ones are recent changes that are not undone. Checked last: most records concern
    /// other tweaks, which is cheaper to detect.
    private func isRecent(_ index: Int, _ time: Moment, _ gesture: UInt64) -> Bool {
        records.indices[index...].allSatisfy { index in
            let age = time - records[index].moment
            guard records[index].isChange, records[index].status == .done, age <= Self.gestureInterval,
                case .node? = records[index].parts.first?.subject
            else { return false }
            return gesture != 0 || age <= Self.mergeInterval || isGesture(index, gesture)
        }
    }

    /// Whether a session has just made so many records within half a second that it must be a program. Changes by hand
    /// stay separate, so that each can be undone.
    private func isBurst(_ kind: CommitKind, _ time: Moment, _ origin: TweakOrigin) -> Bool {
        let last = records.suffix(Self.burstLength)
        return last.count == Self.burstLength && last.allSatisfy { $0.kind == kind && $0.isBySameClient(as: origin) }
            && last.first.map { time - $0.moment <= Self.mergeInterval } ?? false
    }

    private static let burstLength = 8

    /// Ends redo, after a new change.
    private mutating func dropUndone() {
        if !hasUndone { return }
        hasUndone = false
        for index in records.indices where records[index].status == .undone {
            records[index].status = .dropped
            unsaved?.mark(records[index].number)
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
