// Decides the next action of a rollout from observations; a pure state machine that is passed the time.

package import Tweaks

/// The time limits of a driver.
package struct DriverTiming: Hashable, Sendable {
    /// After the driver's own outage nothing is decided for this long: the lifetime of a status.
    package var outageGrace = Duration.seconds(60)
    /// A process that is missing for this long is silent, not restarting.
    package var silenceTimeout = Duration.seconds(30)
    /// Members that have not reported a step for this long, or whose figures are older, count as missing data.
    package var reportTimeout = Duration.seconds(120)
    /// After a longer outage of its own the driver may have missed farewells, so it no longer knows who is silent.
    package var longestOutage = Duration.seconds(FleetStatus.farewellSeconds - 60)

    package init() {}
}

/// The next action.
package enum DriverDecision: Hashable, Sendable {
    /// Wait for more observations.
    case wait
    case advance(to: Share)
    /// The last step is complete: the operator has this many seconds to finish it.
    case awaitConfirmation(within: Int64)
    /// Ask the operator to finish it before this time.
    case askToFinish(until: Int64)
    case finish
    case pause(String)
    case abort(String)
    /// It is paused until an operator resumes it.
    case awaitResume
    /// It is a standing rule.
    case done
    /// It was reverted, or its lease expired.
    case gone
}

extension DriverDecision {
    /// Whether it writes more data than it deletes.
    var needsSpace: Bool {
        switch self {
        case .advance, .awaitConfirmation, .pause, .finish: true
        case .wait, .askToFinish, .abort, .awaitResume, .done, .gone: false
        }
    }
}

/// What a driver knows at one moment.
package struct DriverObservation: Sendable {
    /// Nil if its key is gone.
    package var rollout: VersionedRecord<Rollout>?
    /// Whether the rollout's timer runs; also while that is unknown.
    package var isTimerRunning = false
    package var live: [LiveInstance]
    /// The starts that ended with a farewell.
    package var left: [LiveInstance] = []
    /// The time of day in milliseconds since 1970, for rollouts without a timer.
    package var wall: Int64 = 0

    package init(_ rollout: VersionedRecord<Rollout>?, live: [LiveInstance]) {
        self.rollout = rollout
        self.live = live
    }

    /// Whether the rollout's timer, or a time in a rollout without one, is over.
    fileprivate func isOver(_ time: Int64?) -> Bool {
        rollout?.value.isTimed == true ? !isTimerRunning : time.map { wall >= $0 } ?? true
    }
}

