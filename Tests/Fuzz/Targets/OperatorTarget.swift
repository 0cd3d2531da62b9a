// Fuzzes what an operator's client computes from the keys of a fleet: summaries, distributions, reach and decisions.

import Tweaks
import TweaksFleet

/// Choices of the grammar.
enum OperatorTarget {
    private static let keys = FleetKeys(name: "api")

    static func run(_ choices: inout Choices) throws(Finding) {
        let pairs = choices.fleetPairs()
        let text = choices.page(of: pairs, below: "\(keys.prefix)/\(keys.name)/")
        guard let answer = try? EtcdReplies.page(Array(text.utf8)).result else { return }
        func result(_ prefix: [UInt8]) -> EtcdRangeResult {
            EtcdRangeResult(header: answer.header, keys: answer.keys.filter { $0.key.starts(with: prefix) })
        }
        let view = OperatorView(result(keys.desired), keys)
        let statuses = InstanceStatuses(result(keys.instances), keys)
        let catalog = BuildCatalog(result(keys.builds), keys, statuses.live)
        try check(FleetSummary(view, statuses, builds: Set(catalog.hashes)), statuses.live.count)
        try check(ValueDistribution(view, statuses.live, catalog, keys: keys) { _ in true }, statuses.live.count)
        try check(result(keys.log), view)
        try check(view)
        _ = try? view.nextCounter()
        for record in view.ordered {
            try check(RolloutReach(record.value, statuses.live), statuses.live.count)
            try drive(record, statuses.live, statuses.left)
        }
    }

    private static func check(_ log: EtcdRangeResult, _ view: OperatorView) throws(Finding) {
        for now in [Int64.min, 0, .max] {
            let history = FleetHistory(log, rollouts: Set(view.rollouts.keys), now: now)
            var entries: [FleetLogEntry] = []
            for case .entry(let entry) in history.lines { entries.append(entry) }
            try expect(entries == history.entries, "the history has other entries than the log")
            _ = entries.map(\.changedValues)
        }
    }

    /// Imports of what the fleet has, and of nothing.
    private static func check(_ view: OperatorView) throws(Finding) {
        let own = view.values.map { FleetAssignment($0.key, $0.value.value.value) }
        let same = FleetImport(own, lines: [:], prunes: true).difference(from: view)
        let isLeased = { (change: FleetLogEntry.Change) in view.values[change.path].map { $0.lease != 0 } ?? false }
        try expect(same.all.allSatisfy(isLeased), "an import of the fleet's own values changes \(same.all)")
        let none = FleetImport([], lines: [:], prunes: true).difference(from: view)
        try expect(none.removed.count == view.values.count, "an import of nothing leaves values")
        try expect(none.parts(keys, by: "ana").flatMap { $0 } == none.all, "the parts are not the whole")
    }

    private static func check(_ summary: FleetSummary, _ live: Int) throws(Finding) {
        let counts = [summary.lagging.count, summary.unstable] + summary.builds.map(\.live)
        try expect(
            counts.allSatisfy { (0...live).contains($0) }, "more processes than the \(live) that live: \(counts)")
        try expect(summary.moreRefused >= 0 && summary.moreCovered >= 0, "a number of problems is below zero")
    }

    private static func check(_ distribution: ValueDistribution, _ live: Int) throws(Finding) {
        for path in distribution.paths {
            let count = distribution.of(path).reduce(0) { $0 + $1.count }
            try expect(count == live, "\(path) is on \(count) of \(live) processes")
        }
    }

    private static func check(_ reach: RolloutReach, _ live: Int) throws(Finding) {
        let counts = reach.members.map(\.count)
        try expect(counts == counts.sorted(), "a step reaches fewer than the one before: \(counts)")
        try expect((counts + [reach.eligible]).allSatisfy { (0...live).contains($0) }, "\(counts) of \(live)")
    }

    /// A driver that sees the same at several times.
    private static func drive(
        _ record: VersionedRecord<Rollout>, _ live: [LiveInstance], _ left: [LiveInstance]
    ) throws(Finding) {
        var driver = RolloutDriver()
        let start = Moment.now
        for minutes: Int64 in [0, 1, 10, 6_000] {
            let now = start + .seconds(60 * minutes)
            var observation = DriverObservation(record, live: live)
            (observation.left, observation.wall) = (left, 1_795_310_400_000 + minutes * 60_000)
            _ = driver.decide(observation, now: now)
            let progress = driver.progress
            let isRight =
                (0...live.count).contains(progress.members)
                && [progress.reported, progress.refused].allSatisfy { (0...progress.members).contains($0) }
            try expect(isRight, "\(progress)")
            let sum = progress.strata.reduce(0) { $0 + $1.members }
            try expect(progress.strata.isEmpty || sum == progress.members, "strata have \(sum) of \(progress.members)")
            driver.noteOutage(until: now)
        }
    }
}
