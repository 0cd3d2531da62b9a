// Keeps the last commits for those who follow them, each with a cursor of its own.

import Synchronization

/// The records of a registry's commits, in order, as far as a follower has not read them.
///
/// It holds a mebibyte of them, whatever its followers do. For one that falls behind further it makes a fold, or counts
/// what is lost; of several origins those that have the most lose first, and the program's own loops before people. It
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

    /// Commits that were not read.
    package struct Lost: Sendable {
        package fileprivate(set) var count = 0
        /// The revisions of the first and the last.
        package fileprivate(set) var revisions: ClosedRange<UInt64> = 0...0
        /// Whether anything was.
        package var isEmpty: Bool { count == 0 }

        mutating func note(_ revision: UInt64) {
            revisions =
                count == 0
                ? revision...revision : min(revisions.lowerBound, revision)...max(revisions.upperBound, revision)
            count += 1
        }
    }

    /// What a follower has not read yet, oldest first.
    package struct Batch: Sendable {
        /// What came before the records, where it had fallen behind.
        package var folded: FoldingQueue?
        package var records: [CommitRecord] = []
        package var lost = Lost()
        /// No more will come.
        package var isLast = false

        package var isEmpty: Bool { records.isEmpty && folded == nil && lost.isEmpty }
    }

    /// So many bytes of records wait at most; one larger commit does alone.
    static let limit = 1_048_576

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

extension TweakRegistry {
    /// Begins to follow the commits from now on.
    package func follow(
        _ overflow: CommitStream.Overflow, _ wake: @escaping CommitStream.Wake
    ) -> CommitFollower {
        state.withLock { $0.stream.follow(overflow, after: $0.sequence, wake) }
    }
}
