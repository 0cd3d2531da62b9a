// Keeps the figures that members of a rollout send, and judges them by its conditions.

import Tweaks

/// The samples of figures since the step began.
package struct FigureSamples: Sendable {
    /// Of one member.
    private struct Series {
        /// When its process wrote the last one: a status that is written again for another reason is a new one, too.
        var written: Int64?
        /// When the driver saw it.
        var seen: Int64 = 0
        /// How many there were with all figures.
        var count = 0
        /// For each condition, how many in a row were beyond it.
        var streaks: [Int]
    }

    /// How a condition stands.
    package struct Standing: Hashable, Sendable {
        package var condition: String
        /// Members beyond it in two samples in a row.
        package var hurt: Int
        /// The figure that is worst; nil: there is none.
        package var worst: Double?
    }

    private var series: [String: Series] = [:]

    init() {}

    /// So many samples in a row make a sign.
    private static let row = 2

    /// Takes what is new in the statuses of members that have applied the step.
    mutating func take(_ members: [LiveInstance], _ held: Held<Rollout>, _ now: Int64) {
        let conditions = held.value.abortIf
        if conditions.isEmpty { return }
        for member in members where member.status.revision >= held.modRevision {
            var series = self.series[member.id] ?? Series(streaks: conditions.map { _ in 0 })
            guard series.written != member.status.at, series.streaks.count == conditions.count else { continue }
            series.written = member.status.at
            let figures = conditions.map { member.status.figures[$0.path.joined] }
            for (position, condition) in conditions.enumerated() {
                guard let figure = figures[position] else { continue }
                series.streaks[position] = condition.isMet(by: figure) ? series.streaks[position] + 1 : 0
            }
            if !figures.contains(nil) { (series.count, series.seen) = (series.count + 1, now) }
            self.series[member.id] = series
        }
    }

    /// The condition that stops the rollout: at least one member and a tenth of them are beyond it, twice in a row.
    func hurt(_ rollout: Rollout, among members: [LiveInstance]) -> String? {
        for (position, condition) in rollout.abortIf.enumerated() {
            let hurt = hurt(position, members)
            guard hurt.count >= 1, hurt.count * 10 >= members.count else { continue }
            let worst = hurt.prefix(3).map { member in
                let figure = member.status.figures[condition.path.joined].map { " \(TweakValue.number($0).text)" }
                return member.id + (figure ?? "")
            }
            return "\(condition.text) on \(hurt.count) of \(members.count) members: "
                + worst.joined(separator: ", ") + (hurt.count > 3 ? ", …" : "")
        }
        return nil
    }

    private func hurt(_ position: Int, _ members: [LiveInstance]) -> [LiveInstance] {
        members.filter { member in
            series[member.id].map { $0.streaks.indices.contains(position) && $0.streaks[position] >= Self.row } ?? false
        }
    }

    /// Whether there were as many samples of every member as a decision takes.
    func areComplete(_ rollout: Rollout, _ members: [LiveInstance]) -> Bool {
        rollout.abortIf.isEmpty || members.allSatisfy { (series[$0.id]?.count ?? 0) >= Self.row }
    }

    /// The members whose figures are missing, or old.
    func silent(_ rollout: Rollout, _ members: [LiveInstance], now: Int64, after: Int64) -> [LiveInstance] {
        if rollout.abortIf.isEmpty { return [] }
        return members.filter { member in
            guard let series = series[member.id], series.count >= Self.row else { return true }
            return now &- series.seen >= after
        }
    }

    func standings(_ rollout: Rollout, _ members: [LiveInstance]) -> [Standing] {
        rollout.abortIf.enumerated().map { position, condition in
            let figures = members.compactMap { $0.status.figures[condition.path.joined] }
            let worst = condition.isAboveBad ? figures.max() : figures.min()
            return Standing(condition: condition.text, hurt: hurt(position, members).count, worst: worst)
        }
    }
}

extension FigureCondition {
    /// Whether high figures are the bad ones.
    fileprivate var isAboveBad: Bool { comparison == .above || comparison == .atLeast }
}
