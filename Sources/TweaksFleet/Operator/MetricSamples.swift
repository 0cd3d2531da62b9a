// Collects the figures that members of a rollout report and evaluates the abort conditions.

import Tweaks

/// The samples of metrics since the step began.
package struct MetricSamples: Sendable {
    /// The samples of one member.
    private struct Series {
        /// When the process wrote the last sample; each new status counts as a sample, for any cause.
        var written: Int64?
        /// When the driver received it.
        var seen: Int64 = 0
        /// The number of samples that contain all figures.
        var count = 0
        /// For each condition, the number of consecutive samples that meet it.
        var streaks: [Int]
    }

    /// The state of a condition.
    package struct ConditionState: Hashable, Sendable {
        package var condition: String
        /// The number of members that meet it in two consecutive samples.
        package var violators: Int
        /// The worst figure; nil if there is none.
        package var worst: Double?
    }

    private var series: [String: Series] = [:]

    init() {}

    /// The number of consecutive samples that are significant.
    private static let requiredStreak = 2

    /// Records new statuses of members that have applied the step.
    mutating func record(_ members: [LiveInstance], _ record: VersionedRecord<Rollout>, _ now: Int64) {
        let conditions = record.value.abortIf
        if conditions.isEmpty { return }
        for member in members where member.status.revision >= record.modRevision {
            var series = self.series[member.id] ?? Series(streaks: conditions.map { _ in 0 })
            guard series.written != member.status.at, series.streaks.count == conditions.count else { continue }
            series.written = member.status.at
            let metrics = conditions.map { member.status.metrics[$0.path.joined] }
            for (position, condition) in conditions.enumerated() {
                guard let metric = metrics[position] else { continue }
                series.streaks[position] = condition.isMet(by: metric) ? series.streaks[position] + 1 : 0
            }
            if !metrics.contains(nil) { (series.count, series.seen) = (series.count + 1, now) }
            self.series[member.id] = series
        }
    }

    /// Returns the condition that aborts the rollout: at least one member and a tenth of all members meet it in two
    /// consecutive samples.
    func violation(of rollout: Rollout, among members: [LiveInstance]) -> String? {
        for (position, condition) in rollout.abortIf.enumerated() {
            let violators = violators(position, members)
            guard violators.count >= 1, violators.count * 10 >= members.count else { continue }
            let worst = violators.prefix(3).map { member in
                let metric = member.status.metrics[condition.path.joined].map { " \(TweakValue.number($0).text)" }
                return member.id + (metric ?? "")
            }
            return "\(condition.text) on \(violators.count) of \(members.count) members: "
                + worst.joined(separator: ", ") + (violators.count > 3 ? ", …" : "")
        }
        return nil
    }

    private func violators(_ position: Int, _ members: [LiveInstance]) -> [LiveInstance] {
        members.filter { member in
            guard let streaks = series[member.id]?.streaks, streaks.indices.contains(position) else { return false }
            return streaks[position] >= Self.requiredStreak
        }
    }

    /// Whether every member has sent enough samples for a decision.
    func areComplete(_ rollout: Rollout, _ members: [LiveInstance]) -> Bool {
        rollout.abortIf.isEmpty || members.allSatisfy { (series[$0.id]?.count ?? 0) >= Self.requiredStreak }
    }

    /// The members whose figures are missing or out of date.
    func silent(_ rollout: Rollout, _ members: [LiveInstance], now: Int64, after: Int64) -> [LiveInstance] {
        if rollout.abortIf.isEmpty { return [] }
        return members.filter { member in
            guard let series = series[member.id], series.count >= Self.requiredStreak else { return true }
            return now &- series.seen >= after
        }
    }

    func conditionStates(_ rollout: Rollout, _ members: [LiveInstance]) -> [ConditionState] {
        rollout.abortIf.enumerated().map { position, condition in
            let metrics = members.compactMap { $0.status.metrics[condition.path.joined] }
            let worst = condition.isHigherWorse ? metrics.max() : metrics.min()
            return ConditionState(
                condition: condition.text, violators: violators(position, members).count, worst: worst)
        }
    }
}

extension MetricCondition {
    /// Whether higher figures are worse.
    fileprivate var isHigherWorse: Bool { comparison == .above || comparison == .atLeast }
}
