// Implements the commands instances and instance: which processes live, and what one of them reports.

import Tweaks
import TweaksFleet
import TweaksSystem

extension FleetClient {
    /// Lists the live processes, one a line.
    func instances() async throws(FleetRefusal) {
        let labels = try reading { () throws(Failure) in try Labels(selecting: arguments.values(.where)) }
        let reports = try await fleet.instances(with: labels)
        if console.isJSON { return console.print(.array(reports.map(\.json))) }
        console.print(reports.map { $0.line(now: now) })
        if !reports.isEmpty { return }
        let which = labels.isEmpty ? "" : " with \(labels.text)"
        console.output.printRemark("no process of \(keys.name)\(which) lives")
    }

    /// Prints all that one process reports.
    func instance() async throws(FleetRefusal) {
        let report = try await fleet.instance(id)
        if console.isJSON { return console.print(report.json) }
        console.print(report.lines(now: now))
    }
}

extension InstanceReport {
    /// `i1: zone=eu, build 5f3c…, revision 52, in k3x9mp, 1 local override, 12 s ago`
    func line(now: Int64) -> String {
        var parts = status.labels.isEmpty ? [] : [status.labels.text]
        if let host = status.host { parts.append("on \(host)") }
        parts.append("build \(status.build)")
        parts.append("revision \(status.revision)\(isLagging ? ", which is not the newest" : "")")
        if !rollouts.isEmpty {
            let named = rollouts.map { rollout in rollout.id + (strata[rollout.id].map { " (\($0.text))" } ?? "") }
            parts.append("in \(named.joined(separator: ", "))")
        }
        let refused = status.refused.count + status.moreRefused
        if refused > 0 { parts.append("\(refused) refused") }
        let count = max(status.overrides.count + status.moreOverrides, status.covered.count + status.moreCovered)
        if count > 0 { parts.append("\(count) local \(count == 1 ? "override" : "overrides")") }
        if status.trouble != nil { parts.append("in trouble") }
        return "\(live.id): \(parts.joined(separator: ", ")), \(Self.age(status.at, now))"
    }

    func lines(now: Int64) -> [String] {
        var lines = ["\(live.id): \(status.labels.isEmpty ? "no labels" : status.labels.text)"]
        if status.isUnstable { lines.append("  its ID is another one after each restart") }
        if let host = status.host { lines.append("  on \(host)") }
        lines.append("  build \(status.build)\(isDeclared ? "" : ", without declarations")")
        lines.append("  started \(Self.age(status.started, now)), reported \(Self.age(status.at, now))")
        let newest = isLagging ? "not the newest" : "the newest"
        lines.append("  applied revision \(status.revision), write \(status.head): \(newest)")
        if let trouble = status.trouble { lines.append("  in trouble: \(trouble)") }
        lines += rollouts.map { rollout in
            let state = rollout.state == .done ? "standing rule" : "\(rollout.state.rawValue) at \(rollout.share.text)"
            let isRefused = status.refused.contains { $0.rollout == rollout.id }
            let canary = rollout.isCanary(live.instance) ? ", as a canary" : ""
            let stratum = strata[rollout.id].map { ", \($0.text)" } ?? ""
            return "  in rollout \(rollout.id), \(state)\(stratum)\(canary)\(isRefused ? ", which it refuses" : "")"
        }
        lines += status.refused.map { refusal in
            let rollout = refusal.rollout.map { " (rollout \($0))" } ?? ""
            return "  refuses \(refusal.path)\(rollout): \(refusal.reason)"
        }
        if status.moreRefused > 0 { lines.append("  \(status.moreRefused) more refusals are not listed") }
        lines += overrideLines
        let figures = status.metrics.sorted { $0.key < $1.key }
        return lines + figures.map { "  figure \($0.key): \(TweakValue.number($0.value).text)" }
    }

    /// The local overrides with their values, and whether one hides a value of the fleet.
    private var overrideLines: [String] {
        let known = Set(status.overrides.map(\.path))
        var lines = status.overrides.map { override in
            let hides = status.covered.contains(override.path) ? ", above the fleet's value" : ""
            return "  local override \(override.path) = \(override.value ?? "a secret")\(hides)"
        }
        // Older processes send no values.
        lines += status.covered.filter { !known.contains($0) }.map { "  has a local override above \($0)" }
        let more = max(status.moreOverrides, status.moreCovered)
        return more > 0 ? lines + ["  \(more) more local overrides are not listed"] : lines
    }

    private static func age(_ at: Int64, _ now: Int64) -> String {
        Age.text(since: at, now: now) ?? TimeText.seconds(at)
    }
}
