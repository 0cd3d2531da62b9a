// Encodes and decodes desired values, the head, log entries and drivers.

import Tweaks
import TweaksStorage

extension DesiredValue {
    package static let maxBytes = 64 << 10

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: Self.maxBytes)
        let kind = try fields.kind()
        self.init(value: try fields.value("value", kind), by: try fields.text("by"), at: try fields.time("at"))
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields = StoredKind([value])?.fields ?? []
        fields.add("value", value.storedJSON)
        return (fields + [("by", .text(by)), ("at", .time(at))]).line
    }
}

extension FleetHead {
    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 16 << 10)
        self.init(
            counter: try fields.whole("counter"), by: try fields.text("by"), what: try fields.text("what", max: 1_000),
            at: try fields.time("at"))
        adopted = fields.optional("adopted") == nil ? 0 : try fields.whole("adopted")
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields: [(String, JSON)] = [
            ("counter", .unsigned(counter)), ("by", .text(by)), ("what", .text(what, max: 1_000)), ("at", .time(at)),
        ]
        if adopted > 0 { fields.add("adopted", .unsigned(adopted)) }
        return fields.line
    }
}

extension FleetLogEntry {
    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 1 << 20)
        var changes: [Change] = []
        for element in try fields.elements("changes", max: 1_000) { changes.append(try Change(element)) }
        self.init(
            sequence: try fields.whole("sequence"), verb: try fields.text("verb"),
            rollout: try fields.optionalText("rollout"), changes: changes, by: try fields.text("by"),
            at: try fields.time("at"))
        why = fields.optional("why") == nil ? nil : try fields.text("why")
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields: [(String, JSON)] = [("sequence", .unsigned(sequence)), ("verb", .string(verb))]
        fields.add("rollout", rollout.map { .string($0) })
        fields.add("changes", .array(changes.map(\.json)))
        if let why { fields.append(("why", .text(why))) }
        return (fields + [("by", .text(by)), ("at", .time(at))]).line
    }
}

extension FleetLogEntry.Change {
    fileprivate init(_ fields: FleetFields) throws(FleetProblem) {
        // Old and new values can differ in kind if a build has changed the tweak's kind.
        let (old, new) = (fields.optional("old"), fields.optional("new"))
        self.init(
            path: try fields.path(), old: try old.map(FleetFields.ownValue), new: try new.map(FleetFields.ownValue))
    }

    fileprivate var json: JSON {
        var fields: [(String, JSON)] = [("path", .string(path.joined))]
        for (name, value) in [("old", old), ("new", new)] {
            fields.add(name, value?.ownJSON)
        }
        return .object(fields)
    }
}

extension FleetFields {
    /// Decodes a value that is stored with its kind.
    static func ownValue(_ json: JSON) throws(FleetProblem) -> TweakValue {
        let own = FleetFields(json)
        return try own.value("value", try own.kind())
    }
}

extension TweakValue {
    /// The value with its kind; nil if it has no exact text, which no tweak value lacks.
    var ownJSON: JSON? {
        storedJSON.map { .object((StoredKind([self])?.fields ?? []) + [("value", $0)]) }
    }
}

extension FleetDriver {
    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 4_096)
        self.init(
            host: try fields.text("host"), pid: try fields.count("pid"), by: try fields.text("by"),
            at: try fields.time("at"))
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        [("host", .text(host)), ("pid", .int(pid)), ("by", .text(by)), ("at", .time(at))].line
    }
}
