// Defines the status that a process reports, with its JSON within a size limit.

package import Tweaks
import TweaksStorage

/// `instances/ID/START`: the status that a process reports. It can stop a rollout, but never write a value.
package struct FleetStatus: Hashable, Sendable {
    package struct Refusal: Hashable, Sendable {
        /// Nil for a value for all processes.
        package var rollout: String?
        package var path: String
        package var reason: String
    }

    /// A tweak with a local override.
    package struct Override: Hashable, Sendable {
        package var path: String
        /// The value as text, shortened; nil for a secret.
        package var value: String?

        /// The maximum number of them in a status, and the maximum size of a value in bytes.
        package static let maxCount = 40
        private static let maxBytes = 40

        package init(path: String, value: String?) {
            self.path = path
            self.value = value.map { $0.cut(to: Self.maxBytes, cost: FleetStatus.cost) }
        }
    }

    package var build: String
    /// The name of the machine; nil in older processes.
    package var host: String?
    /// What the process knows of rollouts: ``strataEdition`` or above, and 1 in older processes.
    package var edition = FleetStatus.strataEdition
    package var labels: Labels = [:]
    /// The applied etcd revision.
    package var revision: Int64 = 0
    /// The counter of the applied head, and the first digits of its chain.
    package var head: UInt64 = 0
    package var chain: String?
    package var refused: [Refusal] = []
    /// The number of refusals that did not fit.
    package var moreRefused = 0
    /// Paths with a local override above the fleet's value.
    package var covered: [String] = []
    package var moreCovered = 0
    /// All tweaks with a local override, whether the fleet has a value for them or not; what did not fit is counted.
    package var overrides: [Override] = []
    package var moreOverrides = 0
    /// Why the store's content is not applied; nil if it is.
    package var trouble: String?
    /// The process keeps its values until `adopt`: the store does not continue, or cannot prove that it continues, what
    /// the process has applied.
    package var isApart = false
    /// The hash of the values that it keeps, which are in a key of their own.
    package var held: String?
    /// The ID is random and changes with each restart.
    package var isUnstable = false
    /// The start of the process and the time of this status, in milliseconds since 1970.
    package var started: Int64 = 0
    package var at: Int64 = 0
    /// The figures in conditions of open rollouts, by path.
    package var metrics: [String: Double] = [:]
    /// When the figures were sampled, in milliseconds since 1970; nil if there are none, and in older processes.
    package var sampledAt: Int64?
    /// When the process ended in an orderly way, in milliseconds since 1970; nil if it has not.
    package var left: Int64?

    package init(build: String) { self.build = build }

    /// The edition that knows seeds, canaries and strata.
    package static let strataEdition: Int64 = 2

    /// The size limit in bytes; what does not fit is counted.
    package static let maxBytes = 1_024
    /// The status of a process that has ended in an orderly way, its farewell, stays readable for this time.
    package static let farewellSeconds: Int64 = 600

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 16 << 10)
        self.init(build: try fields.text("build"))
        edition = max(1, try fields.count("edition", or: 1))
        labels = try Labels(try fields.members("labels"))
        revision = try fields.count("revision")
        head = try fields.whole("head")
        started = try fields.time("started")
        at = try fields.time("at")
        for element in try fields.elements("refused", max: 1_000) {
            refused.append(
                Refusal(
                    rollout: try element.optionalText("rollout"), path: try element.text("path", max: 400),
                    reason: try element.text("reason", max: 1_000)))
        }
        covered = try fields.texts("covered", max: 1_000)
        host = try fields.optionalText("host")
        overrides = try fields.members("overrides").map { path, value throws(FleetProblem) in
            if let text = value.string { return Override(path: path, value: text) }
            guard case .null = value else { throw FleetProblem("“overrides” has a value that is no text") }
            return Override(path: path, value: nil)
        }
        moreOverrides = Int(min(try fields.count("moreOverrides", or: 0), 1_000_000))
        moreRefused = Int(min(try fields.count("moreRefused", or: 0), 1_000_000))
        moreCovered = Int(min(try fields.count("moreCovered", or: 0), 1_000_000))
        trouble = try fields.optionalText("trouble", max: 1_000)
        chain = try fields.optionalText("chain")
        isApart = try fields.flag("apart")
        held = try fields.optionalText("held")
        isUnstable = try fields.flag("unstable")
        sampledAt = try fields.optionalTime("sampledAt")
        left = try fields.optionalTime("left")
        for (path, metric) in try fields.members("figures") {
            guard case .literal(let text) = metric, let number = Double(text), number.isFinite else {
                throw FleetProblem("the figure \(Quoting.excerpt(path)) is not a number")
            }
            metrics[path] = number
        }
    }

    /// One line of JSON, of at most ``maxBytes``: what does not fit is counted.
    package var bytes: [UInt8] {
        var status = self
        status.cutTexts()
        var line = status.line
        while line.count > Self.maxBytes, status.shorten() { line = status.line }
        return line
    }

    /// Shortens each part to what could fit. Refusals of rollouts come first, because they stop the rollout.
    private mutating func cutTexts() {
        build = build.cut(to: 64, cost: Self.cost)
        host = host.map { $0.cut(to: 64, cost: Self.cost) }
        trouble = trouble.map { $0.cut(to: 160, cost: Self.cost) }
        refused = refused.filter { $0.rollout != nil } + refused.filter { $0.rollout == nil }
        drop(max(0, refused.count - 30), covered: max(0, covered.count - 120))
        for index in refused.indices { refused[index].reason = refused[index].reason.cut(to: 120, cost: Self.cost) }
        metrics = metrics.filter { $0.value.isFinite }
        if metrics.count > 100 {
            metrics = Dictionary(uniqueKeysWithValues: metrics.sorted { $0.key < $1.key }.prefix(100).map { ($0, $1) })
        }
    }

    private mutating func drop(overrides count: Int) {
        overrides.removeLast(count)
        moreOverrides &+= count
    }

    private mutating func drop(_ refusals: Int, covered paths: Int = 0) {
        refused.removeLast(refusals)
        covered.removeLast(paths)
        moreRefused &+= refusals
        moreCovered &+= paths
    }

    /// What is left of a trouble beside a refusal that needs its room, in bytes.
    private static let shortTrouble = 60

    /// Drops the least important part; returns false if nothing is left to drop.
    private mutating func shorten() -> Bool {
        if !overrides.isEmpty {
            drop(overrides: 1)
        } else if !covered.isEmpty {
            drop(0, covered: 1)
        } else if host != nil {
            host = nil
        } else if refused.count > 1, refused.last?.rollout == nil {
            drop(1)
        } else if refused.contains(where: \.isLong) {
            for index in refused.indices { refused[index].shorten() }
        } else if let path = metrics.keys.max() {
            metrics[path] = nil
        } else if let text = trouble, Self.cost(text) > Self.shortTrouble {
            trouble = text.cut(to: Self.shortTrouble, cost: Self.cost)
        } else if !refused.isEmpty {
            drop(1)
        } else if !labels.isEmpty {
            // Only invalid labels can be this long.
            labels = [:]
        } else {
            return false
        }
        return true
    }

    /// The encoded size of a text in JSON, without its quotes.
    fileprivate static func cost(_ text: String) -> Int { Quoting.json(text).utf8.count - 2 }

    private var line: [UInt8] {
        var fields: [(String, JSON)] = [
            ("build", .string(build)), ("edition", .int(edition)), ("revision", .int(revision)),
            ("head", .unsigned(head)),
            ("started", .time(started)), ("at", .time(at)),
        ]
        if !labels.isEmpty { fields.add("labels", labels.json) }
        if !refused.isEmpty { fields.add("refused", .array(refused.map(\.json))) }
        if moreRefused > 0 { fields.add("moreRefused", .count(moreRefused)) }
        if !covered.isEmpty { fields.add("covered", .array(covered.map { .string($0) })) }
        if moreCovered > 0 { fields.add("moreCovered", .count(moreCovered)) }
        fields.add("host", host.map { .string($0) })
        if !overrides.isEmpty { fields.add("overrides", .object(overrides.map { ($0.path, .text($0.value)) })) }
        if moreOverrides > 0 { fields.add("moreOverrides", .count(moreOverrides)) }
        fields.add("trouble", trouble.map { .string($0) })
        fields.add("chain", chain.map { .text($0) })
        if isApart { fields.add("apart", .bool(true)) }
        fields.add("held", held.map { .text($0) })
        if isUnstable { fields.add("unstable", .bool(true)) }
        if !metrics.isEmpty {
            fields.add("figures", .object(metrics.sorted { $0.key < $1.key }.map { ($0.key, .number($0.value)) }))
            fields.add("sampledAt", sampledAt.map { .time($0) })
        }
        fields.add("left", left.map { .time($0) })
        return fields.line
    }
}

