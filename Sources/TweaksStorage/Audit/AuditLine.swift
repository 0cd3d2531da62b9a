// What the audit says: a JSON object for each tweak that a commit changed, and for whatever else a session did, on a line
// of its own.

import Tweaks
import TweaksWire

/// The lines of an audit.
///
/// ```json
/// {"time":"2026-11-21T09:30:00.123Z","revision":43,"by":"uid 1000","from":"unix socket","peer":"uid 1000 pid 4711","session":7,"kind":"change","path":"Content/Text/Size","old":60,"new":72}
/// ```
enum AuditLine {
    /// Appends what was noted, in the order in which it happened.
    static func append(
        _ commits: CommitLog.Batch, _ events: AuditNotes.Batch, _ anchor: TimeAnchor, to bytes: inout [UInt8]
    ) {
        var events = events.notes[...]
        for commit in commits.notes {
            while let first = events.first, first.time < commit.time {
                append(first.note, first.time, anchor, to: &bytes)
                events.removeFirst()
            }
            append(commit, anchor, to: &bytes)
        }
        for event in events { append(event.note, event.time, anchor, to: &bytes) }
    }

    /// Says how much there was no room for.
    static func append(
        leftOut commits: CommitLog.Batch, _ events: AuditNotes.Batch, _ anchor: TimeAnchor, to bytes: inout [UInt8]
    ) {
        let head = "{\"time\":\"\(TimeText.print(anchor.wall))\",\"kind\":\"left out\","
        if commits.leftOut.count > 0 {
            let (count, first, last) = commits.leftOut
            bytes.append("\(head)\"commits\":\(count),\"from revision\":\(first),\"to revision\":\(last)}\n")
        }
        if events.leftOut > 0 { bytes.append("\(head)\"events\":\(events.leftOut)}\n") }
    }

    private static func append(
        _ note: AuditNote, _ time: ContinuousClock.Instant, _ anchor: TimeAnchor, to bytes: inout [UInt8]
    ) {
        bytes.append("{\"time\":\"\(TimeText.print(anchor.milliseconds(time)))\",\"by\":")
        bytes.append(json: note.by)
        bytes.append(",\"from\":")
        bytes.append(json: note.from)
        bytes.append(",\"peer\":")
        bytes.append(json: note.peer)
        bytes.append(",\"session\":\(note.session),\"kind\":")
        bytes.append(json: note.kind)
        for (key, value) in note.details {
            bytes.append(",")
            bytes.append(json: key)
            bytes.append(":")
            bytes.append(value)
        }
        bytes.append("}\n")
    }

    private static func append(_ note: CommitNote, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        // The same for all of its tweaks.
        var head: [UInt8] = []
        head.append("{\"time\":\"\(TimeText.print(anchor.milliseconds(note.time)))\",\"revision\":")
        head.append(decimal: note.revision)
        head.append(",\"by\":")
        head.append(json: note.origin.description)
        head.append(",\"from\":")
        head.append(json: note.origin.connection?.transport ?? note.place)
        if let connection = note.origin.connection {
            head.append(",\"peer\":")
            head.append(json: connection.peer)
        }
        if let session = note.kind.session { head.append(",\"session\":\(session)") }
        head.append(",\"kind\":\"\(note.kind.word)\"")
        if let about = note.about { head.append(",\"of\":\(about)") }
        let changes = note.changes
        if changes.count > 1 { head.append(",\"tweaks\":\(changes.count)") }
        for change in changes {
            bytes.append(contentsOf: head)
            append(change, to: &bytes)
            bytes.append("}\n")
        }
    }

    private static func append(_ change: TweakHistoryEntry.Change, to bytes: inout [UInt8]) {
        bytes.append(",\"path\":")
        bytes.append(json: change.path.joined)
        guard let old = change.old, let new = change.new else { return bytes.append(",\"secret\":true") }
        bytes.append(",\"old\":")
        bytes.append(audited: old)
        bytes.append(",\"new\":")
        bytes.append(audited: new)
        guard let nanoseconds = change.lifetime?.exactNanoseconds else { return }
        bytes.append(",\"for\":\"\(DurationText.print(nanoseconds))\"")
    }
}

extension CommitNote {
    /// Where it came from, when it came over no connection.
    fileprivate var place: String { kind == .reload ? "config file" : "program" }
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

    /// Appends a value; null for one that has no exact text, which no tweak can have.
    fileprivate mutating func append(audited value: TweakValue) {
        if !append(stored: value) { append("null") }
    }
}
