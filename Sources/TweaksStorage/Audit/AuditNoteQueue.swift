// Queues session actions other than commits for the audit thread, with a place for each origin and kind.

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
    /// Whether the session has any rights. Clients without them can be many, and get the last places.
    package let hasRights: Bool
    package let details: [(key: String, value: Detail)]

    package init(
        by: String, identity: String? = nil, from: String, peer: String, session: UInt64, kind: String,
        isRefusal: Bool = false, hasRights: Bool = true, _ details: [(key: String, value: Detail)] = []
    ) {
        self.identity = identity ?? by
        self.by = by
        self.from = from
        self.peer = peer
        self.session = session
        self.kind = kind
        self.isRefusal = isRefusal
        self.hasRights = hasRights
        self.details = details
    }
}

/// Queues notes for the audit thread. Each origin has a place for each kind of note; what does not fit its place is
/// counted there.
final class AuditNoteQueue: Sendable {
    /// A note, or several of one key.
    struct Entry: Sendable {
        /// The key that it shares with equal notes.
        var key: AuditItem.Key
        let time: ContinuousClock.Instant
        let note: AuditNote
        /// The last of them.
        private(set) var last: (time: ContinuousClock.Instant, note: AuditNote)
        private(set) var count = 1

        init(_ note: AuditNote, _ time: ContinuousClock.Instant, _ key: AuditItem.Key? = nil) {
            self.note = note
            self.time = time
            last = (time, note)
            self.key = key ?? note.key
        }

        fileprivate mutating func add(_ note: AuditNote, _ time: ContinuousClock.Instant) {
            last = (time, note)
            count += 1
        }
    }

    /// The notes since the last read.
    private struct Batch: Sendable {
        /// Oldest first.
        var entries: [Entry] = []
        var count = 0
        var positions: [AuditItem.Key: Int] = [:]
        /// The number of entries of each place.
        var places: [AuditItem.Key: Int] = [:]
        /// The number of entries of clients without rights.
        var withoutRights = 0

        mutating func add(_ note: AuditNote, _ time: ContinuousClock.Instant) {
            count += 1
            let key = note.key
            if let position = positions[key] { return entries[position].add(note, time) }
            let place = key.mixed
            if hasRoom(note, place) { return append(note, time, key, place) }
            if let position = positions[place] { return entries[position].add(note, time) }
            if note.hasRights || withoutRights < AuditNoteQueue.limitWithoutRights {
                return append(note, time, place, place)
            }
            // The last place is one for all clients without rights.
            let shared = AuditItem.Key(origin: "", kind: note.kind, object: "", isNote: true, isMixed: true)
            if let position = positions[shared] { return entries[position].add(note, time) }
            append(note, time, shared, shared)
        }

        private func hasRoom(_ note: AuditNote, _ place: AuditItem.Key) -> Bool {
            if !note.hasRights { return withoutRights < AuditNoteQueue.limit }
            let count = places[place] ?? 0
            return count == 0 || count < AuditNoteQueue.limit && entries.count < AuditNoteQueue.total
        }

        private mutating func append(
            _ note: AuditNote, _ time: ContinuousClock.Instant, _ key: AuditItem.Key, _ place: AuditItem.Key
        ) {
            positions[key] = entries.count
            places[place, default: 0] += 1
            if !note.hasRights { withoutRights += 1 }
            entries.append(Entry(note, time, key))
        }
    }

    /// The maximum number of entries of one place, and of those that clients without rights have of their own.
    private static let limit = 256
    /// The maximum number of entries of clients without rights, with those that count, by origin and kind, what has no
    /// entry of its own.
    private static let limitWithoutRights = 512
    /// Beyond this number of entries, each place has one more.
    private static let total = 4_096

    private let batch = Mutex(Batch())

    /// Queues a note. Never waits for a disk.
    /// - Returns: True for the first note since the last read.
    func add(_ note: AuditNote, at time: ContinuousClock.Instant) -> Bool {
        batch.withLock { batch in
            batch.add(note, time)
            return batch.count == 1
        }
    }

    /// The number of queued notes.
    var count: Int { batch.withLock { $0.count } }

    func takeAll() -> (entries: [Entry], count: Int) {
        let taken = batch.withLock { batch in
            defer { batch = Batch() }
            return batch
        }
        return (taken.entries, taken.count)
    }
}