extension FleetStatus.Refusal {
    private static let maxPath = 100
    private static let maxReason = 40

    /// Whether the refusal takes more than its guaranteed room. A value's path is never shortened.
    fileprivate var isLong: Bool {
        FleetStatus.cost(reason) > Self.maxReason || rollout != nil && FleetStatus.cost(path) > Self.maxPath
    }

    fileprivate mutating func shorten() {
        reason = reason.cut(to: Self.maxReason, cost: FleetStatus.cost)
        if rollout != nil { path = path.cut(to: Self.maxPath, cost: FleetStatus.cost) }
    }

    fileprivate var json: JSON {
        var fields: [(String, JSON)] = []
        fields.add("rollout", rollout.map { .string($0) })
        return .object(fields + [("path", .string(path)), ("reason", .string(reason))])
    }
}

/// `instances/-/held/HASH`: the values of the fleet that processes have, while they do not apply those of the store.
package struct HeldValues: Hashable, Sendable {
    package private(set) var values: [TweakPath: TweakValue] = [:]
    /// The number of values that did not fit.
    package private(set) var more = 0

    private static let maxBytes = 256 << 10

    package init(_ values: [TweakPath: TweakValue]) { self.values = values }

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: Self.maxBytes)
        for element in try fields.elements("values", max: DesiredState.maxKeys) {
            values[try element.path()] = try element.value("value", try element.kind())
        }
        more = Int(min(try fields.count("more", or: 0), Int64(DesiredState.maxKeys)))
    }

    /// One line of JSON: as many values as fit, by path.
    package var bytes: [UInt8] {
        var lines: [JSON] = []
        var size = 100
        for (path, value) in values.sorted(by: { $0.key.joined < $1.key.joined }) {
            let line = JSON.object(
                [("path", .string(path.joined))] + (StoredKind([value])?.fields ?? [])
                    + [("value", value.storedJSON ?? .null)])
            size += line.text.utf8.count + 1
            if size > Self.maxBytes { break }
            lines.append(line)
        }
        return [("values", .array(lines)), ("more", .count(more &+ values.count &- lines.count))].line
    }
}
