// Reads and writes the overrides file: one line per override, so that a change is one line in a diff.

package import Tweaks
import TweaksWire

/// Changes of overrides by key: the new override, or nil for none.
package typealias OverrideChanges = [OverrideKey: StoredEntry?]

/// The content of an overrides file.
///
/// ```json
/// {
///   "format": "tweaks-overrides",
///   "version": 1,
///   "program": "bounce",
///   "revision": 43,
///   "overrides": [
///     {"path": "Content/Text/Color", "kind": "color", "value": "#FF0000FF", "origin": "uid 1000", "time": "2026-11-21T09:35:00.000Z", "covered": "#000000FF", "expires": "2026-11-21T09:45:00.000Z"},
///     {"path": "Content/Text/Size", "kind": "number", "value": 72, "origin": "uid 1000", "time": "2026-11-21T09:30:00.123Z", "covered": 60}
///   ]
/// }
/// ```
package struct OverridesFile: Sendable {
    /// One override.
    package struct Entry: Sendable {
        /// The entry as read. It is written back unchanged, including fields of later versions, until its override
        /// changes or its expiry is rewritten for a new wall clock.
        package let text: [UInt8]
        package let key: OverrideKey
        /// Nil for a value of a kind that this build does not know.
        package let stored: StoredEntry?

        package var path: TweakPath { key.path }
    }

    /// Why a file is rejected.
    package enum Refusal: Error, Equatable {
        /// The error and its position.
        case malformed(String)
        case newerVersion(Int64)
    }

    static let format = "tweaks-overrides"
    package static let version: Int64 = 1
    package static let sizeLimit = 67_108_864
    /// The highest revision that counting continues from.
    static let highestRevision: UInt64 = 1_000_000_000_000_000

    var program = ""
    package private(set) var revision: UInt64 = 0
    /// Sorted by path; the override before the temporary one of the same path; each key once.
    package private(set) var entries: [Entry] = []
    /// Invalid entries, as read and as they are kept, in the order of the file.
    package private(set) var rejected: [(text: [UInt8], reason: String)] = []
    /// Entries quarantined in earlier runs.
    private var quarantined: [[UInt8]] = []

    /// All quarantined entries, which have no effect and are kept until an operator corrects them.
    package var allQuarantined: [[UInt8]] { quarantined + rejected.map(\.text) }

    /// Decodes a file.
    package init(_ bytes: [UInt8], _ anchor: TimeAnchor) throws(Refusal) {
        do {
            var head = Head()
            try head.read(bytes)
            // In a newer version, the overrides can have any format.
            if let version = head.version, version > Self.version { throw Refusal.newerVersion(version) }
            try head.check(bytes)
            program = head.program
            revision = head.revision
            var reader = JSONReader(bytes, at: head.overrides ?? 0)
            var keys: Set<OverrideKey> = []
            var number = 0
            try reader.array { reader throws(JSONReader.Problem) in
                number += 1
                try decodeEntry(&reader, number, &keys, anchor)
            }
            if let position = head.quarantined { quarantined = try Self.texts(bytes, at: position) }
        } catch let problem as JSONReader.Problem {
            throw .malformed(problem.description)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw .malformed("\(error)")
        }
        let pairs = zip(entries, entries.dropFirst())
        // The writer sorts entries, and manual edits rarely change the order.
        if !pairs.allSatisfy({ $0.key.precedes($1.key) }) { entries.sort { $0.key.precedes($1.key) } }
    }

    /// Decodes an entry, or rejects it alone if its end can be found.
    private mutating func decodeEntry(
        _ reader: inout JSONReader, _ number: Int, _ keys: inout Set<OverrideKey>, _ anchor: TimeAnchor
    ) throws(JSONReader.Problem) {
        var attempt = reader
        do throws(JSONReader.Problem) {
            let entry = try Entry(&attempt, number: number, anchor)
            guard keys.insert(entry.key).inserted else {
                throw reader.problem("override \(number), \(entry.path.token) is there twice; the first counts")
            }
            entries.append(entry)
            reader = attempt
        } catch {
            rejected.append((try Self.text(&reader), error.description))
        }
    }

    /// The revision of a file; nil if it is malformed, or has another format.
    package static func revision(_ bytes: [UInt8]) -> UInt64? {
        var head = Head()
        do throws(JSONReader.Problem) {
            try head.read(bytes)
            try head.check(bytes)
        } catch {
            return nil
        }
        return head.revision
    }

    /// The bytes of a value, which is skipped.
    private static func text(_ reader: inout JSONReader) throws(JSONReader.Problem) -> [UInt8] {
        _ = reader.peek()
        let start = reader.position
        try reader.skip()
        return Array(reader.bytes[start..<reader.position])
    }

    private static func texts(_ bytes: [UInt8], at position: Int) throws(JSONReader.Problem) -> [[UInt8]] {
        var reader = JSONReader(bytes, at: position)
        var texts: [[UInt8]] = []
        try reader.array { reader throws(JSONReader.Problem) in texts.append(try text(&reader)) }
        return texts
    }
}

