// Decodes the overrides file: entries, or a description of the errors.

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
struct OverridesFile: Sendable {
    /// One override.
    struct Entry: Sendable {
        /// The entry as read. It is written back unchanged, including fields of later versions, until its override
        /// changes or its expiry is rewritten for a new wall clock.
        let text: [UInt8]
        let key: OverrideKey
        /// Nil for a value of a kind that this build does not know.
        let stored: StoredEntry?

        var path: TweakPath { key.path }
    }

    /// Why a file is rejected.
    enum Refusal: Error, Equatable {
        /// The error and its position.
        case malformed(String)
        case newerVersion(Int64)
    }

    static let format = "tweaks-overrides"
    static let version: Int64 = 1
    static let sizeLimit = 67_108_864
    /// The highest revision that counting continues from.
    static let highestRevision: UInt64 = 1_000_000_000_000_000

    var program = ""
    var revision: UInt64 = 0
    /// Sorted by path; the override before the temporary one of the same path; each key once.
    var entries: [Entry] = []
    /// Invalid entries, in the order of the file.
    private(set) var rejected: [Rejected] = []
    /// Entries quarantined in earlier runs.
    private var quarantined: [[UInt8]] = []

    /// An invalid entry.
    struct Rejected: Sendable {
        /// The entry as read, and as it is kept.
        let text: [UInt8]
        let reason: String
    }

    /// All quarantined entries, which have no effect and are kept until an operator corrects them.
    var allQuarantined: [[UInt8]] { quarantined + rejected.map(\.text) }

    /// Decodes a file.
    init(_ bytes: [UInt8], _ anchor: TimeAnchor) throws(Refusal) {
        do {
            var head = Head()
            try head.read(bytes)
            // In a newer version, the overrides can have any format.
            if let version = head.version, version > Self.version { throw Refusal.newerVersion(version) }
            try head.check(bytes)
            (program, revision) = (head.program, head.revision)
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
            rejected.append(Rejected(text: try Self.text(&reader), reason: error.description))
        }
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
        withBytes { left in
            other.withBytes { right in
                let count = min(left.count, right.count)
                for position in 0..<count where left[position] != right[position] {
                    return left[position] < right[position]
                }
                return left.count < right.count
            }
        }
    }
}
