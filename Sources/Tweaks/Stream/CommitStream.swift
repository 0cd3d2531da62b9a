// Keeps the last commits for those who follow them, each with a cursor of its own.

import Synchronization

/// The records of a registry's commits, in order, as far as a follower has not read them.
///
/// It holds a mebibyte of them, whatever its followers do. For one that falls behind further it makes a fold, or counts
/// what is lost; of several origins the one that has the most loses first, and the program's own loops before people. It
/// outlives the registry until its followers have read what there is.
package final class CommitStream: Sendable {
    /// What becomes of a follower for which there is no more room.
    package enum Overflow: Sendable {
        /// What it has not read is folded: of each tweak the newest value, with the oldest and the number.
        case folds
        /// It is told, and looks at the whole state instead.
        case restarts
        /// Commits are lost, and counted.
        case drops
    }

    /// Wakes a follower; called outside all locks, on the thread of a commit.
    package typealias Wake = @Sendable () -> Void

    fileprivate struct Follower {
        let overflow: Overflow
        let wake: Wake
        /// The first record that it has not read.
        var cursor: UInt64
        /// Whether it is to be woken by the next record.
        var isAsleep = true
        var fold: FoldingQueue?
        var lost = Lost()
    }

    /// Commits that were not read.
    package struct Lost: Sendable {
        package fileprivate(set) var count = 0
        /// The revisions of the first and the last.
        package fileprivate(set) var revisions: ClosedRange<UInt64> = 0...0
        /// Whether anything was.
        package var isEmpty: Bool { count == 0 }

        fileprivate mutating func note(_ revision: UInt64) {
            revisions = (count == 0 ? revision : revisions.lowerBound)...max(revisions.upperBound, revision)
            count += 1
        }
    }

    /// What a follower has not read yet, oldest first.
    package struct Batch: Sendable {
        /// What came before the records, where it had fallen behind.
        package var folded: FoldingQueue?
        package var records: [CommitRecord] = []
        package fileprivate(set) var lost = Lost()
        /// No more will come.
        package fileprivate(set) var isLast = false

        package var isEmpty: Bool { records.isEmpty && folded == nil && lost.isEmpty }
    }

    /// So many bytes of records wait at most; one larger commit does alone.
    static let limit = 1_048_576

    fileprivate struct State {
        /// With rising sequences; gaps are what others have read, or nobody will.
        var records: [CommitRecord] = []
        var bytes = 0
        /// The sequence that comes next.
        var next: UInt64 = 0
        var followers: [Follower?] = []
        var hasEnded = false
    }

    private let state = Mutex(State())
    private let following = Atomic(0)

    init() {}

    /// Whether a record is worth making.
    var isFollowed: Bool { followerCount > 0 }
    var followerCount: Int { following.load(ordering: .relaxed) }

    // MARK: Under the registry's lock

    /// Adds a commit.
    /// - Parameter released: What is given up, which may hold objects of the program.
    /// - Returns: The followers that sleep, to be woken.
    func append(_ record: CommitRecord, _ released: inout [any Sendable]) -> [Wake] {
        state.withLock { state in
            state.next = record.sequence + 1
            state.bytes += record.heldBytes
            state.records.append(record)
            if state.bytes > Self.limit { released.append(state.makeRoom()) }
            return state.takeSleepers()
        }
    }

    /// Begins to follow behind a record.
    func follow(_ overflow: Overflow, after sequence: UInt64, _ wake: @escaping Wake) -> CommitFollower {
        let place = state.withLock { state in
            let follower = Follower(overflow: overflow, wake: wake, cursor: sequence + 1)
            if let free = state.followers.firstIndex(where: { $0 == nil }) {
                state.followers[free] = follower
                return free
            }
            state.followers.append(follower)
            return state.followers.count - 1
        }
        following.add(1, ordering: .relaxed)
        return CommitFollower(self, place)
    }

    // MARK: On any thread

    /// No more commits will come.
    func end() {
        let wakes = state.withLock { state in
            state.hasEnded = true
            return state.followers.compactMap { $0?.wake }
        }
        for wake in wakes { wake() }
    }

    fileprivate func take(_ place: Int, staysAwake: Bool) -> (batch: Batch, read: [CommitRecord]) {
        state.withLock { $0.take(place, staysAwake: staysAwake) }
    }

    fileprivate func hasNews(_ place: Int) -> Bool {
        state.withLock { state in
            guard let follower = state.followers[place] else { return false }
            return follower.fold != nil || !follower.lost.isEmpty
                || (state.records.last?.sequence ?? 0) >= follower.cursor
        }
    }

    fileprivate func leave(_ place: Int) {
        let released = state.withLock { state in
            defer { state.followers[place] = nil }
            return state.followers[place]
        }
        if released != nil { following.subtract(1, ordering: .relaxed) }
        let records = state.withLock { $0.takeRead() }
        withExtendedLifetime((released, records)) {}
    }
}

