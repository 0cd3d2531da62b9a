// Buffers the last commits for followers, each with its own cursor, and frees memory when the limit is exceeded.

import Synchronization

/// The records of a registry's commits, in order, that at least one follower has not read.
///
/// It holds at most one mebibyte of them. For a follower that falls further behind it folds the changes, or drops
/// records and counts them: first those of the origins with the largest shares, where the program counts more than
/// clients. It outlives the registry until its followers have read everything.
package final class CommitStream: Sendable {
    /// The handling of a follower whose unread records exceed the limit.
    package enum Overflow: Sendable {
        /// Folds its unread changes: for each tweak the newest value, the oldest previous value, and the number of
        /// changes.
        case folds
        /// Reports the loss, so that it rereads the whole state.
        case restarts
        /// Drops commits and counts them.
        case drops
    }

    /// Wakes a follower. Called outside all locks, on the committing thread.
    package typealias Wake = @Sendable () -> Void

    /// The commits that a follower has lost.
    package struct Lost: Sendable {
        package fileprivate(set) var count = 0
        /// The revisions of the first and the last one.
        package fileprivate(set) var revisions: ClosedRange<UInt64> = 0...0
        /// Whether none was lost.
        package var isEmpty: Bool { count == 0 }

        mutating func note(_ revision: UInt64) {
            revisions =
                count == 0
                ? revision...revision : min(revisions.lowerBound, revision)...max(revisions.upperBound, revision)
            count += 1
        }
    }

    /// The unread commits of a follower, oldest first.
    package struct Batch: Sendable {
        /// The folded changes before the records, if the follower had fallen behind.
        package var folded: FoldingQueue?
        package var records: [CommitRecord] = []
        package var lost = Lost()
        /// Whether the stream has ended.
        package var isLast = false

        package var isEmpty: Bool { records.isEmpty && folded == nil && lost.isEmpty }
    }

    /// The maximum size of the buffered records, in bytes; a single record may be larger.
    static let limit = 1_048_576

    private let state = Mutex(State())
    private let following = Atomic(0)

    init() {}

    /// Whether there is a follower, so that records are needed.
    var isFollowed: Bool { followerCount > 0 }
    var followerCount: Int { following.load(ordering: .relaxed) }

    // MARK: Under the registry's lock

    /// Adds a commit.
    /// - Parameter released: Receives removed records, which may own objects of the program.
    /// - Returns: The callbacks of the waiting followers.
    func append(_ record: CommitRecord, _ released: inout [any Sendable]) -> [Wake] {
        state.withLock { state in
            state.next = record.sequence + 1
            state.bytes += record.memorySize
            state.records.append(record)
            if state.bytes > Self.limit { released.append(state.makeRoom()) }
            return state.takeSleepers()
        }
    }

    /// Adds a follower that starts after a record.
    func follow(_ overflow: Overflow, after sequence: UInt64, _ wake: @escaping Wake) -> CommitFollower {
        let slot = state.withLock { state in
            let follower = Follower(overflow: overflow, wake: wake, cursor: sequence + 1)
            if let free = state.followers.firstIndex(where: { $0 == nil }) {
                state.followers[free] = follower
                return free
            }
            state.followers.append(follower)
            return state.followers.count - 1
        }
        following.add(1, ordering: .relaxed)
        return CommitFollower(self, slot)
    }

    // MARK: On any thread

    /// Ends the stream and wakes all followers.
    func end() {
        let wakes = state.withLock { state in
            state.hasEnded = true
            return state.followers.compactMap { $0?.wake }
        }
        for wake in wakes { wake() }
    }

    fileprivate func drain(_ slot: Int, staysAwake: Bool) -> (batch: Batch, read: [CommitRecord]) {
        state.withLock { $0.drain(slot, staysAwake: staysAwake) }
    }

    fileprivate func hasUpdates(_ slot: Int) -> Bool {
        state.withLock { state in
            guard let follower = state.followers[slot] else { return false }
            return follower.fold != nil || !follower.lost.isEmpty
                || (state.records.last?.sequence ?? 0) >= follower.cursor
        }
    }

    fileprivate func unreadCount(_ slot: Int) -> Int { state.withLock { $0.unreadCount(slot) } }

    fileprivate func removeFollower(_ slot: Int) {
        let released = state.withLock { state in
            defer { state.followers[slot] = nil }
            return state.followers[slot]
        }
        if released != nil { following.subtract(1, ordering: .relaxed) }
        let records = state.withLock { $0.removeRead() }
        withExtendedLifetime((released, records)) {}
    }
}

