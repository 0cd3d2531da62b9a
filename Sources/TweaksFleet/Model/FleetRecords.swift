// Defines the keys of a fleet and the records in them, with their JSON: desired values, the head, the log, drivers.

package import Tweaks
import TweaksStorage

/// The keys of one fleet: `PREFIX/NAME/…`, readable with etcdctl.
package struct FleetKeys: Hashable, Sendable {
    package let prefix: String
    package let name: String

    /// Asked for with each event.
    package let head: [UInt8]
    package let values: [UInt8]
    package let rollouts: [UInt8]

    package init(prefix: String = "/tweaks", name: String) {
        self.prefix = prefix
        self.name = name
        head = Array("\(prefix)/\(name)/desired/head".utf8)
        values = Array("\(prefix)/\(name)/desired/values/".utf8)
        rollouts = Array("\(prefix)/\(name)/desired/rollouts/".utf8)
    }

    private func key(_ rest: String) -> [UInt8] { Array("\(prefix)/\(name)/\(rest)".utf8) }

    /// The prefix of all keys of the fleet.
    package var all: [UInt8] { key("") }
    /// The prefix that processes watch.
    package var desired: [UInt8] { key("desired/") }
    package func value(_ path: TweakPath) -> [UInt8] { key("desired/values/\(path)") }
    package func rollout(_ id: String) -> [UInt8] { key("desired/rollouts/\(id)") }
    package var instances: [UInt8] { key("instances/") }
    package func instance(_ id: String, start: Int64) -> [UInt8] { key("instances/\(id)/\(start)") }
    /// Values that processes hold, while they do not apply those of the store. Below `instances/`, which they may write.
    package var held: [UInt8] { key("instances/-/held/") }
    package func held(_ hash: String) -> [UInt8] { key("instances/-/held/\(hash)") }
    package var builds: [UInt8] { key("builds/") }
    package func build(_ hash: String) -> [UInt8] { key("builds/\(hash)") }
    package var log: [UInt8] { key("log/") }
    /// Padded with zeros, so that keys sort by number.
    package func log(_ sequence: UInt64) -> [UInt8] {
        key("log/" + String(sequence).padded(to: 12))
    }
    /// The chain after a write, for processes that have missed later ones.
    package func chain(_ counter: UInt64) -> [UInt8] { key("chain/" + String(counter).padded(to: 12)) }
    package var users: [UInt8] { key("users/") }
    /// What an etcd user has written, in a key that no other user may write.
    package func user(_ name: String) -> [UInt8] { key("users/\(name)") }
    package var freezes: [UInt8] { key("freezes/") }
    package func freeze(_ name: String) -> [UInt8] { key("freezes/\(name)") }
    package var proposals: [UInt8] { key("proposals/") }
    package func proposal(_ id: String) -> [UInt8] { key("proposals/\(id)") }
    package var drivers: [UInt8] { key("driver/") }
    package func driver(_ id: String) -> [UInt8] { key("driver/\(id)") }
    package var timers: [UInt8] { key("timer/") }
    package func timer(_ id: String) -> [UInt8] { key("timer/\(id)") }
    package var schedule: [UInt8] { key("scheduled/") }
    /// A rollout that the drive service begins once its timer is over.
    package func scheduled(_ id: String) -> [UInt8] { key("scheduled/\(id)") }
    /// The claim of the drive service that leads.
    package var leader: [UInt8] { key("claims/drive") }
    /// The claim of the import that is being written.
    package var importClaim: [UInt8] { key("claims/import") }

    /// The kind of a key below `desired/`.
    package enum Desired: Hashable, Sendable {
        case head
        case value(TweakPath)
        case rollout(String)
        /// A key of another program, or an invalid path.
        case foreign
    }

    package func desired(_ key: [UInt8]) -> Desired {
        if key == head { return .head }
        if key.starts(with: values), let text = String(validating: key.dropFirst(values.count), as: UTF8.self),
            let path = try? TweakPath(text)
        {
            return .value(path)
        }
        if key.starts(with: rollouts), let id = String(validating: key.dropFirst(rollouts.count), as: UTF8.self),
            Rollout.isID(id)
        {
            return .rollout(id)
        }
        return .foreign
    }
}

