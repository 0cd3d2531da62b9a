// Buffers the last commits for followers, each with its own cursor.

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
