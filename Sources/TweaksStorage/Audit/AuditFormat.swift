// Writes and reads the lines of the audit: one per changed tweak or session action, with a count for merged items.

import Tweaks
import TweaksSystem
import TweaksWire

/// The lines of an audit, without their links.
///
/// ```json
/// {"time":"2026-11-21T09:30:00.123Z","revision":43,"by":"uid 1000","from":"unix socket","peer":"uid 1000 pid 4711","session":7,"kind":"change","path":"Content/Text/Size","old":60,"new":72}
/// ```
enum AuditFormat {
    /// Appends an item.
    /// - Parameter isCut: Whether long values are cut.
    static func append(_ item: AuditItem, isCut: Bool, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        bytes.append("{\"time\":\"\(TimeText.print(anchor.milliseconds(item.time)))\"")
        switch item.content {
        case .note(let note): append(note, "", to: &bytes)
        case .change(let commit, let change, let tweaks):
            append(commit, by: commit.origin.description, tweaks: tweaks, "", to: &bytes)
            let (old, new) = (change.old?.auditJSON(isCut: isCut), change.new?.auditJSON(isCut: isCut))
            append(change, from: old, to: new, &bytes)
        }
        bytes.append("}\n")
    }

    /// Appends the line about all items of a fold.
    static func append(_ fold: AuditFold, _ anchor: TimeAnchor, to bytes: inout [UInt8]) {
        bytes.append("{\"time\":\"\(TimeText.print(anchor.milliseconds(fold.last.time)))\"")
        var words = ",\"count\":\(fold.count),\"since\":\"\(TimeText.print(anchor.milliseconds(fold.begun)))\""
        if fold.isMixed { words += ",\"mixed\":true" }
        switch fold.last.content {
        case .note(let note): append(note, words, to: &bytes)
        case .change(let commit, let change, _):
            words += ",\"from revision\":\(fold.firstRevision ?? commit.revision)"
            let by = fold.hasSeveralNames ? commit.origin.identity : commit.origin.description
            append(commit, by: by, tweaks: 1, words, to: &bytes)
            append(change, from: fold.firstOld, to: change.new?.auditJSON(isCut: true), &bytes)
            append(fold.values, to: &bytes)
        }
        bytes.append("}\n")
    }

    /// A line about the audit itself: what was removed, left out or not shipped.
    static func line(_ kind: String, _ fields: [(String, JSON)], at wall: Int64) -> [UInt8] {
        var bytes: [UInt8] = []
        JSON.object([("time", .string(TimeText.print(wall))), ("kind", .string(kind))] + fields).append(to: &bytes)
        bytes.append("\n")
        return bytes
    }

    /// The values with which the config file begins a run, where no copy shows what it was in the run before.
    ///
    /// Each has a line, and a last line has their number and digest. Where the file has the lines of the same values from
    /// an earlier start, as in a loop of crashes, only the last line is written again.
    ///
    /// ```json
    /// {"time":"2026-11-21T09:30:00.123Z","by":"config file","from":"config file","kind":"reload","start":true,"path":"Content/Text/Size","old":60,"new":64}
    /// {"time":"2026-11-21T09:30:00.123Z","by":"config file","from":"config file","kind":"reload","start":true,"tweaks":1,"sha256":"…"}
    /// ```
    /// - Parameter last: The digest at an earlier start, if its lines are in the file.
    static func start(_ changes: [TweakHistoryEntry.Change], after last: String?, at wall: Int64) -> [UInt8] {
        let head = Array("\"by\":\"config file\",\"from\":\"config file\",\"kind\":\"reload\",\"start\":true".utf8)
        let values = changes.map { change in
            var bytes = head
            append(
                change, from: change.old?.auditJSON(isCut: false), to: change.new?.auditJSON(isCut: false), &bytes)
            bytes.append("}\n")
            return bytes
        }
        // Of the lines without their times.
        let digest = String(decoding: AuditChain.hexadecimal(SHA256.digest(values.joined())), as: UTF8.self)
        let time = Array("{\"time\":\"\(TimeText.print(wall))\",".utf8)
        let end = head + Array(",\"tweaks\":\(values.count),\"sha256\":\"\(digest)\"}\n".utf8)
        return (digest == last ? [] : values.flatMap { time + $0 }) + time + end
    }

    // MARK: Parts

    private static func append(_ note: AuditNote, _ fold: String, to bytes: inout [UInt8]) {
        bytes.append(",\"by\":", json: note.by)
        bytes.append(",\"from\":", json: note.from)
        bytes.append(",\"peer\":", json: note.peer)
        bytes.append(",\"session\":\(note.session),\"kind\":", json: note.kind)
        bytes.append(fold)
        for (key, value) in note.details {
            bytes.append(",", json: key)
            bytes.append(":")
            value.json.append(to: &bytes)
        }
    }

    private static func append(
        _ commit: CommitRecord, by: String, tweaks: Int, _ fold: String, to bytes: inout [UInt8]
    ) {
        bytes.append(",\"revision\":\(commit.revision),\"by\":", json: by)
        // The origin of an earlier run may have a window, and no transport.
        let connection = commit.origin.connection.flatMap { $0.transport.isEmpty ? nil : $0 }
        bytes.append(",\"from\":", json: connection?.transport ?? commit.source)
        if let connection { bytes.append(",\"peer\":", json: connection.peer) }
        if let session = commit.kind?.session { bytes.append(",\"session\":\(session)") }
        bytes.append(",\"kind\":\"\(commit.word)\"")
        bytes.append(fold)
        if let target = commit.targetRevision { bytes.append(",\"of\":\(target)") }
        if tweaks > 1 { bytes.append(",\"tweaks\":\(tweaks)") }
    }