/// `desired/values/PATH`: a value for every process.
package struct DesiredValue: Hashable, Sendable {
    package var value: TweakValue
    package var by: String
    /// Milliseconds since 1970.
    package var at: Int64

    package init(value: TweakValue, by: String, at: Int64) {
        self.value = value
        self.by = by
        self.at = at
    }

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

/// `desired/head`: counts the operators' writes; each write compares and replaces it.
package struct FleetHead: Hashable, Sendable {
    package var counter: UInt64
    package var by: String
    package var what: String
    package var at: Int64
    /// The counter of the last `adopt`; 0 if there was none. Later heads repeat it, for processes that were offline
    /// then.
    package var adopted: UInt64 = 0
    /// A hash of all writes up to this one, and of those before it, by ``FleetChain``. Older operators write none.
    package var chain: String?
    package var previous: String?

    /// The largest counter: the log's keys have twelve digits, and would not sort by number beyond. A head with a larger
    /// one is unreadable, so no process applies it, and `adopt` replaces it.
    package static let maxCounter: UInt64 = 999_999_999_999

    package init(counter: UInt64, by: String, what: String, at: Int64) {
        self.counter = counter
        self.by = by
        self.what = what
        self.at = at
    }

    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 16 << 10)
        self.init(
            counter: try fields.whole("counter"), by: try fields.text("by"), what: try fields.text("what", max: 1_000),
            at: try fields.time("at"))
        if fields.optional("adopted") != nil { adopted = try fields.whole("adopted") }
        guard counter <= Self.maxCounter, adopted <= counter else {
            throw FleetProblem("“counter” is above \(Self.maxCounter), or “adopted” is above “counter”")
        }
        chain = try Self.chain("chain", fields)
        previous = try Self.chain("previous", fields)
    }

    private static func chain(_ name: String, _ fields: FleetFields) throws(FleetProblem) -> String? {
        guard let text = try fields.optionalText(name) else { return nil }
        guard FleetChain.isChain(text) else { throw FleetProblem("“\(name)” is not 64 hexadecimal digits") }
        return text
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields: [(String, JSON)] = [
            ("counter", .unsigned(counter)), ("by", .text(by)), ("what", .text(what, max: 1_000)), ("at", .time(at)),
        ]
        if adopted > 0 { fields.add("adopted", .unsigned(adopted)) }
        fields.add("chain", chain.map { .string($0) })
        fields.add("previous", previous.map { .string($0) })
        return fields.line
    }
}

/// `log/SEQ`: an operator's action, written in the same transaction.
package struct FleetLogEntry: Hashable, Sendable {
    package struct Change: Hashable, Sendable {
        package var path: TweakPath
        package var old: TweakValue?
        package var new: TweakValue?
    }

    package var sequence: UInt64
    /// `set`, `reset`, `rollout`, `step`, `pause`, `resume`, `finish`, `abort`, `undo`, `import`, `adopt`, `freeze`,
    /// `unfreeze`, `propose`, `approve`, `reject`.
    package var verb: String
    /// The ID of the rollout, or of the proposal.
    package var rollout: String?
    package var changes: [Change] = []
    /// Why a driver did it automatically, or which part of an import it is; nil for another command of an operator.
    package var why: String?
    /// The lifetime in seconds of the lease of the rollout that it begins; nil without one.
    package var lifetime: Int64?
    package var by: String
    package var at: Int64
}

extension FleetLogEntry {
    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 1 << 20)
        var changes: [Change] = []
        for element in try fields.elements("changes", max: 1_000) { changes.append(try Change(element)) }
        self.init(
            sequence: try fields.whole("sequence"), verb: try fields.text("verb"),
            rollout: try fields.optionalText("rollout"), changes: changes, why: try fields.optionalText("why"),
            lifetime: try fields.seconds("lifetimeSeconds"), by: try fields.text("by"), at: try fields.time("at"))
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields: [(String, JSON)] = [("sequence", .unsigned(sequence)), ("verb", .string(verb))]
        fields.add("rollout", rollout.map { .string($0) })
        fields.add("changes", .array(changes.map(\.json)))
        fields.add("why", why.map { .text($0) })
        fields.add("lifetimeSeconds", lifetime.map { .int($0) })
        return (fields + [("by", .text(by)), ("at", .time(at))]).line
    }
}

/// `driver/ID`: the driver of a rollout, under a lease.
package struct FleetDriver: Hashable, Sendable {
    package var host: String
    package var pid: Int64
    package var by: String
    package var at: Int64
    /// Whether it can ask Prometheus.
    package var hasPrometheus = false
}

extension FleetDriver {
    package init(_ bytes: [UInt8]) throws(FleetProblem) {
        let fields = try FleetFields(bytes, max: 4_096)
        self.init(
            host: try fields.text("host"), pid: try fields.count("pid"), by: try fields.text("by"),
            at: try fields.time("at"), hasPrometheus: try fields.flag("prometheus"))
    }

    /// One line of JSON.
    package var bytes: [UInt8] {
        var fields: [(String, JSON)] = [
            ("host", .text(host)), ("pid", .int(pid)), ("by", .text(by)), ("at", .time(at)),
        ]
        if hasPrometheus { fields.add("prometheus", .bool(true)) }
        return fields.line
    }
}

extension FleetLogEntry.Change {
    fileprivate init(_ fields: FleetFields) throws(FleetProblem) {
        // Old and new values can differ in kind if a build has changed the tweak's kind.
        self.init(
            path: try fields.path(), old: try fields.optional("old").map(FleetFields.ownValue),
            new: try fields.optional("new").map(FleetFields.ownValue))
    }

    fileprivate var json: JSON {
        var fields: [(String, JSON)] = [("path", .string(path.joined))]
        fields.add("old", old?.ownJSON)
        fields.add("new", new?.ownJSON)
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
