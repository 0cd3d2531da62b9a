// Decides what becomes of a rollout from what is seen of it: pure, with the time given.

import Tweaks

/// How patient a driver is, in milliseconds.
package struct DriverTiming: Hashable, Sendable {
    /// Nothing within so long of the driver's own outage counts: as long as a status lives.
    package var settling: Int64 = 60_000
    /// A process that is away so long is silent, and not restarting.
    package var silence: Int64 = 30_000
    /// Members that have not reported so long after a step, or whose figures are older, are missing data.
    package var patience: Int64 = 120_000

    package init() {}
}

/// What a driver sees at a moment.
package struct DriverObservation: Sendable {
    /// Nil: its key is gone.
    package var rollout: Held<Rollout>?
    package var live: [LiveInstance]
    /// Milliseconds since 1970.
    package var now: Int64

    package init(rollout: Held<Rollout>?, live: [LiveInstance], now: Int64) {
        (self.rollout, self.live, self.now) = (rollout, live, now)
    }
}

/// What is to be done.
package enum DriverDecision: Hashable, Sendable {
    /// Nothing, until more is seen; at the latest look again then, where it is known.
    case wait(until: Int64?)
    case advance(to: Share)
    /// The last step is done: say until when a person has to finish it.
    case awaitConfirmation(until: Int64)
    /// A person has until then.
    case ask(until: Int64)
    case finish
    case pause(String)
    case abort(String)
    /// It is paused, and a person has to let it go on.
    case held
    /// It is a standing rule now.
    case done
    /// Somebody took it back, or its lease ended.
    case gone
}

extension DriverDecision {
    /// Whether it writes more than it takes away.
    var needsSpace: Bool {
        switch self {
        case .advance, .awaitConfirmation, .pause, .finish: true
        case .wait, .ask, .abort, .held, .done, .gone: false
        }
    }
}

