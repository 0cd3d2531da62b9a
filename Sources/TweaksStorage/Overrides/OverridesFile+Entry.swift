// Decodes one override of the file: known fields are validated, unknown ones ignored.

import Tweaks
import TweaksWire

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
        do throws(EntryProblem) {
            stored = try Self.stored(path, fields, anchor)
        } catch {
            throw reader.problem("override \(number), \(path.token): \(error.text)")
        }
    }

    private struct EntryProblem: Error {
        let text: String
    }

    /// Nil if this build does not have values of that kind: a later version may have written it.
    private static func stored(
        _ path: TweakPath, _ fields: Fields, _ anchor: TimeAnchor
    ) throws(EntryProblem) -> StoredEntry? {
        guard let kindText = fields.kind, kindText != TweakKind.action.rawValue else {
            throw EntryProblem(text: "“kind” is missing or unknown")
        }
        guard let kind = StoredKind(kind: kindText, of: fields.component) else { return nil }
        guard let value = fields.value.flatMap({ kind.value($0) }) else {
            throw EntryProblem(text: "“value” is missing, or is not of kind \(kindText)")
        }
        let covered = fields.covered.map { kind.value($0) }
        if case .some(nil) = covered { throw EntryProblem(text: "“covered” is not of kind \(kindText)") }
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
        return anchor.lifetime(from: time, to: expires)
    }
}
