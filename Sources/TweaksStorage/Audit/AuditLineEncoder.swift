// Encodes audit items as JSON lines, one per changed tweak or session action, with a count for merged items.

import Tweaks
import TweaksWire

/// Encodes the lines of an audit.
///
/// ```json
/// {"time":"2026-11-21T09:30:00.123Z","revision":43,"by":"uid 1000","from":"unix socket","peer":"uid 1000 pid 4711","session":7,"kind":"change","path":"Content/Text/Size","old":60,"new":72}
/// ```
enum AuditLineEncoder {
    /// Appends an item.
    /// - Parameter isCut: Whether long values are cut.
    static func append(_ item: AuditItem, isCut: Bool, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        appendTime(item.time, anchor, to: &bytes)
        switch item.content {
        case .note(let entry): append(entry.note, "", to: &bytes)
        case .change(let commit, let change, let tweaks):
            append(commit, by: commit.origin.description, tweaks: tweaks, "", to: &bytes)
            let value = { (value: TweakValue) in isCut ? AuditValue(cut: value) : AuditValue(value) }
            append(change, from: change.old.map(value), to: change.new.map(value), &bytes)
        }
        bytes.append("}\n")
    }

    /// Appends the line about all items of a fold.
    static func append(_ fold: AuditFold, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        appendTime(fold.last.time, anchor, to: &bytes)
        var words = ",\"count\":\(fold.count),\"since\":\"\(TimeText.print(anchor.milliseconds(fold.begun)))\""
        if fold.isMixed { words += ",\"mixed\":true" }
        switch fold.last.content {
        case .note(let entry): append(entry.note, words, to: &bytes)
        case .change(let commit, let change, _):
            words += ",\"from revision\":\(fold.firstRevision ?? commit.revision)"
            let by = fold.hasSeveralNames ? commit.origin.identity : commit.origin.description
            append(commit, by: by, tweaks: 1, words, to: &bytes)
            append(change, from: fold.firstOld, to: change.new.map { AuditValue(cut: $0) }, &bytes)
            append(fold.values, to: &bytes)
        }
        bytes.append("}\n")
    }

    private static func appendTime(_ time: ContinuousClock.Instant, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        bytes.append("{\"time\":\"\(TimeText.print(anchor.milliseconds(time)))\",")
    }

    /// Appends a line for commits that were dropped.
    static func append(leftOut commits: CommitStream.Lost, at wall: Int64, to bytes: inout [UInt8]) {
        if commits.isEmpty { return }
        let (first, last) = (commits.revisions.lowerBound, commits.revisions.upperBound)
        bytes.append(
            leftOut(wall, "\"commits\":\(commits.count),\"from revision\":\(first),\"to revision\":\(last)"))
    }

    /// Appends a line for lines that a destination has not taken.
    static func append(notShipped lost: AuditShipper.Lost, at wall: Int64, to bytes: inout [UInt8]) {
        bytes.append("{\"time\":\"\(TimeText.print(wall))\",\"kind\":\"not shipped\",\"to\":")
        bytes.append(json: lost.to)
        bytes.append(",\"lines\":\(lost.lines)}\n")
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

    private static func append(
        _ commit: CommitRecord, by: String, tweaks: Int, _ fold: String, to bytes: inout [UInt8]
    ) {
        bytes.append("\"revision\":")
        bytes.append(decimal: commit.revision)
        bytes.append(",\"by\":")
        bytes.append(json: by)
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

    static func append(
        _ change: TweakHistoryEntry.Change, from old: AuditValue?, to new: AuditValue?, _ bytes: inout [UInt8]
    ) {
        bytes.append(",\"path\":")
        bytes.append(json: change.path.joined)
        guard let old, let new else { return bytes.append(",\"secret\":true") }
        bytes.append(",\"old\":")
        bytes += old.bytes
        bytes.append(",\"new\":")
        bytes += new.bytes
        guard let nanoseconds = change.lifetime?.exactNanoseconds else { return }
        bytes.append(",\"for\":\"\(DurationText.print(nanoseconds))\"")
    }

    private static func append(_ values: AuditedValues, to bytes: inout [UInt8]) {
        for (key, value) in [("lowest", values.lowest), ("highest", values.highest)] {
            guard let value else { continue }
            bytes.append(",\"\(key)\":")
            bytes += AuditValue(value).bytes
        }
        if values.listed.isEmpty { return }
        bytes.append(",\"values\":[")
        bytes += values.listed.map(\.bytes).joined(separator: [UInt8(ascii: ",")])
        bytes.append("]")
        if values.others > 0 { bytes.append(",\"others\":\(values.others)") }
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
}
