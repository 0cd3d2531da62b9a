// What sessions did beside committing, until the audit's thread writes it down.

import Synchronization

/// Something that a session did, or was refused.
package struct AuditNote: Sendable {
    /// What is said of it beside who and when.
    package enum Detail: Sendable {
        case text(String)
        case texts([String])
        case number(UInt64)
    }

    /// Whose changes the session makes: `uid 1000`, or a token's name; and what the person there gives as a name.
    package let by: String
    /// The same without that name.
    package let identity: String
    /// How it is connected: `unix socket` or `tcp`.
    package let from: String
    /// Who is at the other end: `uid 1000 pid 4711`, or an address.
    package let peer: String
    package let session: UInt64
    /// `refused`, `authenticated`, `kicked` …
    package let kind: String
    /// Whether it got nothing of what it wanted: such lines have a file of their own, since any client can cause them.
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

/// Collects notes until they are taken, and counts those for which there is no room.
final class AuditNotes: Sendable {
    /// What came since the last look.
    struct Batch: Sendable {
        /// Oldest first.
        fileprivate(set) var notes: [(time: ContinuousClock.Instant, note: AuditNote)] = []
        /// Those for which there was no room.
        fileprivate(set) var leftOut = (acts: 0, refusals: 0)
        fileprivate var refusals = 0

        var isEmpty: Bool { notes.isEmpty && leftOut == (0, 0) }

        fileprivate mutating func add(_ note: AuditNote, at time: ContinuousClock.Instant) {
            // Refusals must not crowd out what was done.
            switch (note.isRefusal, note.isRefusal ? refusals : notes.count - refusals) {
            case (true, AuditNotes.limit...): leftOut.refusals += 1
            case (false, AuditNotes.limit...): leftOut.acts += 1
            default:
                notes.append((time, note))
                if note.isRefusal { refusals += 1 }
            }
        }
    }

    /// So many of each sort are kept until they are taken.
    fileprivate static let limit = 1_024

    private let batch = Mutex(Batch())

    /// Keeps a note. Never waits for a disk.
    /// - Returns: True for the first one since the last look.
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