    private static func append(
        _ change: TweakHistoryEntry.Change, from old: [UInt8]?, to new: [UInt8]?, _ bytes: inout [UInt8]
    ) {
        bytes.append(",\"path\":", json: change.path.joined)
        guard let old, let new else { return bytes.append(",\"secret\":true") }
        bytes.append(",\"old\":")
        bytes += old
        bytes.append(",\"new\":")
        bytes += new
        guard let nanoseconds = change.lifetime?.exactNanoseconds else { return }
        bytes.append(",\"for\":\"\(DurationText.print(nanoseconds))\"")
    }

    private static func append(_ values: AuditedValues, to bytes: inout [UInt8]) {
        for (key, value) in [("lowest", values.lowest), ("highest", values.highest)] {
            guard let value else { continue }
            bytes.append(",\"\(key)\":")
            bytes += value.auditJSON(isCut: false)
        }
        if values.listed.isEmpty { return }
        bytes.append(",\"values\":[")
        bytes += values.listed.joined(separator: [UInt8(ascii: ",")])
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

extension TweakValue {
    /// The JSON of a value in an audit line.
    /// - Parameter isCut: Whether one of more than 64 bytes is written as `{"start":"…","bytes":1500,"sha256":"…"}`.
    func auditJSON(isCut: Bool) -> [UInt8] {
        let maxBytes = 64
        var json: [UInt8] = []
        let text: String
        switch self {
        case .string(let string) where isCut && string.utf8.count > maxBytes: text = string
        case .choice(let choice) where isCut && choice.utf8.count > maxBytes: text = choice
        default:
            // Null if it has no exact text, which no tweak can have.
            if !json.append(stored: self) { json.append("null") }
            if !isCut || json.count <= maxBytes || isText { return json }
            text = String(decoding: json, as: UTF8.self)
        }
        // As many whole characters as fit.
        var start = String.UnicodeScalarView()
        var count = 0
        for scalar in text.unicodeScalars {
            count += UTF8.width(scalar)
            if count > maxBytes { break }
            start.append(scalar)
        }
        var cut: [UInt8] = []
        cut.append("{\"start\":", json: String(start))
        cut.append(",\"bytes\":\(text.utf8.count),\"sha256\":\"")
        cut += AuditChain.hexadecimal(SHA256.digest(text.utf8))
        cut.append("\"}")
        return cut
    }

    private var isText: Bool { kind == .string || kind == .choice }
}

// MARK: - Reading

/// What a new process learns from a line of an earlier one.
struct AuditLine {
    private(set) var time: Int64 = 0
    private(set) var from = ""
    /// Of the values with which a config file has begun a run, their digest; see ``AuditFormat/start(_:after:at:)``.
    private(set) var startDigest: String?
    private(set) var revision: UInt64?
    /// The number of tweaks in the commit, and the one of this line.
    private(set) var tweaks: Int64 = 1
    private(set) var path: String?
    private var by = ""
    private var peer: String?
    private var hasSession = false
    private var isStart = false

    /// Reads a whole line; nil for an incomplete one.
    init?(_ line: [UInt8]) {
        var reader = JSONReader(line)
        do throws(JSONReader.Problem) {
            try reader.check()
            try reader.object { key, reader throws(JSONReader.Problem) in try read(key, &reader) }
        } catch {
            return nil
        }
    }

    /// Reads who is responsible for a line and when it was written, which is in its first bytes; nil for what is no line
    /// of an action.
    init?(head line: some Sequence<UInt8>) {
        var reader = JSONReader(Array(line.prefix(2_048)), at: 0)
        try? reader.object { key, reader throws(JSONReader.Problem) in
            if key == "path" { throw reader.problem("the head ends here") }
            try read(key, &reader)
        }
        if by.isEmpty || time == 0 { return nil }
    }

    private mutating func read(_ key: String, _ reader: inout JSONReader) throws(JSONReader.Problem) {
        switch key {
        case "time": time = TimeText.parse(try reader.string()) ?? 0
        // Lines that were left out are accounted for, not missing.
        case "revision", "to revision": revision = UInt64(exactly: try reader.whole(key))
        case "by": by = try reader.string()
        case "from": from = try reader.string()
        case "peer": peer = try reader.string()
        case "session": hasSession = try reader.whole(key) > 0
        case "start": isStart = try reader.scalar() == .bool(true)
        case "sha256": startDigest = isStart ? try reader.string() : nil
        case "tweaks": tweaks = try reader.whole(key)
        case "path": path = try reader.text(key)
        default: try reader.skip()
        }
    }

    /// The client whose budget the line has spent; nil for the program and its files, which are never refused.
    var client: String? {
        guard hasSession else { return nil }
        // A display name has no parentheses.
        let name = by.utf8.last == UInt8(ascii: ")") ? by.utf8.lastIndex(of: UInt8(ascii: "(")) : nil
        let identity = name.map { String(by.utf8[..<$0].dropLast()) ?? by } ?? by
        return TweakOrigin.client(identity, peer)
    }
}
