// Turns the reply to `stats` into metrics of the server itself.

import Tweaks
import TweaksWire

/// A number of `stats` as a metric.
struct ServerMetric: Sendable {
    /// The field of the reply.
    let field: String
    /// The name after `tweaks_server_`, without `_total`.
    let name: String
    let type: MetricsText.FamilyType
    let help: String

    /// All but the limits, which have labels.
    static let all = table.split(separator: "\n").map { line in
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        return ServerMetric(
            field: words[0], name: words[1], type: words[2] == "counter" ? .counter : .gauge, help: words[3])
    }

    /// The field, the name, the type and the help of each, as one text: each literal of its own takes a relocation.
    private static let table = """
        rev commits counter Commits that changed anything, continued over restarts.
        tweaks tweaks gauge Tweaks and actions.
        modified modified_tweaks gauge Tweaks whose value is not the default.
        temporary temporary_overrides gauge Temporary overrides in effect.
        conflicts conflicts gauge Paths that were declared in different ways.
        frozen frozen gauge Whether values are their defaults and cannot be set.
        sessions sessions gauge Open connections.
        watchers watchers gauge Sessions that get events.
        connections connections counter Accepted connections.
        requests requests counter Requests that were carried out or refused.
        errors refused_requests counter Requests and connections that were refused.
        heldBytes held_bytes gauge Memory of the budget that clients use.
        undeliveredObservers undelivered_observers gauge Observers with a change that is not delivered.
        deliveryLagMilliseconds delivery_lag_seconds gauge The age of the oldest undelivered change.
        overridesStored stored_overrides gauge Overrides in the file.
        overridesUnfit unfit_overrides gauge Stored values that do not fit their tweak.
        storageWrites storage_writes counter Completed writes of the overrides.
        storageFailures storage_failures counter Failed writes of the overrides.
        auditCommits audit_commits counter Commits that were audited.
        auditWaiting audit_waiting gauge What is not in the audit files yet.
        auditLeftOut audit_left_out counter Commits and lines that the audit has dropped.
        auditFailures audit_failures counter Failed writes of the audit.
        configReloads config_reloads counter Applied reads of the config file.
        configFailures config_failures counter Reads of the config file that were invalid.
        fleetRevision fleet_revision gauge The applied revision of the fleet's store.
        fleetRefused fleet_refused gauge Values and rollouts of the fleet that are refused.
        fleetSecondsAgo fleet_silence_seconds gauge The time since the fleet's store answered.
        """

    /// The base unit at the end of the name.
    fileprivate var unit: String? { ["seconds", "bytes"].first { name.hasSuffix("_\($0)") } }
}

extension MetricsText {
    /// Adds the numbers of a reply to `stats`: those that it has.
    mutating func add(stats fields: [(String, JSON)]) {
        for metric in ServerMetric.all {
            guard let value = fields.first(where: { $0.0 == metric.field })?.1, let text = Self.number(value, metric)
            else { continue }
            let name = "tweaks_server_\(metric.name)"
            begin(name, metric.type, unit: metric.unit, metric.help)
            add(name, metric.type, [], text)
        }
        addLimits(fields)
    }

    private static func number(_ value: JSON, _ metric: ServerMetric) -> String? {
        switch value {
        case .bool(let value): value ? "1" : "0"
        case .int(let value):
            metric.field.hasSuffix("Milliseconds") ? TweakValue.shortest(Double(value) / 1_000) : "\(value)"
        default: nil
        }
    }

    private mutating func addLimits(_ fields: [(String, JSON)]) {
        let objects = fields.compactMap { name, value in
            if case .object(let inner) = value { (name, inner) } else { nil }
        }
        let limits = objects.first { $0.0 == "limits" }?.1 ?? []
        if case .int(let bytes)? = limits.first(where: { $0.0 == "memoryBytes" })?.1 {
            begin("tweaks_server_memory_limit_bytes", .gauge, unit: "bytes", "The memory budget of all clients.")
            add("tweaks_server_memory_limit_bytes", .gauge, [], "\(bytes)")
        }
        guard let hits = objects.first(where: { $0.0 == "limitsHit" })?.1, !hits.isEmpty else { return }
        begin("tweaks_server_limits_hit", .counter, "How often a limit was reached.")
        for case (let limit, .int(let count)) in hits {
            add("tweaks_server_limits_hit", .counter, [("limit", limit)], "\(count)")
        }
    }
}