/// A follower of a registry's commits; it is removed when it is released.
package final class CommitFollower: Sendable {
    private let stream: CommitStream
    private let slot: Int

    fileprivate init(_ stream: CommitStream, _ slot: Int) { (self.stream, self.slot) = (stream, slot) }

    deinit { stream.removeFollower(slot) }

    /// Returns the unread commits and moves the cursor behind them.
    /// - Parameter staysAwake: Whether the follower calls again by itself; otherwise the next commit wakes it.
    package func drain(staysAwake: Bool = false) -> CommitStream.Batch {
        stream.drain(slot, staysAwake: staysAwake).batch
    }

    /// Returns the unread commits, under the registry's lock.
    /// - Parameter released: Receives removed records, which may own objects of the program.
    func drain(_ released: inout [any Sendable]) -> CommitStream.Batch {
        let (batch, read) = stream.drain(slot, staysAwake: false)
        released.append(read)
        return batch
    }

    /// The number of unread commits.
    package var unreadCount: Int { stream.unreadCount(slot) }

    /// Whether there are unread commits.
    package var hasUpdates: Bool { stream.hasUpdates(slot) }
}

extension TweakRegistry {
    /// Adds a follower of all later commits.
    package func follow(
        _ overflow: CommitStream.Overflow, _ wake: @escaping CommitStream.Wake
    ) -> CommitFollower {
        state.withLock { $0.stream.follow(overflow, after: $0.sequence, wake) }
    }
}

extension CommitStream {
    struct Follower {
        let overflow: Overflow
        let wake: Wake
        /// The sequence of the first unread record.
        var cursor: UInt64
        /// Whether the next record wakes it.
        var isAsleep = true
        var fold: FoldingQueue?
        var lost = Lost()
    }

    struct State {
        /// Records with increasing sequences; gaps are records that all followers have read, or that were dropped.
        var records: [CommitRecord] = []
        var bytes = 0
        /// The sequence of the next record.
        var next: UInt64 = 0
        var followers: [Follower?] = []
        var hasEnded = false
    }
}

// MARK: - Reading

extension CommitStream.State {
    /// Returns the unread records of a follower, and the removed records that no follower needs any more.
    mutating func drain(
        _ slot: Int, staysAwake: Bool
    ) -> (batch: CommitStream.Batch, read: [CommitRecord]) {
        var batch = CommitStream.Batch(isLast: hasEnded)
        // Reads single properties: copying a follower costs reference counting.
        guard let cursor = followers[slot]?.cursor else { return (batch, []) }
        batch.folded = followers[slot]?.fold.take()
        if let lost = followers[slot]?.lost, !lost.isEmpty {
            batch.lost = lost
            followers[slot]?.lost = CommitStream.Lost()
        }
        followers[slot]?.isAsleep = !staysAwake
        if cursor >= next { return (batch, []) }
        let start = position(of: cursor)
        followers[slot]?.cursor = next
        if start == 0, firstUnread == nil {
            swap(&batch.records, &records)
            bytes = 0
            return (batch, [])
        }
        batch.records = Array(records[start...])
        return (batch, removeRead())
    }

    /// The index of the first record with this or a higher sequence.
    private func position(of sequence: UInt64) -> Int { records.endOfFirstPart { $0.sequence < sequence } }

    /// The number of records that a follower has not read.
    func unreadCount(_ slot: Int) -> Int {
        followers[slot].map { $0.cursor >= next ? 0 : records.count - position(of: $0.cursor) } ?? 0
    }

    /// The lowest sequence that a follower has not read; nil if all followers have read everything.
    private var firstUnread: UInt64? {
        var first = next
        for slot in followers.indices { if let cursor = followers[slot]?.cursor, cursor < first { first = cursor } }
        return first == next ? nil : first
    }

