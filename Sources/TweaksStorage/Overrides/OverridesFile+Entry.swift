// One override of the file, read: known fields judged, unknown ones passed over.

import Tweaks
import TweaksWire

extension OverridesFile.Entry {
    /// The values of the keys that are known.
    private struct Fields {
        var path: String?
        var kind: String?
        var origin: String?
        var time: String?
        var value: JSONReader.Scalar?
        var covered: JSONReader.Scalar?
        var expires: String?

        mutating func read(_ key: String, _ reader: inout JSONReader) throws(JSONReader.Problem) {
            switch key {
            case "path": path = try reader.text(key, isNew: path == nil)
            case "kind": kind = try reader.text(key, isNew: kind == nil)
            case "origin": origin = try reader.text(key, isNew: origin == nil)
            case "time": time = try reader.text(key, isNew: time == nil)
            case "value": value = try reader.scalar(key, isNew: value == nil)
            case "covered": covered = try reader.scalar(key, isNew: covered == nil)
            case "expires": expires = try reader.text(key, isNew: expires == nil)
            default: try reader.skip()
            }
        }
    }

    init(
        _ reader: inout JSONReader, number: Int, _ anchor: TimeAnchor
    ) throws(JSONReader.Problem) {
        guard reader.peek() == UInt8(ascii: "{") else { throw reader.problem("override \(number) is no object") }
        let start = reader.position
        var fields = Fields()
        try reader.object { key, reader throws(JSONReader.Problem) in try fields.read(key, &reader) }
        text = Array(reader.bytes[start..<reader.position])
        guard let path = fields.path.flatMap({ try? TweakPath($0) }) else {
            throw reader.problem("override \(number): “path” is missing, or is not category/collection/name")
        }
        do throws(EntryProblem) {
            stored = try Self.stored(path, fields, anchor)
        } catch {
            throw reader.problem("override \(number), \(path.token): \(error.text)")
        }
    }

    private struct EntryProblem: Error {
        let text: String
    }

    private static func stored(
        _ path: TweakPath, _ fields: Fields, _ anchor: TimeAnchor
    ) throws(EntryProblem) -> StoredEntry {
        guard let kind = fields.kind.flatMap({ TweakKind(rawValue: $0) }), kind != .action else {
            throw EntryProblem(text: "“kind” is missing, or there is no such kind")
        }
        guard let value = fields.value.flatMap({ TweakValue($0, as: kind) }) else {
            throw EntryProblem(text: "“value” is missing, or is no \(kind.rawValue)")
        }
        let covered = fields.covered.map { TweakValue($0, as: kind) }
        if case .some(nil) = covered { throw EntryProblem(text: "“covered” is no \(kind.rawValue)") }
        guard let origin = fields.origin else { throw EntryProblem(text: "“origin” is missing") }
        guard let time = fields.time.flatMap({ TimeText.parse($0) }) else {
            throw EntryProblem(text: "“time” is missing, or is not like 2026-11-21T09:30:00Z")
        }
        let (start, end) = try life(fields, from: time, anchor)
        return StoredEntry(
            path: path, content: .value(value), origin: TweakOrigin(origin), time: start, covered: covered ?? nil,
            expires: end)
    }

    private static func life(
        _ fields: Fields, from time: Int64, _ anchor: TimeAnchor
    ) throws(EntryProblem) -> (start: ContinuousClock.Instant, end: ContinuousClock.Instant?) {
        guard let text = fields.expires else { return (anchor.instant(time), nil) }
        guard let expires = TimeText.parse(text) else {
            throw EntryProblem(text: "“expires” is not like 2026-11-21T09:30:00Z")
        }
        return anchor.life(from: time, to: expires)
    }
}

extension JSONReader {
    /// Nil for an object or array, which is passed over.
    mutating func scalar(_ key: String, isNew: Bool) throws(Problem) -> Scalar? {
        if !isNew { throw problem("“\(key)” is there twice") }
        guard peek() == UInt8(ascii: "{") || peek() == UInt8(ascii: "[") else { return try scalar() }
        try skip()
        return nil
    }

    mutating func text(_ key: String, isNew: Bool = true) throws(Problem) -> String {
        guard case .string(let text) = try scalar(key, isNew: isNew) else { throw problem("“\(key)” is no text") }
        return text
    }

    mutating func whole(_ key: String) throws(Problem) -> Int64 {
        guard case .number(let text) = try scalar(), let number = Int64(text) else {
            throw problem("“\(key)” is no whole number")
        }
        return number
    }
}

extension TweakValue {
    /// A value as the file has it; nil when it is another kind's.
    init?(_ scalar: JSONReader.Scalar, as kind: TweakKind) {
        let value: TweakValue? =
            switch (scalar, kind) {
            case (.bool(let value), .bool): .bool(value)
            case (.number(let text), .int):
                Int64(text).map(TweakValue.int) ?? UInt64(text).flatMap { TweakValue(whole: $0) }
            case (.number(let text), .number): TweakValue(parsing: text, as: .number)
            case (.string(let text), .string), (.string(let text), .choice), (.string(let text), .color),
                (.string(let text), .duration):
                TweakValue(parsing: text, as: kind)
            default: nil
            }
        guard let value else { return nil }
        self = value
    }
}
