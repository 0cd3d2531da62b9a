// Reads and writes the lines of the history file: one line per commit, and another one when its status changes.

package import Tweaks
import TweaksWire

/// The format of the history file.
///
/// ```json
/// {"format":"tweaks-history","version":1,"program":"bounce"}
/// {"n":12,"revision":43,"time":"2026-11-21T09:30:00.123Z","by":"uid 1000","kind":"change","changes":[{"path":"Content/Text/Size","kind":"number","old":60,"new":72,"after":72}]}
/// {"n":12,"status":"undone"}
/// ```
///
/// Of two lines with the same number, the later one is valid, as far as its revision is that of the overrides or lower.
package enum HistoryFormat {
    static let format = "tweaks-history"
    package static let version: Int64 = 1

    static func head(program: String) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.append("{\"format\":\"\(format)\",\"version\":\(version),\"program\":", json: program)
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
        if record.origin.window != 0 {
            bytes.append(",\"window\":\"\(String(record.origin.window, radix: 16))\"")
        }
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
        bytes.append("{\"path\":", json: part.subject.path.joined)
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
        case .preview: "preview"
        }
    }

    /// The number of the commit that was undone or redone.
    fileprivate var number: UInt64? {
        switch self {
        case .undo(let number, _, _), .redo(let number, _, _): number
        case .change, .reload, .expiry, .preview: nil
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

/// The content of a history file.
package struct HistoryDecoder {
    /// Oldest first, each number once.
    package private(set) var records: [History.Record] = []
    /// The number of lines in the file.
    private(set) var lines = 0
    /// Whether the last line is incomplete, because its writer died.
    package private(set) var endsMidLine = false
    /// The number of commits that were left out, wholly or in their last steps: their overrides were never written.
    package var laterCount: Int { later.count }

    private let limit: UInt64
    private var byNumber: [UInt64: History.Record] = [:]
    private var later: [UInt64: History.Record] = [:]

    /// Decodes a file.
    /// - Parameter limit: The revision of the overrides. The history is written before them, so that after a crash it can
    ///   have later commits, which are left out, and later steps of a commit, which is then as it was before these.
    package init(_ bytes: [UInt8], _ anchor: TimeAnchor, upTo limit: UInt64? = nil) throws(OverridesFile.Refusal) {
        self.limit = limit ?? .max
        let end = bytes.lastIndex(of: UInt8(ascii: "\n")).map { $0 + 1 } ?? 0
        endsMidLine = end < bytes.count
        if bytes.isEmpty { return }
        for line in bytes[..<end].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).dropLast() {
            lines += 1
            do throws(JSONReader.Problem) {
                try read(Array(line), anchor)
            } catch {
                throw .malformed("line \(lines): \(error.text)")
            }
            if let newerVersion { throw .newerVersion(newerVersion) }
        }
        if lines == 0 { throw .malformed("its first line has no end") }
        restoreStatuses()
        records = byNumber.values.sorted { $0.number < $1.number }
    }

    /// Restores the statuses that the later commits have changed.
    private mutating func restoreStatuses() {
        for record in later.values.sorted(by: { $0.number > $1.number }) {
            switch record.kind {
            case .undo(let number, _, _): byNumber[number]?.status = .done
            case .redo(let number, _, _): byNumber[number]?.status = .undone
            case .change, .reload, .expiry, .preview: break
            }
        }
        // The first change after an undo ends redo.
        guard later.values.contains(where: { $0.isFirstStep(after: byNumber) }) else { return }
        let last = byNumber.values.lazy.filter(\.isChange).map(\.number).max() ?? 0
        for record in byNumber.values where record.number > last {
            guard case .undo(let number, _, _) = record.kind, byNumber[number]?.status == .dropped else { continue }
            byNumber[number]?.status = .undone
        }
    }

    private var newerVersion: Int64?

    private mutating func read(_ line: [UInt8], _ anchor: TimeAnchor) throws(JSONReader.Problem) {
        var reader = JSONReader(line)
        try reader.check()
        var fields = LineFields()
        try reader.object { key, reader throws(JSONReader.Problem) in try fields.read(key, &reader, anchor) }
        try reader.end()
        if lines == 1 {
            if fields.format != HistoryFormat.format {
                throw reader.problem("“format” is not “\(HistoryFormat.format)”")
            }
            if let version = fields.version, version > HistoryFormat.version { return newerVersion = version }
            if fields.version != HistoryFormat.version {
                throw reader.problem("“version” is not a positive whole number")
            }
        } else if fields.isStatus {
            let (number, status) = (try fields.number(reader), try fields.status(reader))
            // Ignored if the commit is no longer stored.
            byNumber[number]?.status = status
        } else {
            let record = try fields.record(reader, anchor)
            if record.revision > limit { later[record.number] = record } else { byNumber[record.number] = record }
        }
    }
}

extension History.Record {
    /// Whether it is a change of which nothing is among other records.
    fileprivate func isFirstStep(after others: [UInt64: History.Record]) -> Bool {
        isChange && others[number] == nil
    }
}

/// The values of the known keys of a line.
private struct LineFields {
    var format: String?
    var version: Int64?
    private var number: UInt64?
    private var revision: UInt64?
    private var time: Int64?
    private var origin: String?
    private var window: String?
    private var kind: String?
    private var of: UInt64?
    private var statusWord: String?
    private var parts: [CommitPart]?

    mutating func read(_ key: String, _ reader: inout JSONReader, _ anchor: TimeAnchor) throws(JSONReader.Problem) {
        switch key {
        case "format": format = try reader.text(key)
        case "version": version = try reader.whole(key)
        case "n": number = Self.count(try reader.whole(key))
        case "revision": revision = Self.count(try reader.whole(key))
        case "time": time = TimeText.parse(try reader.text(key))
        case "by": origin = try reader.text(key)
        case "window": window = try reader.text(key)
        case "kind": kind = try reader.text(key)
        case "of": of = Self.count(try reader.whole(key))
        case "status": statusWord = try reader.text(key)
        case "changes":
            var list: [CommitPart] = []
            try reader.array { reader throws(JSONReader.Problem) in list.append(try PartFields.part(&reader, anchor)) }
            parts = list
        default: try reader.skip()
        }
    }

    /// Limited far below the maximum, because numbering continues from it, and above the highest revision of an
    /// overrides file, from which commits are counted.
    private static func count(_ number: Int64) -> UInt64? {
        (1...2_000_000_000_000_000).contains(number) ? UInt64(number) : nil
    }

    var isStatus: Bool { parts == nil && statusWord != nil }

    func number(_ reader: JSONReader) throws(JSONReader.Problem) -> UInt64 {
        try reader.found(number, else: "“n” is missing, or is not a positive whole number")
    }

    func status(_ reader: JSONReader) throws(JSONReader.Problem) -> History.Record.Status {
        guard let statusWord else { return .done }
        return try reader.found(History.Record.Status(rawValue: statusWord), else: "“status” is unknown")
    }

    func record(_ reader: JSONReader, _ anchor: TimeAnchor) throws(JSONReader.Problem) -> History.Record {
        let revision = try reader.found(revision, else: "“revision” is missing, or is not a positive whole number")
        let time = try reader.found(time, else: "“time” is missing, or is not like 2026-11-21T09:30:00Z")
        let origin = try reader.found(origin, else: "“by” is missing")
        // Files of earlier versions, and changes without a browser, have none.
        let owner = try reader.found(UInt64(window ?? "0", radix: 16), else: "“window” is not a hexadecimal number")
        let kind = kind.flatMap { CommitKind(word: $0, number: of) }
        return History.Record(
            number: try number(reader), revision: revision, time: anchor.instant(time),
            origin: TweakOrigin(origin).inWindow(owner),
            kind: try reader.found(kind, else: "“kind” is missing or unknown"), status: try status(reader),
            parts: try reader.found(parts, else: "“changes” are missing"))
    }
}

extension JSONReader {
    /// A value that must be there.
    fileprivate func found<Value>(_ value: Value?, else text: String) throws(Problem) -> Value {
        guard let value else { throw problem(text) }
        return value
    }
}

/// The fields of one tweak's change.
private struct PartFields {
    private var path: String?
    private var kind: String?
    private var component: String?
    private var isSecret = false
    private var values: [String: JSON] = [:]
    private var temporaries: [String: (value: JSON?, time: String?, expires: String?)] = [:]

    static func part(_ reader: inout JSONReader, _ anchor: TimeAnchor) throws(JSONReader.Problem) -> CommitPart {
        var fields = PartFields()
        try reader.object { key, reader throws(JSONReader.Problem) in
            switch key {
            case "path": fields.path = try reader.text(key)
            case "kind": fields.kind = try reader.text(key)
            case "of": fields.component = try reader.text(key)
            case "secret": fields.isSecret = try reader.scalar() != .bool(false)
            case "old", "new", "before", "after":
                fields.values[key] = try reader.value(key, isNew: fields.values[key] == nil)
            case "temporaryBefore", "temporaryAfter": fields.temporaries[key] = try Self.temporary(&reader)
            default: try reader.skip()
            }
        }
        return try fields.part(reader, anchor)
    }

    private static func temporary(
        _ reader: inout JSONReader
    ) throws(JSONReader.Problem) -> (value: JSON?, time: String?, expires: String?) {
        var (value, time, expires): (JSON?, String?, String?)
        try reader.object { key, reader throws(JSONReader.Problem) in
            switch key {
            case "value": value = try reader.value(key, isNew: value == nil)
            case "time": time = try reader.text(key)
            case "expires": expires = try reader.text(key)
            default: try reader.skip()
            }
        }
        return (value, time, expires)
    }

    private func part(_ reader: JSONReader, _ anchor: TimeAnchor) throws(JSONReader.Problem) -> CommitPart {
        let path = try reader.found(
            path.flatMap { try? TweakPath($0) }, else: "“path” is missing, or is not category/collection/name")
        // A value of an unknown kind, from a later build, is treated as a secret: only the fact of the change is kept.
        if isSecret || kind != nil && storedKind == nil { return CommitPart(redacted: .path(path, isSecret: true)) }
        guard let old = try value("old", values["old"], reader), let new = try value("new", values["new"], reader)
        else {
            throw reader.problem("\(path.token): “old” or “new” is missing")
        }
        return CommitPart(
            .path(path),
            .changed(
                before: try layers("before", "temporaryBefore", reader, anchor),
                after: try layers("after", "temporaryAfter", reader, anchor)),
            old: old, new: new)
    }

    private func layers(
        _ key: String, _ temporaryKey: String, _ reader: JSONReader, _ anchor: TimeAnchor
    ) throws(JSONReader.Problem) -> OverrideValues {
        var layers = OverrideValues(override: try value(key, values[key], reader))
        guard let found = temporaries[temporaryKey] else { return layers }
        guard let value = try value(temporaryKey, found.value, reader),
            let time = found.time.flatMap({ TimeText.parse($0) }),
            let expires = found.expires.flatMap({ TimeText.parse($0) })
        else { throw reader.problem("“\(temporaryKey)” lacks its value, or one of its times") }
        let (start, end) = anchor.lifetime(from: time, to: expires)
        layers.temporary = OverrideValues.Temporary(value, time: start, expires: end)
        return layers
    }

    private var storedKind: StoredKind? { kind.flatMap { StoredKind(kind: $0, of: component) } }

    private func value(
        _ key: String, _ json: JSON?, _ reader: JSONReader
    ) throws(JSONReader.Problem) -> TweakValue? {
        guard let json else { return nil }
        return try reader.found(storedKind?.value(json), else: "“\(key)” is of another kind than “kind”")
    }
}
