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

    @inline(never) private init(_ field: String, _ name: String, _ type: MetricsText.FamilyType, _ help: String) {
        (self.field, self.name, self.type, self.help) = (field, name, type, help)
    }

    /// All but the limits, which have labels.
    static let all = [
        ServerMetric("rev", "commits", .counter, "Commits that changed anything, continued over restarts."),
        ServerMetric("tweaks", "tweaks", .gauge, "Tweaks and actions."),
        ServerMetric("modified", "modified_tweaks", .gauge, "Tweaks whose value is not the default."),
        ServerMetric("temporary", "temporary_overrides", .gauge, "Temporary overrides in effect."),
        ServerMetric("conflicts", "conflicts", .gauge, "Paths that were declared in different ways."),
        ServerMetric("frozen", "frozen", .gauge, "Whether values are their defaults and cannot be set."),
        ServerMetric("sessions", "sessions", .gauge, "Open connections."),
        ServerMetric("watchers", "watchers", .gauge, "Sessions that get events."),
        ServerMetric("connections", "connections", .counter, "Accepted connections."),
        ServerMetric("requests", "requests", .counter, "Requests that were carried out or refused."),
        ServerMetric("errors", "refused_requests", .counter, "Requests and connections that were refused."),
        ServerMetric("heldBytes", "held_bytes", .gauge, "Memory of the budget that clients use."),
        ServerMetric(
            "undeliveredObservers", "undelivered_observers", .gauge, "Observers with a change that is not delivered."),
        ServerMetric(
            "deliveryLagMilliseconds", "delivery_lag_seconds", .gauge, "The age of the oldest undelivered change."),
        ServerMetric("overridesStored", "stored_overrides", .gauge, "Overrides in the file."),
        ServerMetric("overridesUnfit", "unfit_overrides", .gauge, "Stored values that do not fit their tweak."),
        ServerMetric("storageWrites", "storage_writes", .counter, "Completed writes of the overrides."),
        ServerMetric("storageFailures", "storage_failures", .counter, "Failed writes of the overrides."),
        ServerMetric("auditCommits", "audit_commits", .counter, "Commits that were audited."),
        ServerMetric("auditWaiting", "audit_waiting", .gauge, "What is not in the audit files yet."),
        ServerMetric("auditLeftOut", "audit_left_out", .counter, "Commits and lines that the audit has dropped."),
        ServerMetric("auditFailures", "audit_failures", .counter, "Failed writes of the audit."),
        ServerMetric("configReloads", "config_reloads", .counter, "Applied reads of the config file."),
        ServerMetric("configFailures", "config_failures", .counter, "Reads of the config file that were invalid."),
        ServerMetric("fleetRevision", "fleet_revision", .gauge, "The applied revision of the fleet's store."),
        ServerMetric("fleetRefused", "fleet_refused", .gauge, "Values and rollouts of the fleet that are refused."),
        ServerMetric("fleetSecondsAgo", "fleet_silence_seconds", .gauge, "The time since the fleet's store answered."),
    ]

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
