// Defines what the audit records, changed tweaks and other actions of sessions, and queues these actions for its thread.

import Synchronization
import Tweaks

/// An action of a session, or its refusal.
package struct AuditNote: Sendable {
    /// A value of the note besides its author and time.
    package enum Detail: Sendable {
        case text(String)
        case texts([String])
        case number(UInt64)

        var json: JSON {
            switch self {
            case .text(let text): .string(text)
            case .texts(let texts): .array(texts.map(JSON.string))
            case .number(let number): .unsigned(number)
            }
        }

        fileprivate var words: String {
            switch self {
            case .text(let text): text
            case .texts(let texts): texts.joined(separator: " ")
            case .number(let number): "\(number)"
            }
        }
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

/// An item to be written as an audit line: a tweak changed by a commit, or one or several notes of one key.
struct AuditItem: Sendable {
    enum Content: Sendable {
        /// - Parameter tweaks: The number of tweaks that the commit changed.
        case change(CommitRecord, TweakHistoryEntry.Change, tweaks: Int)
        case note(AuditNote)

        /// Who made it, with the name that the client gave.
        var by: String {
            switch self {
            case .change(let commit, _, _): commit.origin.description
            case .note(let note): note.by
            }
        }

        /// Its approximate size in memory, in bytes.
        var weight: Int {
            let texts: [String?] =
                switch self {
                case .change(_, let change, _): [change.old, change.new].map { $0?.longText }
                case .note(let note): note.details.map(\.value.words)
                }
            return texts.reduce(512) { $0 + ($1?.utf8.count ?? 0) }
        }
    }

    /// Items with equal keys can be merged.
    struct Key: Hashable {
        /// The origin regardless of the connection: a user, a token's name, or an address without its port.
        let origin: String
        let kind: String
        /// The tweak, command or error code; items about different objects are not merged, unless there are too many.
        let object: String
        let isNote: Bool
        var isMixed = false

        /// The key of all items of this origin and kind.
        var mixed: Key { Key(origin: origin, kind: kind, object: "", isNote: isNote, isMixed: true) }
    }

    private(set) var key: Key
    /// When the first one happened of those that it stands for.
    let time: Moment
    let content: Content
    private(set) var last: (time: Moment, content: Content)
    /// How many it stands for.
    private(set) var count = 1

    init(_ commit: CommitRecord, _ change: TweakHistoryEntry.Change, tweaks: Int) {
        // The program has its own budget, under each of its names.
        let client = commit.origin.client
        let origin = commit.kind?.session == nil ? "program \(client)" : client
        key = Key(origin: origin, kind: commit.word, object: change.path.joined, isNote: false)
        time = commit.time
        content = .change(commit, change, tweaks: tweaks)
        last = (time, content)
    }

    fileprivate init(_ note: AuditNote, _ time: Moment, _ key: Key) {
        self.key = key
        self.time = time
        content = .note(note)
        last = (time, content)
    }

    fileprivate mutating func add(_ note: AuditNote, _ time: Moment) {
        last = (time, .note(note))
        count += 1
    }

    /// All items, in order of time.
    static func all(_ commits: [CommitRecord], _ notes: [AuditItem]) -> [AuditItem] {
        var items: [AuditItem] = []
        var notes = notes[...]
        for commit in commits {
            while let first = notes.first, first.time < commit.time { items.append(notes.removeFirst()) }
            let changes = commit.changes
            items += changes.map { AuditItem(commit, $0, tweaks: changes.count) }
        }
        return items + notes
    }

    /// Whether any client can repeat it at will: then only the first is written at once.
    var isNote: Bool { key.isNote }

    var isRefusal: Bool { if case .note(let note) = content { note.isRefusal } else { false } }

    /// Whether it is never merged. A writer of the config file controls the process anyway.
    var isReload: Bool { if case .change(let commit, _, _) = content { commit.kind == .reload } else { false } }

    /// The same item as one about different objects.
    var mixed: AuditItem {
        var item = self
        item.key = key.mixed
        return item
    }
}

extension TweakValue {
    fileprivate var longText: String? { if case .string(let text) = self { text } else { nil } }
}

extension CommitRecord {
    /// Its name in the audit.
    var word: String { kind?.word ?? "" }
}

extension AuditNote {
    /// Its key. Clients without rights never share one with others.
    fileprivate var key: AuditItem.Key {
        let name = TweakOrigin.client(identity, peer)
        // Without text that differs each time.
        let object = details.filter { ["path", "code", "command", "token", "scopes", "of"].contains($0.key) }
        return AuditItem.Key(
            origin: hasRights ? name : "no rights \(name)", kind: kind,
            object: object.map(\.value.words).joined(separator: " "), isNote: true)
    }
}

/// Queues notes for the audit thread. Each origin has a place for each kind of note; what does not fit its place is
/// counted there.
final class AuditNoteQueue: Sendable {
    /// The notes since the last read.
    private struct Batch: Sendable {
        /// Oldest first.
        var items: [AuditItem] = []
        var count = 0
        var positions: [AuditItem.Key: Int] = [:]
        /// The number of items of each place.
        var places: [AuditItem.Key: Int] = [:]
        /// The number of items of clients without rights.
        var withoutRights = 0

        mutating func add(_ note: AuditNote, _ time: Moment) {
            count += 1
            let key = note.key
            if let position = positions[key] { return items[position].add(note, time) }
            let place = key.mixed
            if hasRoom(note, place) { return append(note, time, key, place) }
            if let position = positions[place] { return items[position].add(note, time) }
            if note.hasRights || withoutRights < AuditNoteQueue.limitWithoutRights {
                return append(note, time, place, place)
            }
            // The last place is one for all clients without rights.
            let shared = AuditItem.Key(origin: "", kind: note.kind, object: "", isNote: true, isMixed: true)
            if let position = positions[shared] { return items[position].add(note, time) }
            append(note, time, shared, shared)
        }

        private func hasRoom(_ note: AuditNote, _ place: AuditItem.Key) -> Bool {
            if !note.hasRights { return withoutRights < AuditNoteQueue.limit }
            let count = places[place] ?? 0
            return count == 0 || count < AuditNoteQueue.limit && items.count < AuditNoteQueue.total
        }

        private mutating func append(
            _ note: AuditNote, _ time: Moment, _ key: AuditItem.Key, _ place: AuditItem.Key
        ) {
            positions[key] = items.count
            places[place, default: 0] += 1
            if !note.hasRights { withoutRights += 1 }
            items.append(AuditItem(note, time, key))
        }
    }

    /// The maximum number of items of one place, and of those that clients without rights have of their own.
    private static let limit = 256
    /// The maximum number of items of clients without rights, with those that count, by origin and kind, what has no
    /// item of its own.
    private static let limitWithoutRights = 512
    /// Beyond this number of items, each place has one more.
    private static let total = 4_096

    private let batch = Mutex(Batch())

    /// Queues a note. Never waits for a disk.
    /// - Returns: True for the first note since the last read.
    func add(_ note: AuditNote, at time: Moment) -> Bool {
        batch.withLock { batch in
            batch.add(note, time)
            return batch.count == 1
        }
    }

    /// The number of queued notes.
    var count: Int { batch.withLock { $0.count } }

    func takeAll() -> (items: [AuditItem], count: Int) {
        let taken = batch.withLock { batch in
            defer { batch = Batch() }
            return batch
        }
        return (taken.items, taken.count)
    }
}