/// The state machine that drives one rollout. It measures durations by its own monotonic clock, and takes the ends of steps
/// from etcd, since the clocks of two machines differ and a wall clock can be set.
package struct RolloutDriver: Sendable {
    package let timing: DriverTiming
    private var silenceDetector = SilenceDetector()
    private var departures = Departures()
    private var metrics = MetricSamples()
    private var prometheus = PrometheusSamples()
    /// The rollout's revision, and when this driver first saw it.
    private var step: (revision: Int64, seen: Moment)?
    /// When each member's start was first seen: late members, and those that restart, get the same time limit.
    private var firstSeen: [String: (start: Int64, at: Moment)] = [:]
    /// Since when no member is live, and since when fewer are live than had the step.
    private var noneSince: Moment?
    private var fewSince: Moment?
    /// When this driver's last outage ended.
    private var outageEnd: Moment?
    private var decidedAt: Moment?
    /// The progress to display.
    package private(set) var progress = DriverProgress()

    package init(timing: DriverTiming = DriverTiming()) { self.timing = timing }

    /// Records that this driver had no contact until now.
    package mutating func noteOutage(until now: Moment) { outageEnd = now }

    /// Records what Prometheus answers to the rollout's queries, in their order.
    package mutating func note(_ answers: [PrometheusAnswer], askedAt: Moment, of rollout: Rollout, now: Moment) {
        prometheus.record(answers, askedAt: askedAt, rollout, now)
    }

    /// Returns the next action.
    package mutating func decide(_ observation: DriverObservation, now: Moment) -> DriverDecision {
        guard let record = observation.rollout else { return .gone }
        if record.value.state == .done { return .done }
        let members = observation.live.filter { record.value.includes($0.instance) }
        let isOutage = outageEnd.map { now < $0 + timing.outageGrace } ?? false
        note(observation, record, members, isOutage, now)
        if let deadline = record.value.confirmBy, observation.isOver(deadline) {
            return .abort("it was not finished by \(TimeText.seconds(deadline))")
        }
        if isOutage { return .wait }
        if let reason = abortReason(record, members, now) { return .abort(reason) }
        if record.value.state == .paused { return .awaitResume }
        return nextAction(observation, record, members, now)
    }

    private mutating func note(
        _ observation: DriverObservation, _ record: VersionedRecord<Rollout>, _ members: [LiveInstance],
        _ isOutage: Bool, _ now: Moment
    ) {
        let live = observation.live
        // Who is missing after a long outage may have left. The number of members is still compared, and pauses it.
        let wasAway = decidedAt.map { now - $0 > timing.longestOutage } ?? false
        decidedAt = now
        let isNewStep = step?.revision != record.modRevision
        if isNewStep {
            step = (record.modRevision, now)
            metrics.begin()
            prometheus.begin(now)
            (firstSeen, noneSince, fewSince) = ([:], nil, nil)
        }
        if isNewStep || wasAway { silenceDetector.begin(live, now, lifetime: timing.outageGrace) }
        silenceDetector.see(live, left: observation.left, now)
        departures.note(record, live, left: observation.left)
        for member in members where firstSeen[member.id]?.start != member.start {
            firstSeen[member.id] = (member.start, now)
        }
        noneSince = members.isEmpty ? noneSince ?? now : nil
        let others = live.filter { !record.value.includes($0.instance) }
        metrics.record(members, others: others, record, now, isOutage: isOutage)
        progress = DriverProgress(record, members, metrics)
        progress.metrics += prometheus.conditionStates(record.value)
        progress.strata = record.value.strata(live)
        progress.left = departures.count
    }

    // MARK: Abort conditions

    private func abortReason(_ record: VersionedRecord<Rollout>, _ members: [LiveInstance], _ now: Moment) -> String? {
        let id = record.value.id
        for member in members {
            guard let refusal = member.status.refused.first(where: { $0.rollout == id }) else { continue }
            return "\(member.id) refuses it: \(refusal.path): \(refusal.reason)"
        }
        return silenceDetector.silence(record.value, now: now, after: timing.silenceTimeout)
            ?? metrics.violation(of: record.value, among: members) ?? prometheus.violation(of: record.value)
    }

    // MARK: Next step

    private mutating func nextAction(
        _ observation: DriverObservation, _ record: VersionedRecord<Rollout>, _ members: [LiveInstance], _ now: Moment
    ) -> DriverDecision {
        let rollout = record.value
        if let until = rollout.confirmBy { return .askToFinish(until: until) }
        if let reason = missingData(record, members, now) ?? missingMembers(rollout, members, now) {
            return .pause(reason)
        }
        if members.isEmpty || fewSince != nil || !observation.isOver(rollout.next) { return .wait }
        let isComplete = members.allSatisfy { $0.status.revision >= record.modRevision }
        if !isComplete || silenceDetector.isAwaiting(rollout) { return .wait }
        if !metrics.areComplete(rollout, members) || !prometheus.areComplete(rollout) { return .wait }
        if let share = rollout.nextShare { return .advance(to: share) }
        if rollout.share < .all {
            return .pause("its last step, \(rollout.share.text), is done; finish --force applies it to all processes")
        }
        if let seconds = rollout.confirmWithin { return .awaitConfirmation(within: seconds) }
        return .finish
    }

    /// Why data is missing after the time limit; nil if it is complete.
    private func missingData(_ record: VersionedRecord<Rollout>, _ members: [LiveInstance], _ now: Moment) -> String? {
        guard let step, now - step.seen >= timing.reportTimeout else { return nil }
        if let noneSince, now - noneSince >= timing.reportTimeout { return "no member lives any more" }
        let late = members.filter { $0.status.revision < record.modRevision && hadTimeToReport($0, now) }
        if !late.isEmpty {
            let trouble = late.lazy.compactMap(\.status.trouble).first.map { ": \($0)" } ?? ""
            return "\(late.count) of \(members.count) members have not reported it: \(Self.names(late))\(trouble)"
        }
        if let path = metrics.incomparable(record.value).first {
            return "no process that is not a member sends \(path.token), to compare with"
        }
        let silent = metrics.silent(
            record.value, members.filter { hadTimeToReport($0, now) }, now: now, after: timing.reportTimeout)
        if silent.isEmpty { return prometheus.problem(of: record.value, now: now, after: timing.reportTimeout) }
        let paths = Set(record.value.abortIf.map(\.path.token)).sorted().joined(separator: ", ")
        return "\(silent.count) of \(members.count) members send no figures for \(paths): \(Self.names(silent))"
    }

    /// Whether a member has been seen for long enough to report.
    private func hadTimeToReport(_ member: LiveInstance, _ now: Moment) -> Bool {
        firstSeen[member.id].map { now - $0.at >= timing.reportTimeout } ?? false
    }

    /// Why the remaining members are too few: some that had the step are gone without a farewell and have not come back.
    /// The silence detector covers only processes that this driver has seen.
    private mutating func missingMembers(_ rollout: Rollout, _ members: [LiveInstance], _ now: Moment) -> String? {
        let count = members.count { !$0.status.isUnstable }
        let expected = (rollout.reached ?? 0) - Int64(departures.count)
        guard count < expected else {
            fewSince = nil
            return nil
        }
        let since = fewSince ?? now
        fewSince = since
        if now - since < timing.outageGrace { return nil }
        return "\(count) of \(expected) members that had this step live; resume \(rollout.id) goes on with them"
    }

    private static func names(_ instances: [LiveInstance]) -> String {
        instances.prefix(5).map(\.id).joined(separator: ", ") + (instances.count > 5 ? ", …" : "")
    }
}

