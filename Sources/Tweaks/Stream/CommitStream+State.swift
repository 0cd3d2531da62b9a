// Knows which records wait for whom, and makes room where they are too many.

extension CommitStream {
    struct Follower {
        let overflow: Overflow
        let wake: Wake
        /// The first record that it has not read.
        var cursor: UInt64
        /// Whether it is to be woken by the next record.
        var isAsleep = true
        var fold: FoldingQueue?
        var lost = Lost()
    }

    struct State {
        /// With rising sequences; gaps are records that all have read, or that were dropped.
        var records: [CommitRecord] = []
        var bytes = 0
        /// The sequence that comes next.
        var next: UInt64 = 0
        var followers: [Follower?] = []
        var hasEnded = false
    }
}

// MARK: - Reading

extension CommitStream.State {
    /// The records that a follower has not read, and those that no follower needs any more.
    mutating func take(
        _ place: Int, staysAwake: Bool
    ) -> (batch: CommitStream.Batch, read: [CommitRecord]) {
        var batch = CommitStream.Batch(isLast: hasEnded)
        // By parts: a copy of a follower counts references.
        guard let cursor = followers[place]?.cursor else { return (batch, []) }
        batch.folded = followers[place]?.fold.take()
        if let lost = followers[place]?.lost, !lost.isEmpty {
            batch.lost = lost
            followers[place]?.lost = CommitStream.Lost()
        }
        followers[place]?.isAsleep = !staysAwake
        if cursor >= next { return (batch, []) }
        let start = position(of: cursor)
        followers[place]?.cursor = next
        if start == 0, firstUnread == nil {
            swap(&batch.records, &records)
            bytes = 0
            return (batch, [])
        }
        batch.records = Array(records[start...])
        return (batch, takeRead())
    }

    /// Where the first record stands that is no older.
    private func position(of sequence: UInt64) -> Int {
        var (low, high) = (0, records.count)
        while low < high {
            let middle = (low + high) / 2
            if records[middle].sequence < sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }

    /// The oldest sequence that a follower has not read; nil where all have read all.
    private var firstUnread: UInt64? {
        var first = next
        for place in followers.indices { if let cursor = followers[place]?.cursor, cursor < first { first = cursor } }
        return first == next ? nil : first
    }

    /// Takes out what everyone has read.
    mutating func takeRead() -> [CommitRecord] {
        let count = firstUnread.map { position(of: $0) } ?? records.count
        return count == 0 ? [] : takeOut(0..<count)
    }

    private mutating func takeOut(_ range: Range<Int>) -> [CommitRecord] {
        let taken = Array(records[range])
        records.removeSubrange(range)
        for record in taken { bytes -= record.heldBytes }
        return taken
    }

    mutating func takeSleepers() -> [CommitStream.Wake] {
        var wakes: [CommitStream.Wake] = []
        for place in followers.indices where followers[place]?.isAsleep == true {
            followers[place]?.isAsleep = false
            if let wake = followers[place]?.wake { wakes.append(wake) }
        }
        return wakes
    }
}

// MARK: - Making room

extension CommitStream.State {
    /// Gives up records until they fit. Who is furthest behind goes on without them first: those that read have each.
    mutating func makeRoom() -> [CommitRecord] {
        var released: [CommitRecord] = []
        // One alone stays, however large: who reads next has it whole.
        while bytes > CommitStream.limit, records.count > 1, let place = furthestBehind {
            catchUp(place)
            released += takeRead()
        }
        while bytes > CommitStream.limit, records.count > 1 { released += dropHeaviest() }
        return released
    }

    /// Of the followers that may go on at the end, the one with the oldest record.
    private var furthestBehind: Int? {
        var (found, oldest): (Int?, UInt64) = (nil, next)
        for place in followers.indices {
            guard let follower = followers[place], follower.overflow != .drops, follower.cursor < oldest else {
                continue
            }
            (found, oldest) = (place, follower.cursor)
        }
        return found
    }

    /// Has a follower go on at the end, with a fold or anew.
    private mutating func catchUp(_ place: Int) {
        guard let follower = followers[place] else { return }
        switch follower.overflow {
        case .drops: return
        case .restarts: followers[place]?.lost.note(records.last?.revision ?? 0)
        case .folds:
            var fold = followers[place]?.fold.take() ?? FoldingQueue(threshold: 0)
            for record in records[position(of: follower.cursor)...] {
                record.forEachChange { fold.append($0) }
            }
            followers[place]?.fold = fold.isEmpty ? nil : fold
        }
        followers[place]?.cursor = next
    }

    /// Drops a quarter of all, of those origins that have the most what is oldest; what the program does itself counts
    /// fourfold. The newest commit stays.
    private mutating func dropHeaviest() -> [CommitRecord] {
        var shares: [String: Int] = [:]
        for record in records.dropLast() { shares[record.origin.identity, default: 0] += record.share }
        let most = Self.level(shares.values)
        var (dropped, kept): ([CommitRecord], [CommitRecord]) = ([], [])
        for record in records.dropLast() {
            let origin = record.origin.identity
            guard let share = shares[origin], share > most else {
                kept.append(record)
                continue
            }
            shares[origin] = share - record.share
            bytes -= record.heldBytes
            dropped.append(record)
        }
        records = kept + records.suffix(1)
        for record in dropped { noteLost(record) }
        return dropped
    }

    /// What each may keep, so that all together keep three quarters of what they have.
    private static func level(_ shares: some Collection<Int>) -> Int {
        var rest = shares.reduce(0, +) / 4 * 3
        for (position, share) in shares.sorted().enumerated() {
            let most = rest / (shares.count - position)
            if share > most { return most }
            rest -= share
        }
        return 0
    }

    private mutating func noteLost(_ record: CommitRecord) {
        for place in followers.indices {
            guard let cursor = followers[place]?.cursor, cursor <= record.sequence else { continue }
            followers[place]?.lost.note(record.revision)
        }
    }
}

extension CommitRecord {
    /// What it counts of its origin's share.
    fileprivate var share: Int { kind?.session == nil ? 4 * heldBytes : heldBytes }

    /// Calls `body` with each change, as those see it who watch.
    package func forEachChange(_ body: (WatchedChange) -> Void) {
        for part in parts {
            if let change = WatchedChange(part, of: self) { body(change) }
        }
    }
}
