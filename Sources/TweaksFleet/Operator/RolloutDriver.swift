// Decides the next action of a rollout from observations; a pure state machine that is passed the time.

import Tweaks

/// The time limits of a driver, in milliseconds.
package struct DriverTiming: Hashable, Sendable {
    /// After the driver's own outage nothing is decided for this long: the lifetime of a status.
    package var outageGrace: Int64 = 60_000
    /// A process that is missing for this long is silent, not restarting.
    package var silenceTimeout: Int64 = 30_000
    /// Members that have not reported a step for this long, or whose figures are older, count as missing data.
    package var reportTimeout: Int64 = 120_000

    package init() {}
}

/// The next action.
package enum DriverDecision: Hashable, Sendable {
    /// Wait for more observations, at most until this time, if known.
    case wait(until: Int64?)
    case advance(to: Share)
    /// The last step is complete: set the deadline for the operator to finish it.
    case awaitConfirmation(until: Int64)
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

/// The state machine that drives one rollout.
package struct RolloutDriver: Sendable {
    package let timing: DriverTiming
    private var silenceDetector = SilenceDetector()
    private var metrics = MetricSamples()
    /// The rollout's revision, and when this driver first saw it.
    private var step: (revision: Int64, seen: Int64)?
    /// When each member of the step was first seen: late members get the same time limit.
    private var firstSeen: [String: Int64] = [:]
    /// Since when fewer members are live than had the step.
    private var fewSince: Int64?
    /// When this driver's last outage ended.
    private var outageEnd: Int64?
    /// The progress to display.
    package private(set) var progress = DriverProgress()

    package init(timing: DriverTiming = DriverTiming()) { self.timing = timing }

    /// Records that this driver had no contact until now.
    package mutating func noteOutage(until now: Int64) { outageEnd = now }

    /// Returns the next action.
    /// - Parameters:
    ///   - rollout: Nil if its key is gone.
    ///   - now: Milliseconds since 1970.
    package mutating func decide(
        _ rollout: VersionedRecord<Rollout>?, live: [LiveInstance], now: Int64
    ) -> DriverDecision {
        guard let record = rollout else { return .gone }
        if record.value.state == .done { return .done }
        if step?.revision != record.modRevision {
            step = (record.modRevision, now)
            metrics = MetricSamples()
            firstSeen = [:]
            fewSince = nil
            silenceDetector.begin(live, now, lifetime: timing.outageGrace)
        }
        silenceDetector.see(live, now)
        let isGracePeriodOver = outageEnd.map { now >= $0 &+ timing.outageGrace } ?? true
        let members = live.filter { record.value.includes($0.instance) }
        for member in members where firstSeen[member.id] == nil { firstSeen[member.id] = now }
        if isGracePeriodOver { metrics.record(members, record, now) }
        progress = DriverProgress(record, members, metrics)
        if let deadline = record.value.confirmBy, now >= deadline {
            return .abort("it was not finished by \(TimeText.seconds(deadline))")
        }
        guard isGracePeriodOver else { return .wait(until: outageEnd.map { $0 &+ timing.outageGrace }) }
        if let reason = abortReason(record, members, now) { return .abort(reason) }
        if record.value.state == .paused { return .awaitResume }
        return nextAction(record, members, now)
    }

    // MARK: Abort conditions

    private func abortReason(_ record: VersionedRecord<Rollout>, _ members: [LiveInstance], _ now: Int64) -> String? {
        let id = record.value.id
        for member in members {
            guard let refusal = member.status.refused.first(where: { $0.rollout == id }) else { continue }
            return "\(member.id) refuses it: \(refusal.path): \(refusal.reason)"
        }
        return silenceDetector.silence(record.value, now: now, after: timing.silenceTimeout)
            ?? metrics.violation(of: record.value, among: members)
    }

    // MARK: Next step

    private mutating func nextAction(
        _ record: VersionedRecord<Rollout>, _ members: [LiveInstance], _ now: Int64
    ) -> DriverDecision {
        let rollout = record.value
        if let until = rollout.confirmBy { return .askToFinish(until: until) }
        if let reason = missingData(record, members, now) ?? missingMembers(rollout, members, now) {
            return .pause(reason)
        }
        if members.isEmpty || fewSince != nil { return .wait(until: nil) }
        let isComplete = members.allSatisfy { $0.status.revision >= record.modRevision }
        if !isComplete || silenceDetector.isAwaiting(rollout) { return .wait(until: rollout.next) }
        if let next = rollout.next, now < next { return .wait(until: next) }
        if !metrics.areComplete(rollout, members) { return .wait(until: nil) }
        if let share = rollout.steps.first(where: { $0 > rollout.share }) { return .advance(to: share) }
        if rollout.share < .all {
            return .pause("its last step, \(rollout.share.text), is done; finish --force applies it to all processes")
        }
        if let seconds = rollout.confirmWithin { return .awaitConfirmation(until: now.adding(seconds: seconds)) }
        return .finish
    }

    /// Why data is missing after the time limit; nil if it is complete.
    private func missingData(_ record: VersionedRecord<Rollout>, _ members: [LiveInstance], _ now: Int64) -> String? {
        guard let step, now &- step.seen >= timing.reportTimeout else { return nil }
        if members.isEmpty { return "no member lives any more" }
        let late = members.filter { $0.status.revision < record.modRevision && hadTimeToReport($0, now) }
        if !late.isEmpty {
            let trouble = late.lazy.compactMap(\.status.trouble).first.map { ": \($0)" } ?? ""
            return "\(late.count) of \(members.count) members have not reported it: \(Self.names(late))\(trouble)"
        }
        let silent = metrics.silent(
            record.value, members.filter { hadTimeToReport($0, now) }, now: now, after: timing.reportTimeout)
        if silent.isEmpty { return nil }
        let paths = Set(record.value.abortIf.map(\.path.token)).sorted().joined(separator: ", ")
        return "\(silent.count) of \(members.count) members send no figures for \(paths): \(Self.names(silent))"
    }

    /// Whether a member has been seen for long enough to report.
    private func hadTimeToReport(_ member: LiveInstance, _ now: Int64) -> Bool {
        firstSeen[member.id].map { now &- $0 >= timing.reportTimeout } ?? false
    }

    /// Why the remaining members are too few: some that had the step are gone and have not come back. The silence
    /// detector covers only processes that this driver has seen.
    private mutating func missingMembers(_ rollout: Rollout, _ members: [LiveInstance], _ now: Int64) -> String? {
        let count = members.count { !$0.status.isUnstable }
        guard let reached = rollout.reached, count < reached else {
            fewSince = nil
            return nil
        }
        let since = fewSince ?? now
        fewSince = since
        if now &- since < timing.outageGrace { return nil }
        return "\(count) of \(reached) members that had this step live; resume \(rollout.id) goes on with them"
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
    /// For each condition: its text, the number of members that meet it, and the worst figure.
    package var metrics: [MetricSamples.ConditionState] = []
    package var next: Int64?
    package var confirmBy: Int64?

    init() {}

    init(_ record: VersionedRecord<Rollout>, _ members: [LiveInstance], _ samples: MetricSamples) {
        let rollout = record.value
        share = rollout.share
        steps = rollout.steps
        state = rollout.state
        next = rollout.next
        confirmBy = rollout.confirmBy
        self.members = members.count
        reported = members.count { $0.status.revision >= record.modRevision }
        refused = members.count { $0.status.refused.contains { $0.rollout == rollout.id } }
        metrics = samples.conditionStates(rollout, members)
    }
}