/// The progress of a rollout, for display.
package struct DriverProgress: Hashable, Sendable {
    package var share = Share.none
    package var steps: [Share] = []
    package var state = Rollout.State.open
    package var members = 0
    package var reported = 0
    package var refused = 0
    /// The members of each stratum.
    package var strata: [StratumCount] = []
    /// The number of members that left with a farewell and have not come back.
    package var left = 0
    /// For each condition: its text, the number of members that meet it, and the worst figure.
    package var metrics: [MetricSamples.ConditionState] = []
    package var next: Int64?
    package var confirmBy: Int64?
    package var successor = Successor.step

    /// What follows the current step.
    package enum Successor: Hashable, Sendable {
        case step, finish
        /// The operator has to finish it.
        case confirmation
        /// The last step does not include all processes.
        case pause
    }

    package init() {}

    init(_ record: VersionedRecord<Rollout>, _ members: [LiveInstance], _ samples: MetricSamples) {
        let rollout = record.value
        share = rollout.share
        steps = rollout.steps
        state = rollout.state
        next = rollout.next
        confirmBy = rollout.confirmBy
        successor = rollout.successor
        self.members = members.count
        reported = members.count { $0.status.revision >= record.modRevision }
        refused = members.count { $0.status.refused.contains { $0.rollout == rollout.id } }
        metrics = samples.conditionStates(rollout, members)
    }
}

extension Rollout {
    fileprivate var nextShare: Share? { steps.first { $0 > share } }

    fileprivate var successor: DriverProgress.Successor {
        if nextShare != nil { return .step }
        if share < .all { return .pause }
        return confirmWithin == nil ? .finish : .confirmation
    }
}
