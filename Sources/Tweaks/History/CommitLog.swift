// Every commit as it was made, for somebody who writes it down: the audit.

import Synchronization

/// A commit before the history makes one of it and others.
package struct CommitNote: Sendable {
    package let revision: UInt64
    package let time: ContinuousClock.Instant
    package let origin: TweakOrigin
    package let kind: CommitKind
    /// The revision of the commit that was taken back or made again.
    package let about: UInt64?
    let parts: [History.Part]

    /// What it changed; of a secret without the values.
    package var changes: [TweakHistoryEntry.Change] { parts.map(\.change) }
}

/// Collects commits until its reader takes them, and counts those for which there is no room.
package final class CommitLog: Sendable {
    /// What happened since the last look.
    package struct Batch: Sendable {
        /// Oldest first.
        package fileprivate(set) var notes: [CommitNote] = []
        /// How many commits came when there was no room any more, and the revisions of the first and the last.
        package fileprivate(set) var leftOut: (count: Int, first: UInt64, last: UInt64) = (0, 0, 0)

        package var isEmpty: Bool { notes.isEmpty && leftOut.count == 0 }
        /// The size of all notes, counted in tweaks; a long text counts as several.
        fileprivate var weight = 0
        /// The same for each origin, whatever name a person gives.
        fileprivate var weights: [String: Int] = [:]
    }

    /// So many changed tweaks are kept until the reader comes.
    private static let limit = 4_096
    /// Of one origin, fewer: its changes do not crowd out those of others.
    private static let originLimit = 1_024
    /// Nor does a loop in the program.
    private static let ownLimit = 256

    private let batch = Mutex(Batch())
    private let isRung = Atomic(false)
    private let onReady: @Sendable () -> Void

    /// - Parameter onReady: Runs after the first commit since the last look, outside all locks, on the thread that made
    ///   it; it only wakes the reader.
    package init(onReady: @escaping @Sendable () -> Void) { self.onReady = onReady }

    /// Notes a commit. Called under the registry's lock, in order of revision.
    func note(_ note: CommitNote) {
        batch.withLock { batch in
            let identity = note.origin.identity
            let most = note.kind == .change(session: 0) ? Self.ownLimit : Self.originLimit
            if batch.weight >= Self.limit || batch.weights[identity, default: 0] >= most {
                if batch.leftOut.count == 0 { batch.leftOut.first = note.revision }
                (batch.leftOut.count, batch.leftOut.last) = (batch.leftOut.count + 1, note.revision)
                return
            }
            batch.notes.append(note)
            let weight = note.parts.reduce(0) { $0 + $1.weight }
            batch.weight += weight
            batch.weights[identity, default: 0] += weight
        }
    }

    /// Wakes the reader, unless it was woken since its last look.
    func wake() {
        if isRung.load(ordering: .relaxed) { return }
        if !isRung.exchange(true, ordering: .acquiringAndReleasing) { onReady() }
    }

    package var isEmpty: Bool { batch.withLock { $0.isEmpty } }

    /// Takes all that was noted.
    package func takeAll() -> Batch {
        // First, so that whoever notes something from now on wakes the reader again.
        isRung.store(false, ordering: .sequentiallyConsistent)
        return batch.withLock { batch in
            defer { batch = Batch() }
            return batch
        }
    }
}

extension TweakRegistry {
    /// Starts to note every commit.
    package func add(_ log: CommitLog) { state.withLock { $0.commitLogs.append(log) } }

    /// Ends that; what was noted stays to be taken.
    package func remove(_ log: CommitLog) { state.withLock { $0.commitLogs.removeAll { $0 === log } } }
}
