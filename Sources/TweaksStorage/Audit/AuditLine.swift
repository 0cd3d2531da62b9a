// What the audit says of a commit: a JSON object for each tweak that it changed, on a line of its own.

import Tweaks
import TweaksWire

/// The lines of an audit.
///
/// ```json
/// {"time":"2026-11-21T09:30:00.123Z","revision":43,"by":"uid 1000","from":"unix socket","session":7,"kind":"change","path":"Content/Text/Size","old":60,"new":72}
/// ```
enum AuditLine {
    /// Appends what was noted.
    static func append(_ batch: CommitLog.Batch, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        for note in batch.notes { append(note, anchor, to: &bytes) }
        if batch.leftOut.count == 0 { return }
        let (count, first, last) = batch.leftOut
        bytes.append("{\"time\":\"\(TimeText.print(anchor.wall))\",\"kind\":\"left out\",\"commits\":")
        bytes.append("\(count),\"from revision\":\(first),\"to revision\":\(last)}\n")
    }

    private static func append(_ note: CommitNote, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        // The same for all of its tweaks.
        var head: [UInt8] = []
        head.append("{\"time\":\"\(TimeText.print(anchor.milliseconds(note.time)))\",\"revision\":")
        head.append(decimal: note.revision)
        head.append(",\"by\":")
        head.append(json: note.origin.description)
        head.append(",\"from\":\"\(note.place)\"")
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
    /// Where it came from.
    fileprivate var place: String {
        switch kind {
        case .reload: return "config file"
        case .expiry: return "program"
        case .change, .undo, .redo:
            if kind.session == nil { return "program" }
            // The server calls a peer on TCP by its address, and one on a Unix socket by its user.
            let isAddress = origin.description.hasPrefix("127.0.0.1:") || origin.description.hasPrefix("[::1]:")
            return isAddress ? "tcp" : "unix socket"
        }
    }
}

extension [UInt8] {
    /// Appends a value; null for one that has no exact text, which no tweak can have.
    fileprivate mutating func append(audited value: TweakValue) {
        if !append(stored: value) { append("null") }
    }
}