/// The file without its overrides.
private struct Head {
    var format: String?
    var version: Int64?
    var program = ""
    var revision: UInt64 = 0
    /// The position of the overrides list.
    var overrides: Int?
    /// The position of the list of quarantined entries.
    var quarantined: Int?

    mutating func read(_ bytes: [UInt8]) throws(JSONReader.Problem) {
        var reader = JSONReader(bytes)
        try reader.check()
        try reader.object { key, reader throws(JSONReader.Problem) in
            switch key {
            case "format": format = try reader.text(key)
            case "version": version = try reader.whole(key)
            case "program": program = try reader.text(key)
            case "revision":
                guard let number = UInt64(exactly: try reader.whole(key)) else {
                    throw reader.problem("“revision” is negative")
                }
                // Counting continues from it, and must stay within the numbers that this reader and JSON have.
                revision = min(number, OverridesFile.highestRevision)
            case "overrides":
                _ = reader.peek()
                if overrides != nil { throw reader.problem("“overrides” is there twice") }
                overrides = reader.position
                try reader.skip()
            case "setAside":
                _ = reader.peek()
                if quarantined != nil { throw reader.problem("“setAside” is there twice") }
                quarantined = reader.position
                try reader.skip()
            default: try reader.skip()
            }
        }
        try reader.end()
    }

    func check(_ bytes: [UInt8]) throws(JSONReader.Problem) {
        let reader = JSONReader(bytes)
        if format != OverridesFile.format { throw reader.problem("“format” is not “\(OverridesFile.format)”") }
        if version != OverridesFile.version { throw reader.problem("“version” is not a positive whole number") }
        if overrides == nil { throw reader.problem("there is no list “overrides”") }
    }
}

extension OverrideKey {
    /// The order in files: by path, and the override first.
    func precedes(_ other: OverrideKey) -> Bool {
        path == other.path ? !isTemporary && other.isTemporary : path.precedes(other.path)
    }
}

extension TweakPath {
    /// The order in files: by bytes.
    func precedes(_ other: TweakPath) -> Bool {
        withBytes { left in other.withBytes { right in left.lexicographicallyPrecedes(right) } }
    }
}

extension OverridesFile.Entry {
    /// The values of the known keys.
    private struct Fields {
        var path: String?
        var kind: String?
        var component: String?
        var origin: String?
        var time: String?
        var value: JSON?
        var covered: JSON?
        var expires: String?

        mutating func read(_ key: String, _ reader: inout JSONReader) throws(JSONReader.Problem) {
            switch key {
            case "path": path = try reader.text(key, isNew: path == nil)
            case "kind": kind = try reader.text(key, isNew: kind == nil)
            case "of": component = try reader.text(key, isNew: component == nil)
            case "origin": origin = try reader.text(key, isNew: origin == nil)
            case "time": time = try reader.text(key, isNew: time == nil)
            case "value": value = try reader.value(key, isNew: value == nil)
            case "covered": covered = try reader.value(key, isNew: covered == nil)
            case "expires": expires = try reader.text(key, isNew: expires == nil)
            default: try reader.skip()
            }
        }
    }

    init(
        _ reader: inout JSONReader, number: Int, _ anchor: TimeAnchor
    ) throws(JSONReader.Problem) {
        guard reader.peek() == UInt8(ascii: "{") else { throw reader.problem("override \(number) is not an object") }
        let start = reader.position
        var fields = Fields()
        try reader.object { key, reader throws(JSONReader.Problem) in try fields.read(key, &reader) }
        text = Array(reader.bytes[start..<reader.position])
        guard let path = fields.path.flatMap({ try? TweakPath($0) }) else {
            throw reader.problem("override \(number): “path” is missing, or is not category/collection/name")
        }
        key = OverrideKey(path, isTemporary: fields.expires != nil)
        let end = reader
        stored = try Self.stored(path, fields, anchor) { end.problem("override \(number), \(path.token): \($0)") }
    }

