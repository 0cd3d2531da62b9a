// Encodes audit items as JSON lines, one per changed tweak or session action, with a count for merged items.

import Tweaks
import TweaksWire

/// Encodes the lines of an audit.
///
/// ```json
/// {"time":"2026-11-21T09:30:00.123Z","revision":43,"by":"uid 1000","from":"unix socket","peer":"uid 1000 pid 4711","session":7,"kind":"change","path":"Content/Text/Size","old":60,"new":72}
/// ```
enum AuditLineEncoder {
    /// Appends an item, or the last of several merged items with the old value of the first.
    static func append(
        _ item: AuditItem, since first: AuditItem? = nil, count: Int = 1, _ anchor: TimeAnchor, to bytes: inout [UInt8]
    ) {
        bytes.append("{\"time\":\"\(TimeText.print(anchor.milliseconds(item.time)))\",")
        var fold = ""
        if count > 1, let first {
            fold = ",\"count\":\(count),\"since\":\"\(TimeText.print(anchor.milliseconds(first.time)))\""
        }
        switch item.content {
        case .note(let note): append(note, fold, to: &bytes)
        case .change(let commit, let change, let tweaks):
            var old = change.old
            if count > 1, case .change(let commit, let change, _)? = first?.content {
                fold += ",\"from revision\":\(commit.revision)"
                old = change.old
            }
            append(commit, tweaks: count > 1 ? 1 : tweaks, fold, to: &bytes)
            append(change, from: old, to: &bytes)
        }
        bytes.append("}\n")
    }

    /// Appends a line for commits that were dropped.
    static func append(leftOut commits: CommitStream.Lost, at wall: Int64, to bytes: inout [UInt8]) {
        if commits.isEmpty { return }
        let (first, last) = (commits.revisions.lowerBound, commits.revisions.upperBound)
        bytes.append(
            leftOut(wall, "\"commits\":\(commits.count),\"from revision\":\(first),\"to revision\":\(last)"))
    }

    /// Appends a line for events that were dropped.
    static func append(leftOut events: Int, at wall: Int64, to bytes: inout [UInt8]) {
        if events > 0 { bytes.append(leftOut(wall, "\"events\":\(events)")) }
    }

    private static func leftOut(_ wall: Int64, _ what: String) -> String {
        "{\"time\":\"\(TimeText.print(wall))\",\"kind\":\"left out\",\(what)}\n"
    }

    private static func append(_ note: AuditNote, _ fold: String, to bytes: inout [UInt8]) {
        bytes.append("\"by\":")
        bytes.append(json: note.by)
        bytes.append(",\"from\":")
        bytes.append(json: note.from)
        bytes.append(",\"peer\":")
        bytes.append(json: note.peer)
        bytes.append(",\"session\":\(note.session),\"kind\":")
        bytes.append(json: note.kind)
        bytes.append(fold)
        for (key, value) in note.details {
            bytes.append(",")
            bytes.append(json: key)
            bytes.append(":")
            bytes.append(value)
        }
    }

    private static func append(_ commit: CommitRecord, tweaks: Int, _ fold: String, to bytes: inout [UInt8]) {
        bytes.append("\"revision\":")
        bytes.append(decimal: commit.revision)
        bytes.append(",\"by\":")
        bytes.append(json: commit.origin.description)
        bytes.append(",\"from\":")
        bytes.append(json: commit.origin.connection?.transport ?? commit.source)
        if let connection = commit.origin.connection {
            bytes.append(",\"peer\":")
            bytes.append(json: connection.peer)
        }
        if let session = commit.kind?.session { bytes.append(",\"session\":\(session)") }
        bytes.append(",\"kind\":\"\(commit.word)\"")
        bytes.append(fold)
        if let target = commit.targetRevision { bytes.append(",\"of\":\(target)") }
        if tweaks > 1 { bytes.append(",\"tweaks\":\(tweaks)") }
    }

    private static func append(
        _ change: TweakHistoryEntry.Change, from old: TweakValue?, to bytes: inout [UInt8]
    ) {
        bytes.append(",\"path\":")
        bytes.append(json: change.path.joined)
        guard let old, let new = change.new else { return bytes.append(",\"secret\":true") }
        bytes.append(",\"old\":")
        bytes.append(audited: old)
        bytes.append(",\"new\":")
        bytes.append(audited: new)
        guard let nanoseconds = change.lifetime?.exactNanoseconds else { return }
        bytes.append(",\"for\":\"\(DurationText.print(nanoseconds))\"")
    }
}

extension CommitRecord {
    /// The source of a commit without a connection; for earlier runs it is unknown.
    fileprivate var source: String {
        if isFromEarlierRun { return "history" }
        if kind != .reload { return "program" }
        return origin == .configFile ? "config file" : "fleet"
    }
}

extension [UInt8] {
    fileprivate mutating func append(_ detail: AuditNote.Detail) {
        switch detail {
        case .text(let text): append(json: text)
        case .number(let number): append(decimal: number)
        case .texts(let texts):
            append("[")
            for (position, text) in texts.enumerated() {
                if position > 0 { append(",") }
                append(json: text)
            }
            append("]")
        }
    }

    /// Appends a value; null if it has no exact text, which no tweak can have.
    fileprivate mutating func append(audited value: TweakValue) {
        if !append(stored: value) { append("null") }
    }
}
