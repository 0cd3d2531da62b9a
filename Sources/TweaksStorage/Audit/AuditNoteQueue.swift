// Queues session actions other than commits for the audit thread.

import Synchronization

/// An action of a session, or its refusal.
package struct AuditNote: Sendable {
    /// A value of the note besides its author and time.
    package enum Detail: Sendable {
        case text(String)
        case texts([String])
        case number(UInt64)
    }

    /// The origin of the session's changes: `uid 1000` or a token's name, with the name that the user gave.
    package let by: String
    /// The same without that name.
    package let identity: String
    /// The connection: `unix socket` or `tcp`.
    package let from: String
    /// The peer: `uid 1000 pid 4711`, or an address.
    package let peer: String
    package let session: UInt64
    /// `refused`, `authenticated`, `kicked` …
    package let kind: String
    /// Whether the action was refused: such lines go to a separate file, because any client can cause them.
    package let isRefusal: Bool
    package let details: [(key: String, value: Detail)]

    package init(
        by: String, identity: String? = nil, from: String, peer: String, session: UInt64, kind: String,
        isRefusal: Bool = false, _ details: [(key: String, value: Detail)] = []
    ) {
        self.identity = identity ?? by
        (self.by, self.from, self.peer, self.session, self.kind) = (by, from, peer, session, kind)
        (self.isRefusal, self.details) = (isRefusal, details)
    }
}

/// Queues notes, and counts those dropped when the queue is full.
final class AuditNoteQueue: Sendable {
    /// The notes since the last read.
    struct Batch: Sendable {
        /// Oldest first.
        fileprivate(set) var notes: [(time: ContinuousClock.Instant, note: AuditNote)] = []
        /// The number of dropped notes.
        fileprivate(set) var leftOut = (actions: 0, refusals: 0)
        fileprivate var refusals = 0

        var isEmpty: Bool { notes.isEmpty && leftOut == (0, 0) }

        fileprivate mutating func add(_ note: AuditNote, at time: ContinuousClock.Instant) {
            // Counted separately, so that refusals do not displace successful actions.
            switch (note.isRefusal, note.isRefusal ? refusals : notes.count - refusals) {
            case (true, AuditNoteQueue.limit...): leftOut.refusals += 1
            case (false, AuditNoteQueue.limit...): leftOut.actions += 1
            default:
                notes.append((time, note))
                if note.isRefusal { refusals += 1 }
            }
        }
    }

    /// The maximum number of queued notes of each sort.
    fileprivate static let limit = 1_024

    private let batch = Mutex(Batch())

    /// Queues a note. Never waits for a disk.
    /// - Returns: True for the first note since the last read.
    func add(_ note: AuditNote, at time: ContinuousClock.Instant) -> Bool {
        batch.withLock { batch in
            let isFirst = batch.isEmpty
            batch.add(note, at: time)
            return isFirst
        }
    }

    func takeAll() -> Batch {
        batch.withLock { batch in
            defer { batch = Batch() }
            return batch
        }
    }
}
