// Describes an item of the audit: a tweak that a commit changed, or something else that a session did.

package import Tweaks

/// A line of the audit to be.
struct AuditItem {
    enum Content {
        /// - Parameter tweaks: How many the commit has changed.
        case change(CommitRecord, TweakHistoryEntry.Change, tweaks: Int)
        case note(AuditNote)
    }

    /// What makes two of them alike.
    struct Key: Hashable {
        /// Who, over whatever connection: a user, a token's name, or an address without its port.
        let origin: String
        let kind: String
        /// The tweak, the command, the code of the error: where the same happens to another one, that is another thing.
        let object: String
    }

    let time: ContinuousClock.Instant
    let content: Content

    /// Everything that was noted, in the order in which it happened.
    static func all(_ commits: [CommitRecord], _ events: AuditNotes.Batch) -> [AuditItem] {
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

    /// Whether every one of them is written as it is. Who writes the config file owns the process.
    var isReload: Bool { if case .change(let commit, _, _) = content { commit.kind == .reload } else { false } }

    var key: Key {
        switch content {
        case .change(let commit, let change, _):
            Key(origin: AuditNote.name(of: commit.origin), kind: commit.word, object: change.path.joined)
        case .note(let note):
            Key(origin: AuditNote.name(of: note.identity, note.peer), kind: note.kind, object: note.object)
        }
    }

    /// Whether it is one of something that any client can repeat: then the first alone is written at once.
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
    /// What it was about, without words that differ each time.
    fileprivate var object: String {
        details.filter { ["path", "code", "command", "token", "scopes", "of"].contains($0.key) }
            .map(\.value.words).joined(separator: " ")
    }

    /// Who it is, over whatever connection: a user, a token's name, or an address without its port.
    package static func name(of origin: TweakOrigin, _ peer: String? = nil) -> String {
        name(of: origin.identity, peer ?? origin.connection?.peer)
    }

    /// The same for a name and who is at the other end. Who is on this machine has any of its addresses.
    static func name(of name: String, _ peer: String?) -> String {
        // By bytes, and most are the same: this is asked for each line of a log.
        guard let peer, peer == name || peer.utf8.starts(with: name.utf8) else { return name }
        var name = name
        return name.withUTF8 { bytes in
            guard let colon = bytes.lastIndex(of: UInt8(ascii: ":")) else {
                return String(decoding: bytes, as: UTF8.self)
            }
            let isLocal = bytes.starts(with: "127.".utf8)
            return isLocal ? "127.0.0.1" : String(decoding: bytes[..<colon], as: UTF8.self)
        }
    }
}

extension CommitRecord {
    /// What the audit calls it.
    var word: String { kind?.word ?? "" }
}
