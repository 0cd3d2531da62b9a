// Defines an audit item: a tweak changed by a commit, or another action of a session.

import Tweaks

/// An item to be written as an audit line.
struct AuditItem {
    enum Content {
        /// - Parameter tweaks: The number of tweaks that the commit changed.
        case change(CommitRecord, TweakHistoryEntry.Change, tweaks: Int)
        case note(AuditNoteQueue.Entry)
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

    let time: ContinuousClock.Instant
    let content: Content

    /// All items, in order of time.
    static func all(_ commits: [CommitRecord], _ entries: [AuditNoteQueue.Entry]) -> [AuditItem] {
        var items: [AuditItem] = []
        var entries = entries[...]
        for commit in commits {
            while let first = entries.first, first.time < commit.time {
                items.append(AuditItem(time: first.time, content: .note(first)))
                entries.removeFirst()
            }
            let changes = commit.changes
            items += changes.map {
                AuditItem(time: commit.time, content: .change(commit, $0, tweaks: changes.count))
            }
        }
        return items + entries.map { AuditItem(time: $0.time, content: .note($0)) }
    }

    var isRefusal: Bool { if case .note(let entry) = content { entry.note.isRefusal } else { false } }

    /// Whether it is never merged. A writer of the config file controls the process anyway.
    var isReload: Bool { if case .change(let commit, _, _) = content { commit.kind == .reload } else { false } }

    var key: Key {
        switch content {
        case .change(let commit, let change, _):
            Key(origin: Self.origin(of: commit), kind: commit.word, object: change.path.joined, isNote: false)
        case .note(let entry): entry.key
        }
    }

    /// The origin whose budget a commit spends: the program has its own, under each of its names.
    private static func origin(of commit: CommitRecord) -> String {
        let name = commit.origin.client
        return commit.kind?.session == nil ? "program \(name)" : name
    }

    /// Who made it, with the name that the client gave.
    var by: String {
        switch content {
        case .change(let commit, _, _): commit.origin.description
        case .note(let entry): entry.note.by
        }
    }

    /// Whether any client can repeat it at will: then only the first is written at once.
    var isNote: Bool { if case .note = content { true } else { false } }

    /// How many it stands for.
    var count: Int { if case .note(let entry) = content { entry.count } else { 1 } }

    /// Whether it stands for items about different objects.
    var isMixed: Bool { if case .note(let entry) = content { entry.key.isMixed } else { false } }

    /// The same item as one about different objects.
    var mixed: AuditItem {
        guard case .note(var entry) = content else { return self }
        entry.key = entry.key.mixed
        return AuditItem(time: time, content: .note(entry))
    }

    /// The last one that it stands for.
    var last: AuditItem {
        guard case .note(let entry) = content else { return self }
        return AuditItem(time: entry.last.time, content: .note(AuditNoteQueue.Entry(entry.last.note, entry.last.time)))
    }

    /// Its approximate size in memory, in bytes.
    var weight: Int {
        switch content {
        case .change(_, let change, _): 512 + Self.size(change.old) + Self.size(change.new)
        case .note(let entry):
            entry.last.note.details.reduce(512) { sum, detail in
                if case .text(let text) = detail.value { sum + text.utf8.count } else { sum + 64 }
            }
        }
    }

    private static func size(_ value: TweakValue?) -> Int {
        if case .string(let text) = value { text.utf8.count } else { 0 }
    }
}

extension AuditNote.Detail {
    fileprivate var words: String {
        switch self {
        case .text(let text): text
        case .texts(let texts): texts.joined(separator: " ")
        case .number(let number): "\(number)"
        }
    }
}

extension AuditNote {
    /// Its key. Clients without rights never share one with others.
    var key: AuditItem.Key {
        let name = TweakOrigin.client(identity, peer)
        return AuditItem.Key(origin: hasRights ? name : "no rights \(name)", kind: kind, object: object, isNote: true)
    }

    /// The object of the action, without text that differs each time.
    private var object: String {
        details.filter { ["path", "code", "command", "token", "scopes", "of"].contains($0.key) }
            .map(\.value.words).joined(separator: " ")
    }
}

extension CommitRecord {
    /// Its name in the audit.
    var word: String { kind?.word ?? "" }
}
