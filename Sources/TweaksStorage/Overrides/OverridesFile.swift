// The overrides file, read: bytes to entries, or everything that is wrong with them.

package import Tweaks
import TweaksWire

/// The changes of some overrides: the new one, or nil for none.
package typealias OverrideChanges = [OverrideKey: StoredEntry?]

/// What an overrides file says.
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
        /// As the file has it, and as it is written back while nobody changes it, nor the wall clock where it ends by
        /// itself: with what a later version may add.
        let text: [UInt8]
        let key: OverrideKey
        /// Nil for a value of a kind that this build does not know.
        let stored: StoredEntry?

        var path: TweakPath { key.path }
    }

    /// Why a file cannot be taken.
    enum Refusal: Error, Equatable {
        /// What is wrong, and where.
        case malformed(String)
        case newerVersion(Int64)
    }

    static let format = "tweaks-overrides"
    static let version: Int64 = 1
    static let sizeLimit = 67_108_864

    var program = ""
    var revision: UInt64 = 0
    /// By path, and of one path the override before the temporary one; each once.
    var entries: [Entry] = []
    /// What stands among them and cannot be taken, in the order of the file.
    private(set) var rejected: [Rejected] = []
    /// What was set aside earlier.
    private var aside: [[UInt8]] = []

    /// An entry that cannot be taken.
    struct Rejected: Sendable {
        /// As the file has it, and as it is kept.
        let text: [UInt8]
        let reason: String
    }

    /// What is kept until a person mends it: nothing of it counts, and nothing of it is lost.
    var allAside: [[UInt8]] { aside + rejected.map(\.text) }

    /// Reads a file.
    init(_ bytes: [UInt8], _ anchor: TimeAnchor) throws(Refusal) {
        do {
            var head = Head()
            try head.read(bytes)
            // What a newer version says of overrides may be anything.
            if let version = head.version, version > Self.version { throw Refusal.newerVersion(version) }
            try head.check(bytes)
            (program, revision) = (head.program, head.revision)
            var reader = JSONReader(bytes, at: head.overrides ?? 0)
            var keys: Set<OverrideKey> = []
            var number = 0
            try reader.array { reader throws(JSONReader.Problem) in
                number += 1
                try take(&reader, number, &keys, anchor)
            }
            if let position = head.aside { aside = try Self.texts(bytes, at: position) }
        } catch let problem as JSONReader.Problem {
            throw .malformed(problem.description)
        } catch let refusal as Refusal {
            throw refusal
        } catch {
            throw .malformed("\(error)")
        }
        let pairs = zip(entries, entries.dropFirst())
        // We write them in order, and people rarely disturb it.
        if !pairs.allSatisfy({ $0.key.precedes($1.key) }) { entries.sort { $0.key.precedes($1.key) } }
    }

    /// Takes an entry, or rejects it alone, as long as one can see where it ends.
    private mutating func take(
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

    /// The bytes of a value, passed over.
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

/// The file but for its overrides.
private struct Head {
    var format: String?
    var version: Int64?
    var program = ""
    var revision: UInt64 = 0
    /// Where their list begins.
    var overrides: Int?
    /// Where the list begins of what was set aside.
    var aside: Int?

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
                revision = number
            case "overrides":
                _ = reader.peek()
                if overrides != nil { throw reader.problem("“overrides” is there twice") }
                overrides = reader.position
                try reader.skip()
            case "setAside":
                _ = reader.peek()
                if aside != nil { throw reader.problem("“setAside” is there twice") }
                aside = reader.position
                try reader.skip()
            default: try reader.skip()
            }
        }
        try reader.end()
    }

    func check(_ bytes: [UInt8]) throws(JSONReader.Problem) {
        let reader = JSONReader(bytes)
        if format != OverridesFile.format { throw reader.problem("“format” is not “\(OverridesFile.format)”") }
        if version != OverridesFile.version { throw reader.problem("“version” is no number from 1") }
        if overrides == nil { throw reader.problem("there is no list “overrides”") }
    }
}

extension OverrideKey {
    /// The order of files: by path, and the override first.
    func precedes(_ other: OverrideKey) -> Bool {
        path == other.path ? !isTemporary && other.isTemporary : path.precedes(other.path)
    }
}

extension TweakPath {
    /// The order of files: by bytes.
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
