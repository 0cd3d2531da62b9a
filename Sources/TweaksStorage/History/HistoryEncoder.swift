// Encodes the history file: one line per commit, and another one when its status changes.

import Tweaks
import TweaksWire

/// The format of the history file.
///
/// ```json
/// {"format":"tweaks-history","version":1,"program":"bounce"}
/// {"n":12,"revision":43,"time":"2026-11-21T09:30:00.123Z","by":"uid 1000","kind":"change","changes":[{"path":"Content/Text/Size","kind":"number","old":60,"new":72,"after":72}]}
/// {"n":12,"status":"undone"}
/// ```
///
/// Of two lines with the same number, the later one is valid.
enum HistoryEncoder {
    static let format = "tweaks-history"
    static let version: Int64 = 1

    static func head(program: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{\"format\":\"\(format)\",\"version\":\(version),\"program\":")
        bytes.append(json: program)
        bytes.append("}\n")
        return bytes
    }

    /// The line of a commit.
    /// - Parameters:
    ///   - anchor: Converts the time of the commit.
    ///   - temporaries: Converts the times of temporary overrides.
    static func line(_ record: History.Record, _ anchor: TimeAnchor, temporaries: TimeAnchor) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(160 + 160 * record.parts.count)
        bytes.append("{\"n\":")
        bytes.append(decimal: record.number)
        bytes.append(",\"revision\":")
        bytes.append(decimal: record.revision)
        bytes.append(",\"time\":\"\(TimeText.print(anchor.milliseconds(record.time)))\",\"by\":")
        bytes.append(json: record.origin.description)
        bytes.append(",\"kind\":\"\(record.kind.word)\"")
        if let number = record.kind.number { bytes.append(",\"of\":\(number)") }
        if record.status != .done { bytes.append(",\"status\":\"\(record.status.rawValue)\"") }
        bytes.append(",\"changes\":[")
        for (position, part) in record.parts.enumerated() {
            if position > 0 { bytes.append(",") }
            append(part, temporaries, to: &bytes)
        }
        bytes.append("]}\n")
        return bytes
    }

    /// A line with a new status of a commit.
    static func statusLine(_ record: History.Record) -> [UInt8] {
        Array("{\"n\":\(record.number),\"status\":\"\(record.status.rawValue)\"}\n".utf8)
    }

    private static func append(_ part: CommitPart, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        bytes.append("{\"path\":")
        bytes.append(json: part.subject.path.joined)
        if part.old == nil { return bytes.append(",\"secret\":true}") }
        let values = [
            ("old", part.old), ("new", part.new), ("before", part.before.override), ("after", part.after.override),
        ]
        StoredKind(values.map(\.1) + [part.before.temporary?.value, part.after.temporary?.value])?.append(to: &bytes)
        for (key, value) in values { append(key, value, to: &bytes) }
        append("temporaryBefore", part.before.temporary, anchor, to: &bytes)
        append("temporaryAfter", part.after.temporary, anchor, to: &bytes)
        bytes.append("}")
    }

    private static func append(
        _ key: String, _ temporary: OverrideValues.Temporary?, _ anchor: TimeAnchor, to bytes: inout [UInt8]
    ) {
        guard let temporary else { return }
        bytes.append(",\"\(key)\":{\"time\":\"\(TimeText.print(anchor.milliseconds(temporary.time)))\"")
        bytes.append(",\"expires\":\"\(TimeText.print(anchor.milliseconds(temporary.expires)))\"")
        append("value", temporary.value, to: &bytes)
        bytes.append("}")
    }

    private static func append(_ key: String, _ value: TweakValue?, to bytes: inout [UInt8]) {
        guard let value else { return }
        let end = bytes.count
        bytes.append(",\"\(key)\":")
        // Omits a value without an exact text, which no tweak can have.
        if !bytes.append(stored: value) { bytes.removeLast(bytes.count - end) }
    }
}

extension CommitKind {
    /// Its name in the file.
    var word: String {
        switch self {
        case .change: "change"
        case .undo: "undo"
        case .redo: "redo"
        case .reload: "reload"
        case .expiry: "expiry"
        }
    }

    /// The number of the commit that was undone or redone.
    fileprivate var number: UInt64? {
        switch self {
        case .undo(let number, _, _), .redo(let number, _, _): number
        case .change, .reload, .expiry: nil
        }
    }

    /// Decodes a kind; nil if it is invalid.
    init?(word: String, number: UInt64?) {
        switch (word, number) {
        case ("change", _): self = .change(session: 0)
        case ("undo", let number?): self = .undo(number)
        case ("redo", let number?): self = .redo(number)
        case ("reload", _): self = .reload
        case ("expiry", _): self = .expiry
        default: return nil
        }
    }
}