/// One that follows the commits of a registry, until it is let go of.
package final class CommitFollower: Sendable {
    private let stream: CommitStream
    private let place: Int

    fileprivate init(_ stream: CommitStream, _ place: Int) { (self.stream, self.place) = (stream, place) }

    deinit { stream.leave(place) }

    /// Takes what it has not read.
    /// - Parameter staysAwake: It comes back by itself; else the next commit wakes it.
    package func take(staysAwake: Bool = false) -> CommitStream.Batch {
        stream.take(place, staysAwake: staysAwake).batch
    }

    /// The same under the registry's lock.
    /// - Parameter released: What is given up, which may hold objects of the program.
    func take(_ released: inout [any Sendable]) -> CommitStream.Batch {
        let (batch, read) = stream.take(place, staysAwake: false)
        released.append(read)
        return batch
    }

    /// Whether there is something to take.
    package var hasNews: Bool { stream.hasNews(place) }
}

// MARK: - Reading

extension CommitStream.State {
    /// What a follower has not read, and what nobody needs any more.
    fileprivate mutating func take(
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
    fileprivate mutating func takeRead() -> [CommitRecord] {
        let count = firstUnread.map { position(of: $0) } ?? records.count
        return count == 0 ? [] : takeOut(0..<count)
    }

    private mutating func takeOut(_ range: Range<Int>) -> [CommitRecord] {
        let taken = Array(records[range])
        records.removeSubrange(range)
        for record in taken { bytes -= record.heldBytes }
        return taken
    }

    fileprivate mutating func takeSleepers() -> [CommitStream.Wake] {
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
    /// Gives up records until they fit.
    fileprivate mutating func makeRoom() -> [CommitRecord] {
        for place in followers.indices { catchUp(place) }
        var released = takeRead()
        while bytes > CommitStream.limit, records.count > 1 { released += dropHeaviest() }
        return released
    }

    /// Has a follower go on at the end, with a fold or anew, if it may.
    private mutating func catchUp(_ place: Int) {
        guard let follower = followers[place], follower.cursor < next else { return }
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

    /// Drops the older half of what the origin has that has the most; what the program does itself counts fourfold.
    private mutating func dropHeaviest() -> [CommitRecord] {
        var weights: [String: Int] = [:]
        for record in records.dropLast() { weights[record.origin.identity, default: 0] += record.share }
        guard let heaviest = weights.max(by: { ($0.value, $0.key) < ($1.value, $1.key) }) else { return [] }
        var (dropped, excess) = ([CommitRecord](), heaviest.value / 2 + 1)
        let last = records.count - 1
        var kept: [CommitRecord] = []
        for (position, record) in records.enumerated() {
            guard position < last, excess > 0, record.origin.identity == heaviest.key else {
                kept.append(record)
                continue
            }
            excess -= record.share
            bytes -= record.heldBytes
            dropped.append(record)
        }
        records = kept
        for record in dropped { noteLost(record) }
        return dropped
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

extension TweakRegistry {
    /// Begins to follow the commits from now on.
    package func follow(
        _ overflow: CommitStream.Overflow, _ wake: @escaping CommitStream.Wake
    ) -> CommitFollower {
        state.withLock { $0.stream.follow(overflow, after: $0.sequence, wake) }
    }
}
