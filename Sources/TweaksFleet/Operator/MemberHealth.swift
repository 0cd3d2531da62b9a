// Detects rollout members that go silent, and figures of theirs that meet its abort conditions.

import Tweaks

/// The processes that a driver has seen since the step began.
struct SilenceDetector: Sendable {
    private struct SeenProcess {
        var instance: FleetInstance
        var lastSeen: Moment
        var isLive = true
        /// Its last start has ended with a farewell.
        var hasLeft = false
        /// When it appeared; nil if it existed at the start.
        var appearedAt: Moment?
        /// Its ID changes with each restart.
        var isUnstable: Bool
        /// The starts seen, except for those that ended with a farewell: a process that keeps crashing counts as silent.
        var starts: Set<Int64>
        /// The revision that created the key of the last start.
        var createRevision: Int64

        var isMissing: Bool { !isLive && !hasLeft }

        init(_ live: LiveInstance, _ now: Moment, appearedAt: Moment?) {
            instance = live.instance
            lastSeen = now
            self.appearedAt = appearedAt
            isUnstable = live.status.isUnstable
            starts = [live.start]
            createRevision = live.createRevision
        }

        mutating func see(_ live: LiveInstance, _ now: Moment) {
            instance = live.instance
            lastSeen = now
            (isLive, hasLeft) = (true, false)
            starts.insert(live.start)
            createRevision = live.createRevision
        }

        mutating func see(farewell: LiveInstance) {
            starts.remove(farewell.start)
            // The farewell of an earlier start says nothing about the last one.
            if !isLive, farewell.createRevision >= createRevision { hasLeft = true }
        }
    }

    /// The number of members and other processes, and of those that are silent.
    private struct Counts {
        var members = 0
        var others = 0
        var silent: [String] = []
        var silentOthers = 0
    }

    private var processes: [String: SeenProcess] = [:]

    /// This many starts since the step began count as a crash loop.
    private static let crashLoopStarts = 3
    /// With more members than this, a single silent one is not significant.
    private static let significantShare = 50

    /// Starts a new step; forgets processes that are not live.
    /// - Parameter lifetime: How long a dead process's status lives: processes that appeared within it may be its
    ///   replacement.
    mutating func begin(_ live: [LiveInstance], _ now: Moment, lifetime: Duration) {
        let recent = processes.compactMapValues(\.appearedAt).filter { now - $0.value < lifetime }
        processes = [:]
        for instance in live { processes[instance.id] = SeenProcess(instance, now, appearedAt: recent[instance.id]) }
    }

    /// - Parameter left: The starts that ended with a farewell: an orderly exit is neither silence nor a crash.
    mutating func see(_ live: [LiveInstance], left: [LiveInstance], _ now: Moment) {
        for id in processes.keys { processes[id]?.isLive = false }
        for instance in live {
            processes[instance.id, default: SeenProcess(instance, now, appearedAt: now)].see(instance, now)
        }
        for farewell in left { processes[farewell.id]?.see(farewell: farewell) }
    }

    /// Whether a member is missing but not yet counted as silent.
    func isAwaiting(_ rollout: Rollout) -> Bool {
        let unstableAreReplaced = unstableAreReplaced
        return processes.values.contains { process in
            process.isMissing && !(process.isUnstable && unstableAreReplaced) && rollout.includes(process.instance)
        }
    }

    /// Whether as many unstable processes have appeared as are missing: these have restarted with new IDs. In a crash
    /// loop processes appear and disappear, and more are missing than have appeared.
    private var unstableAreReplaced: Bool {
        let unstable = processes.values.filter(\.isUnstable)
        return unstable.count { $0.appearedAt != nil && $0.isLive } >= unstable.count(where: \.isMissing)
    }

