// Reads and writes rollouts.

import Tweaks
import TweaksStorage

extension Rollout {
    /// Limits of one rollout.
    package static let (mostChanges, mostSteps, mostBytes) = (100, 20, 256 << 10)

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, most: Self.mostBytes)
        let id = try fields.text("id")
        guard Self.isID(id) else { throw FleetProblem("“id” is not letters, digits and “-”, at most 40") }
        var changes: [Change] = []
        for element in try fields.elements("changes", most: Self.mostChanges) { changes.append(try Change(element)) }
        guard !changes.isEmpty, Set(changes.map(\.path)).count == changes.count else {
            throw FleetProblem("“changes” is empty, or has a path twice")
        }
        self.init(
            id: id, changes: changes, share: try Share(fields.json["percent"], "percent"), by: try fields.text("by"),
            at: try fields.time("at"))
        selector = try Labels(fields.json["where"])
        try readSteps(fields)
        for element in fields.json["abortIf"]?.elements ?? [] {
            guard let condition = element.string.flatMap({ FigureCondition(parsing: $0) }) else {
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
        for element in fields.json["steps"]?.elements ?? [] { steps.append(try Share(element, "steps")) }
        guard steps.count <= Self.mostSteps, zip(steps, steps.dropFirst()).allSatisfy({ $0 < $1 }) else {
            throw FleetProblem("“steps” does not rise, or has more than \(Self.mostSteps) steps")
        }
        every = try fields.count("everySeconds", or: 300)
        next = try fields.optionalTime("next")
        lifetime = fields.optional("lifetimeSeconds") == nil ? nil : try fields.count("lifetimeSeconds")
        // Longer than any lease; no sum with it overflows.
        if let lifetime, !(1...1_000_000_000).contains(lifetime) {
            throw FleetProblem("“lifetimeSeconds” is not 1…1000000000")
        }
        confirmWithin = fields.optional("confirmSeconds") == nil ? nil : try fields.count("confirmSeconds")
        confirmBy = try fields.optionalTime("confirmBy")
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
        return (fields + [("by", .string(by)), ("at", .time(at))]).line
    }
}

extension Rollout.Change {
    fileprivate init(_ fields: FleetFields) throws(FleetProblem) {
        let (path, kind) = (try fields.path(), try fields.kind())
        self.init(
            path: path, value: try fields.value("value", kind),
            found: fields.json["found"] == nil ? nil : try fields.value("found", kind))
    }

    fileprivate var json: JSON {
        var fields: [(String, JSON)] = [("path", .string(path.joined))]
        fields += StoredKind([value, found])?.fields ?? []
        fields.add("value", value.storedJSON)
        fields.add("found", found?.storedJSON)
        return .object(fields)
    }
}
