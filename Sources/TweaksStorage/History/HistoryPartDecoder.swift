// Decodes the change of one tweak in a history line.

import Tweaks
import TweaksWire

/// The fields of one tweak's change.
struct HistoryPartDecoder {
    private var path: String?
    private var kind: String?
    private var component: String?
    private var isSecret = false
    private var values: [String: JSON] = [:]
    private var temporaries: [String: (value: JSON?, time: String?, expires: String?)] = [:]

    static func part(_ reader: inout JSONReader, _ anchor: TimeAnchor) throws(JSONReader.Problem) -> CommitPart {
        var fields = HistoryPartDecoder()
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
        guard let path = path.flatMap({ try? TweakPath($0) }) else {
            throw reader.problem("“path” is missing, or is not category/collection/name")
        }
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
        guard let value = storedKind?.value(json) else {
            throw reader.problem("“\(key)” is of another kind than “kind”")
        }
        return value
    }
}