/// The state machine that drives one rollout.
package struct RolloutDriver: Sendable {
    package let timing: DriverTiming
    private var witnesses = DriverWitnesses()
    private var figures = FigureSamples()
    /// The rollout's revision, and when this driver first saw it.
    private var step: (revision: Int64, seen: Int64)?
    /// When each member of the step was first seen: those who come later have as much time.
    private var firstSeen: [String: Int64] = [:]
    /// Since when fewer members live than had the step.
    private var fewSince: Int64?
    /// When this driver had contact again.
    private var outageEnd: Int64?
    /// What there is to show.
    package private(set) var progress = DriverProgress()

    package init(timing: DriverTiming = DriverTiming()) { self.timing = timing }

    /// Says that this driver was without contact until now.
    package mutating func noteOutage(until now: Int64) { outageEnd = now }

    /// Takes what is seen, and says what is to be done.
    package mutating func decide(_ observation: DriverObservation) -> DriverDecision {
        guard let held = observation.rollout else { return .gone }
        if held.value.state == .done { return .done }
        let now = observation.now
        if step?.revision != held.modRevision {
            step = (held.modRevision, now)
            figures = FigureSamples()
            (firstSeen, fewSince) = ([:], nil)
            witnesses.begin(observation.live, now, lifetime: timing.settling)
        }
        witnesses.see(observation.live, now)
        let isSettled = outageEnd.map { now >= $0 &+ timing.settling } ?? true
        let members = observation.live.filter { held.value.includes($0.instance) }
        for member in members where firstSeen[member.id] == nil { firstSeen[member.id] = now }
        if isSettled { figures.take(members, held, now) }
        progress = DriverProgress(held, members, figures)
        if let deadline = held.value.confirmBy, now >= deadline {
            return .abort("nobody finished it until \(TimeText.seconds(deadline))")
        }
        guard isSettled else { return .wait(until: outageEnd.map { $0 &+ timing.settling }) }
        if let reason = brake(held, members, now) { return .abort(reason) }
        if held.value.state == .paused { return .held }
        return course(held, members, now)
    }

    // MARK: Brake

    private func brake(_ held: Held<Rollout>, _ members: [LiveInstance], _ now: Int64) -> String? {
        let id = held.value.id
        for member in members {
            guard let refusal = member.status.refused.first(where: { $0.rollout == id }) else { continue }
            return "\(member.id) refuses it: \(refusal.path): \(refusal.reason)"
        }
        return witnesses.silence(held.value, now: now, after: timing.silence)
            ?? figures.hurt(held.value, among: members)
    }

    // MARK: Course

    private mutating func course(_ held: Held<Rollout>, _ members: [LiveInstance], _ now: Int64) -> DriverDecision {
        let rollout = held.value
        if let until = rollout.confirmBy { return .ask(until: until) }
        if let reason = missing(held, members, now) ?? fewer(rollout, members, now) { return .pause(reason) }
        if members.isEmpty || fewSince != nil { return .wait(until: nil) }
        let isComplete = members.allSatisfy { $0.status.revision >= held.modRevision }
        if !isComplete || witnesses.isAwaiting(rollout) { return .wait(until: rollout.next) }
        if let next = rollout.next, now < next { return .wait(until: next) }
        if !figures.areComplete(rollout, members) { return .wait(until: nil) }
        if let share = rollout.steps.first(where: { $0 > rollout.share }) { return .advance(to: share) }
        if rollout.share < .all {
            return .pause("its last step, \(rollout.share.text), is done; finish --force gives it to everybody")
        }
        if let seconds = rollout.confirmWithin { return .awaitConfirmation(until: now.adding(seconds: seconds)) }
        return .finish
    }

    /// What is not known, though there was time; nil: all is.
    private func missing(_ held: Held<Rollout>, _ members: [LiveInstance], _ now: Int64) -> String? {
        guard let step, now &- step.seen >= timing.patience else { return nil }
        if members.isEmpty { return "no member lives any more" }
        let late = members.filter { $0.status.revision < held.modRevision && hadTime($0, now) }
        if !late.isEmpty {
            let trouble = late.lazy.compactMap(\.status.trouble).first.map { ": \($0)" } ?? ""
            return "\(late.count) of \(members.count) members have not reported it: \(Self.names(late))\(trouble)"
        }
        let silent = figures.silent(held.value, members.filter { hadTime($0, now) }, now: now, after: timing.patience)
        if silent.isEmpty { return nil }
        let paths = Set(held.value.abortIf.map(\.path.token)).sorted().joined(separator: ", ")
        return "\(silent.count) of \(members.count) members send no figures for \(paths): \(Self.names(silent))"
    }

    /// Whether a member has been there for so long that its silence is one.
    private func hadTime(_ member: LiveInstance, _ now: Int64) -> Bool {
        firstSeen[member.id].map { now &- $0 >= timing.patience } ?? false
    }

    /// Why it cannot go on with the members that are left: some of those that had the step are gone, and do not come back.
    /// The brake knows whether that is the rollout's fault only of those that this driver has seen.
    private mutating func fewer(_ rollout: Rollout, _ members: [LiveInstance], _ now: Int64) -> String? {
        let count = members.count { !$0.status.isUnstable }
        guard let reached = rollout.reached, count < reached else {
            fewSince = nil
            return nil
        }
        let since = fewSince ?? now
        fewSince = since
        if now &- since < timing.settling { return nil }
        return "\(count) of \(reached) members that had this step live; resume \(rollout.id) goes on with them"
    }

    private static func names(_ instances: [LiveInstance]) -> String {
        instances.prefix(5).map(\.id).joined(separator: ", ") + (instances.count > 5 ? ", …" : "")
    }
}

/// What there is to show of a rollout.
package struct DriverProgress: Hashable, Sendable {
    package var share = Share.none
    package var steps: [Share] = []
    package var state = Rollout.State.open
    package var members = 0
    package var reported = 0
    package var refused = 0
    /// Of each condition: its text, how many members hurt, and the worst figure.
    package var figures: [FigureSamples.Standing] = []
    package var next: Int64?
    package var confirmBy: Int64?

    init() {}

    init(_ held: Held<Rollout>, _ members: [LiveInstance], _ samples: FigureSamples) {
        let rollout = held.value
        (share, steps, state) = (rollout.share, rollout.steps, rollout.state)
        (next, confirmBy, self.members) = (rollout.next, rollout.confirmBy, members.count)
        reported = members.count { $0.status.revision >= held.modRevision }
        refused = members.count { $0.status.refused.contains { $0.rollout == rollout.id } }
        figures = samples.standings(rollout, members)
    }
}