    /// Returns why silent members abort the rollout: at least one is silent, and their share is more than twice that of
    /// other processes, whose silence has other causes.
    func silence(_ rollout: Rollout, now: Moment, after: Duration) -> String? {
        let counts = counts(rollout, now, after)
        let silent = counts.silent.count
        let members = counts.members
        let others = counts.others
        let isSignificant = silent > 0 && silent * Self.significantShare >= members
        // silent / members > 2 × silentOthers / others, without a division.
        let isAboveOthers = others == 0 || silent * others > 2 * counts.silentOthers * members
        guard isSignificant, isAboveOthers else { return nil }
        let names = counts.silent.sorted().prefix(5).joined(separator: ", ") + (silent > 5 ? ", …" : "")
        return "\(silent) of \(members) members are silent or crash at start (\(names)), "
            + "and \(counts.silentOthers) of \(others) others"
    }

    private func counts(_ rollout: Rollout, _ now: Moment, _ after: Duration) -> Counts {
        var counts = Counts()
        let unstableAreReplaced = unstableAreReplaced
        for (id, process) in processes where process.isLive || process.isMissing {
            if process.isMissing, process.isUnstable, unstableAreReplaced { continue }
            let isAway = process.isMissing && now - process.lastSeen >= after
            let isSilent = isAway || process.starts.count >= Self.crashLoopStarts
            if rollout.includes(process.instance) {
                counts.members += 1
                if isSilent { counts.silent.append(id) }
            } else {
                counts.others += 1
                if isSilent { counts.silentOthers += 1 }
            }
        }
        return counts
    }
}

/// The members that left since a rollout's members were counted, and have not come back.
struct Departures: Sendable {
    /// When the members were counted.
    private var countedAt: Int64?
    /// The revision of the last farewell seen. Each is seen once: later it says nothing about a process that came back.
    private var revision: Int64 = 0
    private var ids: Set<String> = []

    var count: Int { ids.count }

    mutating func note(_ record: VersionedRecord<Rollout>, _ live: [LiveInstance], left: [LiveInstance]) {
        let start = record.value.reachedAt ?? record.modRevision
        if countedAt != start { (countedAt, revision, ids) = (start, start, []) }
        let counted = left.filter { !$0.status.isUnstable && record.value.includes($0.instance) }
        ids.formUnion(counted.filter { $0.modRevision > revision }.map(\.id))
        revision = counted.map(\.modRevision).reduce(revision, max)
        // One that comes back with other labels, or an older build, may be a member no more.
        ids.subtract(live.filter { record.value.includes($0.instance) }.map(\.id))
    }
}

