// Decodes the history file into commits, or reports the first invalid line.

import Tweaks
import TweaksWire

/// The content of a history file.
struct HistoryDecoder {
    /// Oldest first, each number once.
    private(set) var records: [History.Record] = []
    /// The number of lines in the file.
    private(set) var lines = 0
    /// Whether the last line is incomplete, because its writer died.
    private(set) var endsMidLine = false

    private var byNumber: [UInt64: History.Record] = [:]

    /// Decodes a file.
    init(_ bytes: [UInt8], _ anchor: TimeAnchor) throws(OverridesFile.Refusal) {
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
        records = byNumber.values.sorted { $0.number < $1.number }
    }

    /// Drops commits above a revision, whose overrides were never written, and restores the status of commits that they
    /// undid or redid.
    /// - Returns: Whether there were any.
    mutating func drop(above revision: UInt64) -> Bool {
        let gone = records.filter { $0.revision > revision }
        for record in gone.reversed() {
            switch record.kind {
            case .undo(let number, _, _): set(number, .done)
            case .redo(let number, _, _): set(number, .undone)
            case .change, .reload, .expiry: break
            }
        }
        records.removeAll { $0.revision > revision }
        return !gone.isEmpty
    }

    private mutating func set(_ number: UInt64, _ status: History.Record.Status) {
        for index in records.indices where records[index].number == number { records[index].status = status }
    }

    private var newerVersion: Int64?

    private mutating func read(_ line: [UInt8], _ anchor: TimeAnchor) throws(JSONReader.Problem) {
        var reader = JSONReader(line)
        try reader.check()
        var fields = HistoryFields()
        try reader.object { key, reader throws(JSONReader.Problem) in try fields.read(key, &reader, anchor) }
        try reader.end()
        if lines == 1 {
            if fields.format != HistoryEncoder.format {
                throw reader.problem("“format” is not “\(HistoryEncoder.format)”")
            }
            if let version = fields.version, version > HistoryEncoder.version { return newerVersion = version }
            if fields.version != HistoryEncoder.version {
                throw reader.problem("“version” is not a positive whole number")
            }
        } else if fields.isStatus {
            let (number, status) = (try fields.number(reader), try fields.status(reader))
            // Ignored if the commit is no longer stored.
            byNumber[number]?.status = status
        } else {
            let record = try fields.record(reader, anchor)
            byNumber[record.number] = record
        }
    }
}

/// The values of the known keys of a line.
private struct HistoryFields {
    var format: String?
    var version: Int64?
    private var n: Int64?
    private var revision: Int64?
    private var time: String?
    private var origin: String?
    private var kind: String?
    private var of: Int64?
    private var statusWord: String?
    private var parts: [CommitPart]?

    mutating func read(_ key: String, _ reader: inout JSONReader, _ anchor: TimeAnchor) throws(JSONReader.Problem) {
        switch key {
        case "format": format = try reader.text(key)
        case "version": version = try reader.whole(key)
        case "n": n = try reader.whole(key)
        case "revision": revision = try reader.whole(key)
        case "time": time = try reader.text(key)
        case "by": origin = try reader.text(key)
        case "kind": kind = try reader.text(key)
        case "of": of = try reader.whole(key)
        case "status": statusWord = try reader.text(key)
        case "changes":
            var list: [CommitPart] = []
            try reader.array { reader throws(JSONReader.Problem) in
                list.append(try HistoryPartDecoder.part(&reader, anchor))
            }
            parts = list
        default: try reader.skip()
        }
    }

    var isStatus: Bool { parts == nil && statusWord != nil }

    /// Limited far below the maximum, because numbering continues from it, and above the highest revision of an
    /// overrides file, from which commits are counted.
    private static func count(_ number: Int64?) -> UInt64? {
        number.flatMap { (1...2_000_000_000_000_000).contains($0) ? UInt64($0) : nil }
    }

    func number(_ reader: JSONReader) throws(JSONReader.Problem) -> UInt64 {
        guard let number = Self.count(n) else {
            throw reader.problem("“n” is missing, or is not a positive whole number")
        }
        return number
    }

    func status(_ reader: JSONReader) throws(JSONReader.Problem) -> History.Record.Status {
        guard let statusWord else { return .done }
        guard let status = History.Record.Status(rawValue: statusWord) else {
            throw reader.problem("“status” is unknown")
        }
        return status
    }

    func record(_ reader: JSONReader, _ anchor: TimeAnchor) throws(JSONReader.Problem) -> History.Record {
        guard let revision = Self.count(revision) else {
            throw reader.problem("“revision” is missing, or is not a positive whole number")
        }
        guard let time = time.flatMap({ TimeText.parse($0) }) else {
            throw reader.problem("“time” is missing, or is not like 2026-11-21T09:30:00Z")
        }
        guard let origin else { throw reader.problem("“by” is missing") }
        guard let kind = kind.flatMap({ CommitKind(word: $0, number: Self.count(of)) }) else {
            throw reader.problem("“kind” is missing or unknown")
        }
        guard let parts else { throw reader.problem("“changes” are missing") }
        return History.Record(
            number: try number(reader), revision: revision, time: anchor.instant(time), origin: TweakOrigin(origin),
            kind: kind, status: try status(reader), parts: parts)
    }
}
