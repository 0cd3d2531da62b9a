// The last commits of a registry, and which of them can be taken back.

/// Commits, oldest first, never more than a limit. Part of the registry's state.
package struct History: Sendable {
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
    /// Forgotten, and to be released outside the registry's lock: the last to know a tweak that is gone.
    var released: [Record] = []
    /// The size of all records, counted in parts.
    private(set) var weight = 0
    /// Large commits are kept as long as all together weigh no more than this.
    private(set) var mostWeight = History.usualWeight

    /// How many were remembered and are no longer, because there are newer ones.
    var forgotten: UInt64 { removed + UInt64(max(0, records.count - limit)) }

    /// The approximate size in memory of one part of a commit.
    private static let partBytes = 256

    /// Its approximate size in memory, in bytes.
    var heldBytes: Int { weight * Self.partBytes }

    /// Another limit for all together, no higher than the usual one.
    mutating func limit(bytes: Int) {
        mostWeight = max(min(bytes / Self.partBytes, Self.usualWeight), 1)
    }

    /// Weighs all records anew, after others were put before them.
    mutating func weigh() { weight = Self.weight(records[...]) }

    private static func weight(_ records: ArraySlice<Record>) -> Int {
        records.reduce(0) { $0 + $1.weight }
    }

    private mutating func removeOldest(_ count: Int) {
        weight -= Self.weight(records.prefix(count))
        released += records.prefix(count)
        records.removeFirst(count)
        removed += UInt64(count)
    }

    static let usualWeight = 100_000

    /// Changes that follow each other within this time are one.
    static let mergeInterval = Duration.milliseconds(500)
    /// Nobody holds a slider longer than this without moving it.
    static let gestureInterval = Duration.seconds(60)

    // MARK: Remembering

    /// Takes in a commit.
    mutating func append(_ commit: PendingCommit, revision: UInt64) {
        guard limit > 0, let kind = commit.kind else { return }
        if case .change = kind {
            if commit.parts.count == 1, commit.parts[0].isPlain, let node = commit.parts[0].subject.node,
                extendLast(node, to: commit.parts[0].newValue, commit, revision: revision)
            {
                return
            }
            if extend(commit, kind, revision) { return }
            forgetUndone()
        }
        let parts = commit.rememberedParts
        if parts.isEmpty { return }
        lastNumber += 1
        unsaved?.note(lastNumber)
        let weight = parts.reduce(0) { $0 + $1.weight }
        makeRoom(for: weight)
        self.weight += weight
        // Now and then, and then half of it: removing the first is moving all others.
        if records.count >= 2 * limit { removeOldest(records.count - limit + 1) }
        records.append(Record(lastNumber, revision, commit.moment, commit.origin, kind, .done, parts))
    }

    /// Forgets the oldest commits where all of them weigh too much, but never the newest ones.
    /// - Parameter weight: What is to come.
    private mutating func makeRoom(for weight: Int = 0, sparing spared: Int = 0) {
        if self.weight + weight <= mostWeight { return }
        // Small ones come often, and removing the first is moving all others: then an eighth more goes than has to.
        let slack = weight > 16 ? 0 : mostWeight / 8
        var excess = self.weight + weight - mostWeight + slack
        let count = records.dropLast(spared).prefix { record in
            defer { excess -= record.weight }
            return excess > 0
        }.count
        removeOldest(count)
    }

    /// Adds a change to an entry that it goes on.
    private mutating func extend(_ commit: PendingCommit, _ kind: CommitKind, _ revision: UInt64) -> Bool {
        guard let index = mergeable(commit, kind) else { return false }
        for position in commit.parts.indices {
            weight += records[index].parts[position].extend(to: commit.parts[position])
        }
        touch(index, revision, commit.moment)
        makeRoom(sparing: 1)
        return true
    }

    /// Adds an override that is set to the last entry, where that is of the same session and the same tweak, and just
    /// made: the most frequent change of all.
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

    /// Whether the last entry is of the same session and of this one tweak, and just made.
    private func isLast(_ node: TweakNode, of commit: PendingCommit) -> Bool {
        let index = records.count - 1
        // By index: a copy of an entry counts references.
        guard case .change(let session, isStep: false, gesture: 0) = records[index].kind,
            case .change(session, isStep: false, gesture: 0)? = commit.kind, records[index].status == .done,
            records[index].parts.count == 1, records[index].parts[0].subject.node === node
        else { return false }
        return commit.moment - records[index].moment <= Self.mergeInterval && records[index].origin == commit.origin
    }

    private func mergeable(_ commit: PendingCommit, _ kind: CommitKind) -> Int? {
        let list = commit.parts
        if list.count == 1, let part = list.first {
            return mergeable(kind, commit.moment, commit.origin) { Self.overlap($0, part) }
        }
        return mergeable(kind, commit.moment, commit.origin) { Self.overlap($0, list) }
    }

    private static func overlap(_ parts: [CommitPart], _ part: CommitPart) -> Overlap {
        if parts.count > mostCompared { return .overlapping }
        guard parts.contains(where: { $0.subject.isSame(as: part.subject) }) else { return .apart }
        return parts.count == 1 ? .same : .overlapping
    }

    private static func overlap(_ parts: [CommitPart], _ list: [CommitPart]) -> Overlap {
        // Of large ones only those that are the same, which is seen at once.
        if parts.count == list.count, list.indices.allSatisfy({ parts[$0].subject.isSame(as: list[$0].subject) }) {
            return .same
        }
        if parts.count > mostCompared || list.count > mostCompared { return .overlapping }
        let isOverlapping = parts.contains { part in list.contains { $0.subject.isSame(as: part.subject) } }
        return isOverlapping ? .overlapping : .apart
    }

    /// Notes that an entry has taken in a change, and puts it last: it is what undo takes back next.
    private mutating func touch(_ index: Int, _ revision: UInt64, _ moment: Moment) {
        records[index].revision = revision
        records[index].moment = moment
        unsaved?.note(records[index].number)
        if index < records.count - 1 { records[index].isInTurn = true }
        // Numbers stay in order; those between are changes that no other entry speaks of.
        for next in records.indices[(index + 1)...] {
            let (number, nextNumber) = (records[next - 1].number, records[next].number)
            records.swapAt(next - 1, next)
            (records[next - 1].number, records[next].number) = (number, nextNumber)
            unsaved?.note(nextNumber)
        }
    }

    /// How the tweaks of an entry and those of a change overlap.
    private enum Overlap { case same, overlapping, apart }

    /// So many entries are looked at, for one that a change goes on.
    private static let mostLookedAt = 16
    /// Entries of more tweaks are not compared with others.
    private static let mostCompared = 64

    /// The entry that a change goes on: of the same session, the same tweaks, and half a second ago at most. Where a
    /// program sets tweaks in turn, it need not be the last one; what came between has touched others.
    private func mergeable(
        _ kind: CommitKind, _ time: Moment, _ origin: TweakOrigin, where overlap: ([CommitPart]) -> Overlap
    ) -> Int? {
        guard case .change(_, isStep: false, let gesture) = kind, limit > 0 else { return nil }
        for index in records.indices.suffix(Self.mostLookedAt).reversed() {
            switch overlap(records[index].parts) {
            case .apart: continue
            case .overlapping: return nil
            case .same:
                guard records[index].origin == origin, isRecent(index, time, gesture),
                    isGesture(index, gesture)
                        || records[index].kind == kind && time - records[index].moment <= Self.mergeInterval
                else { return nil }
                let isLast = index == records.count - 1
                return isLast || records[index].isInTurn || isVolley(kind, time, origin) ? index : nil
            }
        }
        return nil
    }

    private func isGesture(_ index: Int, _ gesture: UInt64) -> Bool {
        if gesture != 0, case .change(_, _, gesture) = records[index].kind { true } else { false }
    }

    /// Whether an entry and all behind it are changes that still stand, none of them old. Looked at last: most entries
    /// speak of other tweaks, which is cheap to see.
    private func isRecent(_ index: Int, _ time: Moment, _ gesture: UInt64) -> Bool {
        records.indices[index...].allSatisfy { index in
            let age = time - records[index].moment
            guard records[index].isChange, records[index].status == .done, age <= Self.gestureInterval,
                case .node? = records[index].parts.first?.subject
            else { return false }
            return gesture != 0 || age <= Self.mergeInterval || isGesture(index, gesture)
        }
    }

    /// Whether a session has just made so many entries within half a second that no hand does: before that, each thing
    /// that a person does is to be taken back by itself.
    private func isVolley(_ kind: CommitKind, _ time: Moment, _ origin: TweakOrigin) -> Bool {
        let last = records.suffix(Self.volley)
        return last.count == Self.volley && last.allSatisfy { $0.kind == kind && $0.origin == origin }
            && last.first.map { time - $0.moment <= Self.mergeInterval } ?? false
    }

    private static let volley = 8

    /// A new change ends redo.
    private mutating func forgetUndone() {
        if !hasUndone { return }
        hasUndone = false
        for index in records.indices where records[index].status == .undone {
            records[index].status = .dropped
            unsaved?.mark(records[index].number)
        }
    }
}

extension PendingCommit {
    /// What the history keeps of it: of secrets no values.
    fileprivate var rememberedParts: [CommitPart] {
        let isPlain = parts.allSatisfy { !$0.subject.isSecret && $0.isRemembered(kind) }
        return isPlain ? parts : parts.filter { $0.isRemembered(kind) }.map { $0.subject.isSecret ? $0.redacted : $0 }
    }
}