/// The samples of metrics since the step began.
package struct MetricSamples: Sendable {
    /// The samples of one member.
    fileprivate struct Series {
        /// The process's time of the last sample seen; a sample counts once, in however many statuses it is.
        var sampledAt: Int64?
        /// When the driver received the last one that counts.
        var seen: Moment?
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
    /// The median of each figure in the processes that are not members; the last one known, once all are members.
    private var medians: [TweakPath: Double] = [:]

    init() {}

    /// Starts a new step; its samples begin after those seen until now.
    mutating func begin() {
        series = series.mapValues { Series(sampledAt: $0.sampledAt, streaks: $0.streaks.map { _ in 0 }) }
    }

    /// Records new samples of members that have applied the step.
    /// - Parameters:
    ///   - others: The processes that are not members.
    ///   - isOutage: The driver was without contact, so the samples do not count.
    mutating func record(
        _ members: [LiveInstance], others: [LiveInstance], _ record: VersionedRecord<Rollout>, _ now: Moment,
        isOutage: Bool
    ) {
        let conditions = record.value.abortIf
        if conditions.isEmpty { return }
        for path in Set(conditions.filter(\.isRelative).map(\.path)) {
            medians[path] = Self.median(others.compactMap { $0.status.metrics[path.joined] }) ?? medians[path]
        }
        for member in members {
            var series = self.series[member.id] ?? Series(streaks: conditions.map { _ in 0 })
            let hasApplied = member.status.revision >= record.modRevision
            // The status has a sample from before the step, which the first one after it may repeat.
            if hasApplied, !isOutage { series.record(member.status, conditions, medians, now) }
            series.sampledAt = member.status.sampleTime
            self.series[member.id] = series
        }
    }

    private static func median(_ figures: [Double]) -> Double? {
        let sorted = figures.sorted()
        guard let upper = sorted.dropFirst(sorted.count / 2).first else { return nil }
        // Of two in the middle the mean, by halves, whose sum cannot overflow.
        return sorted.count % 2 == 0 ? sorted[sorted.count / 2 - 1] / 2 + upper / 2 : upper
    }

    /// The relative conditions' figures that no other process has sent.
    func incomparable(_ rollout: Rollout) -> [TweakPath] {
        rollout.abortIf.filter { $0.isRelative && medians[$0.path] == nil }.map(\.path)
    }

    /// Returns the condition that aborts the rollout: at least one member and a tenth of all members meet it in two
    /// consecutive samples.
    func violation(of rollout: Rollout, among members: [LiveInstance]) -> String? {
        for (position, condition) in rollout.abortIf.enumerated() {
            let violators = violators(position, condition, members)
            guard violators.count >= 1, violators.count * 10 >= members.count else { continue }
            let worst = violators.prefix(3).map { member in
                let metric = member.status.metrics[condition.path.joined].map { " \(TweakValue.number($0).text)" }
                return member.id + (metric ?? "")
            }
            let others = condition.isRelative ? medians[condition.path].map { " (\(TweakValue.number($0).text))" } : nil
            return "\(condition.text)\(others ?? "") on \(violators.count) of \(members.count) members: "
                + worst.joined(separator: ", ") + (violators.count > 3 ? ", …" : "")
        }
        return nil
    }

    private func violators(
        _ position: Int, _ condition: MetricCondition, _ members: [LiveInstance]
    ) -> [LiveInstance] {
        members.filter { member in
            guard let streaks = series[member.id]?.streaks, streaks.indices.contains(position) else { return false }
            return streaks[position] >= condition.samples
        }
    }

    /// Whether every member has sent enough samples for a decision.
    func areComplete(_ rollout: Rollout, _ members: [LiveInstance]) -> Bool {
        let required = rollout.requiredSamples
        return members.allSatisfy { (series[$0.id]?.count ?? 0) >= required } && incomparable(rollout).isEmpty
    }

    /// The members whose figures are missing or out of date.
    func silent(_ rollout: Rollout, _ members: [LiveInstance], now: Moment, after: Duration) -> [LiveInstance] {
        if rollout.abortIf.isEmpty { return [] }
        return members.filter { member in
            guard let series = series[member.id], series.count >= rollout.requiredSamples else { return true }
            return series.seen.map { now - $0 >= after } ?? true
        }
    }

    func conditionStates(_ rollout: Rollout, _ members: [LiveInstance]) -> [ConditionState] {
        rollout.abortIf.enumerated().map { position, condition in
            let metrics = members.compactMap { $0.status.metrics[condition.path.joined] }
            let worst = condition.comparison.isHigherWorse ? metrics.max() : metrics.min()
            return ConditionState(
                condition: condition.text, violators: violators(position, condition, members).count, worst: worst)
        }
    }
}

extension MetricSamples.Series {
    /// Records a sample, unless it is known.
    fileprivate mutating func record(
        _ status: FleetStatus, _ conditions: [MetricCondition], _ medians: [TweakPath: Double], _ now: Moment
    ) {
        guard sampledAt != status.sampleTime, streaks.count == conditions.count else { return }
        let metrics = conditions.map { status.metrics[$0.path.joined] }
        for (position, condition) in conditions.enumerated() {
            guard let metric = metrics[position] else { continue }
            let isMet = condition.isMet(by: metric, others: medians[condition.path])
            streaks[position] = isMet ? streaks[position] + 1 : 0
        }
        if metrics.contains(nil) { return }
        count += 1
        seen = now
    }
}

extension FleetStatus {
    /// The time of the sample in it. Each status of an older process counts as a sample.
    fileprivate var sampleTime: Int64 { sampledAt ?? at }
}

extension Rollout {
    /// The number of samples that its conditions need.
    fileprivate var requiredSamples: Int { abortIf.map(\.samples).max() ?? 0 }
}