    /// Removes the records that all followers have read.
    mutating func removeRead() -> [CommitRecord] {
        let count = firstUnread.map { position(of: $0) } ?? records.count
        return count == 0 ? [] : remove(0..<count)
    }

    private mutating func remove(_ range: Range<Int>) -> [CommitRecord] {
        let taken = Array(records[range])
        records.removeSubrange(range)
        for record in taken { bytes -= record.memorySize }
        return taken
    }

    mutating func takeSleepers() -> [CommitStream.Wake] {
        var wakes: [CommitStream.Wake] = []
        for slot in followers.indices where followers[slot]?.isAsleep == true {
            followers[slot]?.isAsleep = false
            if let wake = followers[slot]?.wake { wakes.append(wake) }
        }
        return wakes
    }
}

// MARK: - Making room

extension CommitStream.State {
    /// Removes records until they fit the limit. The followers that are furthest behind skip records first, so that
    /// active followers get each record.
    mutating func makeRoom() -> [CommitRecord] {
        var released: [CommitRecord] = []
        // A single record stays, regardless of its size, so that the next read returns it complete.
        while bytes > CommitStream.limit, records.count > 1, let slot = furthestBehind {
            skipToEnd(slot)
            released += removeRead()
        }
        while bytes > CommitStream.limit, records.count > 1 {
            let dropped = dropHeaviest()
            if dropped.isEmpty { break }
            released += dropped
        }
        return released
    }

    /// The follower with the lowest cursor, among those that can skip to the end.
    private var furthestBehind: Int? {
        var (found, oldest): (Int?, UInt64) = (nil, next)
        for slot in followers.indices {
            guard let follower = followers[slot], follower.overflow != .drops, follower.cursor < oldest else {
                continue
            }
            found = slot
            oldest = follower.cursor
        }
        return found
    }

    /// Moves a follower to the end of the stream; it gets its unread changes folded, or restarts.
    private mutating func skipToEnd(_ slot: Int) {
        guard let follower = followers[slot] else { return }
        switch follower.overflow {
        case .drops: return
        case .restarts: followers[slot]?.lost.note(records.last?.revision ?? 0)
        case .folds:
            var fold = followers[slot]?.fold.take() ?? FoldingQueue(threshold: 0)
            for record in records[position(of: follower.cursor)...] {
                record.forEachChange { fold.append($0) }
            }
            followers[slot]?.fold = fold.isEmpty ? nil : fold
        }
        followers[slot]?.cursor = next
    }

    /// Drops a quarter of all records: the oldest ones of the origins with the largest shares. Records without a
    /// session, those of the program, count fourfold. The newest record stays, and so does the newest of each client:
    /// a client whose next commit waits for the audit loses none to the program's.
    private mutating func dropHeaviest() -> [CommitRecord] {
        var shares: [String: Int] = [:]
        for record in records.dropLast() { shares[record.origin.client, default: 0] += record.share }
        let most = shares.values.largestShare(keeping: shares.values.reduce(0, +) / 4 * 3)
        var newest: [String: UInt64] = [:]
        for record in records where record.kind?.session != nil { newest[record.origin.client] = record.sequence }
        var (dropped, kept): ([CommitRecord], [CommitRecord]) = ([], [])
        for record in records.dropLast() {
            let origin = record.origin.client
            guard let share = shares[origin], share > most, newest[origin] != record.sequence else {
                kept.append(record)
                continue
            }
            shares[origin] = share - record.share
            bytes -= record.memorySize
            dropped.append(record)
        }
        records = kept + records.suffix(1)
        for record in dropped { noteLost(record) }
        return dropped
    }

    private mutating func noteLost(_ record: CommitRecord) {
        for slot in followers.indices {
            guard let cursor = followers[slot]?.cursor, cursor <= record.sequence else { continue }
            followers[slot]?.lost.note(record.revision)
        }
    }
}

extension CommitRecord {
    /// Its contribution to the share of its origin.
    fileprivate var share: Int { kind?.session == nil ? 4 * memorySize : memorySize }

    /// Calls `body` with each change, in the form for watchers.
    package func forEachChange(_ body: (WatchedChange) -> Void) {
        for part in parts {
            if let change = WatchedChange(part, of: self) { body(change) }
        }
    }
}
