// Defines rollouts, with their JSON: changes that reach a growing share of the processes, unless a condition ends them.

package import Tweaks
import TweaksStorage

/// A rollout as stored in `desired/rollouts/ID`.
package struct Rollout: Hashable, Sendable {
    package struct Change: Hashable, Sendable {
        package var path: TweakPath
        package var value: TweakValue
        /// The fleet's value when the rollout was created; nil if there was none.
        package var found: TweakValue?
    }

    package enum State: String, Hashable, Sendable {
        /// A driver advances it, or it waits for one.
        case open
        /// Stays at its share.
        case paused
        /// A standing rule: all processes that the selector matches.
        case done
    }

    package var id: String
    package var changes: [Change]
    package var selector: Labels = [:]
    /// Its share; of each stratum, if there are strata.
    package var share: Share
    /// Replaces the ID in the hash: the same processes come first in each rollout with this seed. Nil without one.
    package var seed: String?
    /// Processes with all of these labels are members from the first step on, besides the share; none if it is empty.
    package var canary: Labels = [:]
    /// The label whose values are the strata; nil without strata.
    package var per: String?
    /// The last member of each stratum that has one.
    package var cutoffs: [StratumPosition] = []
    package var steps: [Share] = [.all]
    package var state = State.open
    /// The minimum number of seconds between two steps.
    package var every: Int64 = 300
    /// The earliest time of the next step, in milliseconds since 1970; only for display if a timer decides.
    package var next: Int64?
    /// Whether the end of the key `timer/ID` decides when the next step is due, or the deadline to finish it is over:
    /// it is under a lease, and a lease ends by etcd's clock. In rollouts of older clients the times in them decide.
    package var isTimed = false
    /// Conditions that abort it.
    package var abortIf: [MetricCondition] = []
    /// Conditions on what Prometheus answers to its driver.
    package var abortIfPrometheus: [PrometheusCondition] = []
    /// Whether it is left to the fleet's drive service, which keeps its lease alive.
    package var isHanded = false
    /// The lifetime of its lease in seconds, if any: a process without contact leaves the rollout after this time.
    package var lifetime: Int64?
    /// The seconds within which an operator must finish it after its last step; otherwise it is reverted.
    package var confirmWithin: Int64?
    /// The deadline for that, in milliseconds since 1970; only for display if a timer decides.
    package var confirmBy: Int64?
    /// The number of members with stable IDs when its step began; nil if unknown.
    package var reached: Int64?
    /// The revision of etcd at which they were counted; nil in rollouts of older clients.
    package var reachedAt: Int64?
    package var by: String
    /// Milliseconds since 1970.
    package var at: Int64

    /// Whether a text is a valid ID: letters, digits and `-`, at most 40.
    package static func isID(_ text: String) -> Bool {
        (1...40).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                (UInt8(ascii: "a")...UInt8(ascii: "z")).contains($0)
                    || (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) || $0 == UInt8(ascii: "-")
            }
    }
}

extension Rollout {
    /// Limits of one rollout.
    package static let maxChanges = 100
    package static let maxSteps = 20
    package static let maxConditions = 20
    package static let maxBytes = 256 << 10

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
        try readStrata(fields)
        try readSteps(fields)
        try readTimes(fields)
        abortIf = try Self.conditions(fields, "abortIf") + Self.conditions(fields, "abortIfCompared")
        for text in try fields.texts("abortIfPrometheus", max: Self.maxConditions) {
            guard let condition = PrometheusCondition(parsing: text) else {
                throw FleetProblem("“abortIfPrometheus” is not like sum(rate(errors_total[1m])) > 5")
            }
            abortIfPrometheus.append(condition)
        }
        isHanded = try fields.flag("handed")
        guard abortIf.count + abortIfPrometheus.count <= Self.maxConditions else {
            throw FleetProblem("there are more than \(Self.maxConditions) conditions")
        }
    }

    private static func conditions(_ fields: FleetFields, _ name: String) throws(FleetProblem) -> [MetricCondition] {
        var conditions: [MetricCondition] = []
        for text in try fields.texts(name, max: maxConditions) {
            guard let condition = MetricCondition(parsing: text) else {
                throw FleetProblem("“\(name)” is not like Service/Errors/Rate > 5")
            }
            conditions.append(condition)
        }
        return conditions
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
        isTimed = try fields.flag("timer")
        lifetime = try fields.seconds("lifetimeSeconds")
        confirmWithin = try fields.seconds("confirmSeconds")
        confirmBy = try fields.optionalTime("confirmBy")
        if fields.optional("members") != nil { reached = try fields.count("members") }
        if fields.optional("membersAt") != nil { reachedAt = try fields.count("membersAt") }
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields: [(String, JSON)] = [
            ("id", .string(id)), ("changes", .array(changes.map(\.json))),
            // An older process goes by this alone, and must not become a member by another rule.
            ("percent", edition == 1 ? share.json : Share.none.json), ("state", .string(state.rawValue)),
            ("steps", .array(steps.map(\.json))), ("everySeconds", .int(every)),
        ]
        if edition > 1 { fields.add("share", share.json) }
        if !selector.isEmpty { fields.add("where", selector.json) }
        fields += strataFields
        fields.add("next", next.map { .time($0) })
        if isTimed { fields.add("timer", .bool(true)) }
        // Older processes read only the first, and would not read a rollout with what they do not know.
        for (name, isPlain) in [("abortIf", true), ("abortIfCompared", false)] {
            let texts = abortIf.filter { $0.isPlain == isPlain }.map { JSON.string($0.text) }
            if !texts.isEmpty { fields.add(name, .array(texts)) }
        }
        if !abortIfPrometheus.isEmpty {
            fields.add("abortIfPrometheus", .array(abortIfPrometheus.map { .string($0.text) }))
        }
        if isHanded { fields.add("handed", .bool(true)) }
        fields.add("lifetimeSeconds", lifetime.map { .int($0) })
        fields.add("confirmSeconds", confirmWithin.map { .int($0) })
        fields.add("confirmBy", confirmBy.map { .time($0) })
        fields.add("members", reached.map { .int($0) })
        fields.add("membersAt", reachedAt.map { .int($0) })
        return (fields + [("by", .text(by)), ("at", .time(at))]).line
    }
}

extension Rollout.Change {
    fileprivate init(_ fields: FleetFields) throws(FleetProblem) {
        let path = try fields.path()
        let kind = try fields.kind()
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