    /// Nil if this build does not have values of that kind: a later version may have written it.
    private static func stored(
        _ path: TweakPath, _ fields: Fields, _ anchor: TimeAnchor, _ problem: (String) -> JSONReader.Problem
    ) throws(JSONReader.Problem) -> StoredEntry? {
        guard let kindText = fields.kind, kindText != TweakKind.action.rawValue else {
            throw problem("“kind” is missing or unknown")
        }
        guard let kind = StoredKind(kind: kindText, of: fields.component) else { return nil }
        guard let value = fields.value.flatMap({ kind.value($0) }) else {
            throw problem("“value” is missing, or is not of kind \(kindText)")
        }
        let covered = fields.covered.map { kind.value($0) }
        if case .some(nil) = covered { throw problem("“covered” is not of kind \(kindText)") }
        guard let origin = fields.origin else { throw problem("“origin” is missing") }
        guard let time = fields.time.flatMap({ TimeText.parse($0) }) else {
            throw problem("“time” is missing, or is not like 2026-11-21T09:30:00Z")
        }
        var start = anchor.instant(time)
        var end: Moment?
        if let text = fields.expires {
            guard let expires = TimeText.parse(text) else {
                throw problem("“expires” is not like 2026-11-21T09:30:00Z")
            }
            (start, end) = anchor.lifetime(from: time, to: expires)
        }
        return StoredEntry(
            path: path, content: .value(value), origin: TweakOrigin(origin), time: start, covered: covered ?? nil,
            expires: end)
    }
}

// MARK: - Writing

extension OverridesFile {
    /// The file with these sorted lines and the quarantined entries.
    static func text(
        program: String, revision: UInt64, lines: some Collection<[UInt8]>, quarantined: [[UInt8]] = []
    ) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(lines.reduce(160 + program.utf8.count) { $0 + $1.count + 6 })
        bytes.append("{\n  \"format\": \"\(format)\",\n  \"version\": \(version)")
        bytes.append(",\n  \"program\": ", json: program)
        bytes.append(",\n  \"revision\": ")
        bytes.append(decimal: revision)
        bytes.append(",\n  \"overrides\": ")
        bytes.append(list: lines)
        if !quarantined.isEmpty {
            bytes.append(",\n  \"setAside\": ")
            bytes.append(list: quarantined)
        }
        bytes.append("\n}\n")
        return bytes
    }

    /// The line of one override; nil for a value without an exact text, which no tweak can have.
    static func line(_ entry: StoredEntry, _ anchor: TimeAnchor) -> [UInt8]? {
        guard case .value(let value) = entry.content else { return nil }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(192)
        bytes.append("{\"path\": ", json: entry.path.joined)
        let covered = entry.covered.flatMap { $0.kind == value.kind || [$0, value].contains(.notSet) ? $0 : nil }
        StoredKind([value, covered])?.append(to: &bytes, space: " ")
        bytes.append(", \"value\": ")
        guard bytes.append(stored: value) else { return nil }
        bytes.append(", \"origin\": ", json: entry.origin.description)
        bytes.append(", \"time\": \"\(TimeText.print(anchor.milliseconds(entry.time)))\"")
        if let covered {
            let end = bytes.count
            bytes.append(", \"covered\": ")
            if !bytes.append(stored: covered) { bytes.removeLast(bytes.count - end) }
        }
        if let expires = entry.expires {
            bytes.append(", \"expires\": \"\(TimeText.print(anchor.milliseconds(expires)))\"")
        }
        bytes.append("}")
        return bytes
    }
}

extension [UInt8] {
    /// Appends a list with one element per line.
    fileprivate mutating func append(list lines: some Collection<[UInt8]>) {
        var separator = "[\n    "
        for line in lines {
            append(separator)
            append(contentsOf: line)
            separator = ",\n    "
        }
        append(lines.isEmpty ? "[]" : "\n  ]")
    }
}
