// Defines an audit item: a tweak changed by a commit, or another action of a session.

package import Tweaks

/// An item to be written as an audit line.
struct AuditItem {
    enum Content {
        /// - Parameter tweaks: The number of tweaks that the commit changed.
        case change(CommitRecord, TweakHistoryEntry.Change, tweaks: Int)
        case note(AuditNote)
    }

    /// Items with equal keys can be merged.
    struct Key: Hashable {
        /// The origin regardless of the connection: a user, a token's name, or an address without its port.
        let origin: String
        let kind: String
        /// The tweak, command or error code; items about different objects are not merged.
        let object: String
    }

    let time: ContinuousClock.Instant
    let content: Content

    /// All items, in order of time.
    static func all(_ commits: [CommitRecord], _ events: AuditNoteQueue.Batch) -> [AuditItem] {
        var items: [AuditItem] = []
        var events = events.notes[...]
        for commit in commits {
            while let first = events.first, first.time < commit.time {
                items.append(AuditItem(time: first.time, content: .note(first.note)))
                events.removeFirst()
            }
            let changes = commit.changes
            items += changes.map {
                AuditItem(time: commit.time, content: .change(commit, $0, tweaks: changes.count))
            }
        }
        return items + events.map { AuditItem(time: $0.time, content: .note($0.note)) }
    }

    var isRefusal: Bool { if case .note(let note) = content { note.isRefusal } else { false } }

    /// Whether it is never merged. A writer of the config file controls the process anyway.
    var isReload: Bool { if case .change(let commit, _, _) = content { commit.kind == .reload } else { false } }

    var key: Key {
        switch content {
        case .change(let commit, let change, _):
            Key(origin: AuditNote.name(of: commit.origin), kind: commit.word, object: change.path.joined)
        case .note(let note):
            Key(origin: AuditNote.name(of: note.identity, note.peer), kind: note.kind, object: note.object)
        }
    }

    /// Whether any client can repeat it at will: then only the first is written at once.
    var isNote: Bool { if case .note = content { true } else { false } }

    /// Its approximate size in memory, in bytes.
    var weight: Int {
        switch content {
        case .change(_, let change, _): 512 + Self.size(change.old) + Self.size(change.new)
        case .note(let note):
            note.details.reduce(512) { sum, detail in
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
    /// The object of the action, without text that differs each time.
    fileprivate var object: String {
        details.filter { ["path", "code", "command", "token", "scopes", "of"].contains($0.key) }
            .map(\.value.words).joined(separator: " ")
    }

    /// The origin's name regardless of the connection: a user, a token's name, or an address without its port.
    package static func name(of origin: TweakOrigin, _ peer: String? = nil) -> String {
        name(of: origin.identity, peer ?? origin.connection?.peer)
    }

    /// The same for a name and its peer. All loopback addresses count as one.
    static func name(of name: String, _ peer: String?) -> String {
        TweakOrigin.clientName(name, peer)
    }
}

extension CommitRecord {
    /// Its name in the audit.
    var word: String { kind?.word ?? "" }
}
