// Encodes and decodes rollouts.

import Tweaks
import TweaksStorage

extension Rollout {
    /// Limits of one rollout.
    package static let (maxChanges, maxSteps, maxBytes) = (100, 20, 256 << 10)
    package static let maxConditions = 20

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: Self.maxBytes)
        let id = try fields.text("id")
        guard Self.isID(id) else { throw FleetProblem("“id” is not letters, digits and “-”, at most 40") }
        var changes: [Change] = []
        for element in try fields.elements("changes", max: Self.maxChanges) { changes.append(try Change(element)) }
        guard !changes.isEmpty, Set(changes.map(\.path)).count == changes.count else {
            throw FleetProblem("“changes” is empty, or has a path twice")
        }
        self.init(
            id: id, changes: changes, share: try Share(fields.json["percent"], "percent"), by: try fields.text("by"),
            at: try fields.time("at"))
        selector = try Labels(try fields.members("where"))
        try readSteps(fields)
        try readTimes(fields)
        for text in try fields.texts("abortIf", max: Self.maxConditions) {
            guard let condition = MetricCondition(parsing: text) else {
                throw FleetProblem("“abortIf” is not like Service/Errors/Rate > 5")
            }
            abortIf.append(condition)
        }
    }

    private mutating func readSteps(_ fields: FleetFields) throws(FleetProblem) {
        guard let state = State(rawValue: try fields.text("state")) else {
            throw FleetProblem("“state” is not open, paused or done")
        }
        self.state = state
        steps = []
        for element in try fields.array("steps", max: Self.maxSteps) { steps.append(try Share(element, "steps")) }
        guard zip(steps, steps.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw FleetProblem("“steps” does not rise from one to the next")
        }
    }

    private mutating func readTimes(_ fields: FleetFields) throws(FleetProblem) {
        every = try fields.seconds("everySeconds", from: 0) ?? 300
        next = try fields.optionalTime("next")
        lifetime = try fields.seconds("lifetimeSeconds")
        confirmWithin = try fields.seconds("confirmSeconds")
        confirmBy = try fields.optionalTime("confirmBy")
        reached = fields.optional("members") == nil ? nil : try fields.count("members")
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields: [(String, JSON)] = [
            ("id", .string(id)), ("changes", .array(changes.map(\.json))), ("percent", share.json),
            ("state", .string(state.rawValue)), ("steps", .array(steps.map(\.json))), ("everySeconds", .int(every)),
        ]
        if !selector.isEmpty { fields.add("where", selector.json) }
        fields.add("next", next.map { .time($0) })
        if !abortIf.isEmpty { fields.add("abortIf", .array(abortIf.map { .string($0.text) })) }
        fields.add("lifetimeSeconds", lifetime.map { .int($0) })
        fields.add("confirmSeconds", confirmWithin.map { .int($0) })
        fields.add("confirmBy", confirmBy.map { .time($0) })
        fields.add("members", reached.map { .int($0) })
        return (fields + [("by", .text(by)), ("at", .time(at))]).line
    }
}

extension Rollout.Change {
    fileprivate init(_ fields: FleetFields) throws(FleetProblem) {
        let (path, kind) = (try fields.path(), try fields.kind())
        let value = try fields.value("value", kind)
        guard let found = fields.json["found"] else {
            self.init(path: path, value: value, found: nil)
            return
        }
        // A plain value is never an object.
        let isOwn = if case .object = found { true } else { false }
        self.init(
            path: path, value: value,
            found: isOwn ? try FleetFields.ownValue(found) : try fields.value("found", kind))
    }

    fileprivate var json: JSON {
        var fields: [(String, JSON)] = [("path", .string(path.joined))]
        fields += StoredKind(haveOneKind ? [value, found] : [value])?.fields ?? []
        fields.add("value", value.storedJSON)
        fields.add("found", haveOneKind ? found?.storedJSON : found?.ownJSON)
        return .object(fields)
    }

    /// Whether one kind describes both values. It does not if a build has changed the tweak's kind.
    private var haveOneKind: Bool {
        guard let found, value != .notSet || found != .notSet else { return true }
        if value == .notSet || found == .notSet { return value.kind != .list && found.kind != .list }
        let components = [value.componentKind, found.componentKind].compactMap(\.self)
        return value.kind == found.kind && Set(components).count <= 1
    }
}
