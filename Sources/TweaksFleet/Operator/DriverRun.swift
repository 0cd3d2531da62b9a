// Drives a rollout: takes what is heard of it, asks the state machine, and does what that decides.

import Tweaks

/// What a driver hears.
package enum DriverInput: Sendable {
    /// All anew: the rollout's key, and the statuses.
    case read(rollout: EtcdRangeResult, instances: EtcdRangeResult)
    /// The rollout's key alone.
    case rollout(EtcdRangeResult)
    case watched(EtcdHeader, [EtcdEvent])
    /// etcd is out of reach.
    case outage(String)
    /// The driver's lease is gone.
    case unclaimed
    case tick
    /// A person wants it.
    case said(DriverCommand)
}

package enum DriverCommand: String, Hashable, Sendable {
    case finish, abort, pause, resume
    /// Drive no longer; another one may.
    case leave
}

/// What there is to tell of a rollout that is driven.
package enum DriverNews: Hashable, Sendable {
    case stepped(to: Share)
    case paused(String)
    case resumed
    /// A person has to finish it until then.
    case asking(until: Int64)
    case outage(String)
    case contact
    /// What a person asked for did not work.
    case refused(FleetRefusal)
    case ended(DriverEnd)
}

/// How driving ended.
package enum DriverEnd: Hashable, Sendable {
    case finished(FleetReceipt)
    /// Taken back by this driver, and why.
    case aborted(String, FleetReceipt)
    /// Somebody else did, and who.
    case finishedElsewhere(by: String)
    /// Taken back elsewhere, and how as far as that is known.
    case gone(String)
    /// This driver left it as it is.
    case left
    /// This driver may or can no longer.
    case lost(FleetRefusal)
}

/// A rollout that is being driven.
package struct DriverRun: Sendable {
    private let fleet: FleetOperator
    package let claim: DriverClaim
    private var driver: RolloutDriver
    private var held: Held<Rollout>?
    private var population: Population?
    private var revision: Int64 = 0
    private var isAway = false
    private var lastHeard: Int64?
    private var asked: Int64?
    private var decided: Int64 = 0
    /// What etcd has refused, and when that is tried again.
    private var refused: (text: String, until: Int64)?

    /// A gap this long between two ticks was an outage of the driver itself, as when a machine sleeps.
    private static let longestGap: Int64 = 30_000
    /// All statuses are judged for each decision, and thousands of processes report a step within seconds.
    private static let shortestPause: Int64 = 250
    /// What an etcd out of space has refused is tried again after so long.
    private static let refusalPause: Int64 = 20_000

    /// - Parameter isResumed: Another driver had begun it: what happened meanwhile is not known.
    package init(
        _ fleet: FleetOperator, _ claim: DriverClaim, timing: DriverTiming = DriverTiming(), isResumed: Bool = false
    ) {
        (self.fleet, self.claim) = (fleet, claim)
        driver = RolloutDriver(timing: timing)
        if isResumed { driver.noteOutage(until: fleet.now()) }
    }

    package var progress: DriverProgress { driver.progress }
    package var id: String { claim.id }

    /// Takes what is heard, and does what follows from it.
    package mutating func handle(_ input: DriverInput) async -> [DriverNews] {
        var news = noteGap()
        do throws(FleetRefusal) {
            switch input {
            case .read(let rollout, let instances):
                if population.map({ $0.revision <= instances.header.revision }) ?? true {
                    population = Population(instances, fleet.keys)
                }
                try take(rollout)
                news += noteContact()
            case .rollout(let result):
                try take(result)
                news += noteContact()
            case .watched(let header, let events):
                population?.apply(header, events)
                for event in events { try take(event) }
                if fleet.now() &- decided < Self.shortestPause { return news }
            case .outage(let text): return news + noteOutage(text)
            case .unclaimed:
                let text = "rollout \(id) has another driver, or none: this one was away for too long; see status"
                return news + [.ended(.lost(FleetRefusal(.refused, text)))]
            case .tick: break
            case .said(let command): return news + (await perform(command))
            }
        } catch {
            return news + [.ended(.lost(error))]
        }
        return news + (await decide())
    }

    // MARK: What is known

    private mutating func take(_ result: EtcdRangeResult) throws(FleetRefusal) {
        if result.header.revision < revision { return }
        revision = result.header.revision
        held = try result.keys.first.map { pair throws(FleetRefusal) in try read(pair) }
    }

    private mutating func take(_ event: EtcdEvent) throws(FleetRefusal) {
        guard event.pair.key == fleet.keys.rollout(id), event.pair.modRevision > revision else { return }
        revision = event.pair.modRevision
        held = event.kind == .delete ? nil : try read(event.pair)
    }

    private func read(_ pair: EtcdKeyValue) throws(FleetRefusal) -> Held<Rollout> {
        do throws(FleetProblem) {
            return Held(try Rollout(pair.value), pair)
        } catch {
            throw FleetRefusal(
                .refused, "rollout \(id) can no longer be read: \(error.description); abort \(id) deletes it")
        }
    }

    private mutating func noteGap() -> [DriverNews] {
        let now = fleet.now()
        defer { lastHeard = now }
        if let lastHeard, now &- lastHeard > Self.longestGap { driver.noteOutage(until: now) }
        return []
    }

    private mutating func noteOutage(_ text: String) -> [DriverNews] {
        defer { isAway = true }
        return isAway ? [] : [.outage(text)]
    }

    private mutating func noteContact() -> [DriverNews] {
        if !isAway { return [] }
        isAway = false
        driver.noteOutage(until: fleet.now())
        return [.contact]
    }

    // MARK: Doing

    private mutating func decide() async -> [DriverNews] {
        guard let population, !isAway, revision > 0 else { return [] }
        decided = fleet.now()
        let decision = driver.decide(
            DriverObservation(rollout: held, live: population.live, now: fleet.now()))
        if let refused, fleet.now() < refused.until, decision.needsSpace { return [] }
        do throws(FleetRefusal) {
            let news = try await act(on: decision)
            if decision.needsSpace { refused = nil }
            return news
        } catch {
            if error.kind == .unreachable { return noteOutage(error.description) }
            guard case .noSpace? = error.etcd else { return [.ended(.lost(error))] }
            // It cannot go on, and it can still be taken back: the brake stays armed.
            let isNews = refused?.text != error.description
            refused = (error.description, fleet.now() &+ Self.refusalPause)
            return isNews ? [.refused(error)] : []
        }
    }

    private mutating func act(on decision: DriverDecision) async throws(FleetRefusal) -> [DriverNews] {
        let fence = claim.fence
        switch decision {
        case .wait, .held: return []
        case .gone, .done: return [.ended(try await endElsewhere())]
        case .ask(let until):
            if asked == until { return [] }
            asked = until
            return [.asking(until: until)]
        case .advance(let share):
            try await refresh(after: fleet.step(id, from: held?.value.share ?? .none, to: share, fence: fence))
            return [.stepped(to: share)]
        case .awaitConfirmation(let until):
            try await refresh(after: fleet.awaitConfirmation(id, until: until, fence: fence))
            return []
        case .pause(let reason):
            try await refresh(after: fleet.pause(id, because: reason, fence: fence))
            return [.paused(reason)]
        case .finish: return [.ended(.finished(try await fleet.finish(id, fence: fence)))]
        case .abort(let reason):
            return [.ended(.aborted(reason, try await fleet.abort(id, because: reason, fence: fence)))]
        }
    }

    /// What became of it, by the log.
    private func endElsewhere() async throws(FleetRefusal) -> DriverEnd {
        let entry = try await fleet.history().entries.last { $0.rollout == id }
        switch entry?.verb {
        case "finish": return .finishedElsewhere(by: entry?.by ?? "somebody")
        case "abort": return .gone("\(entry?.by ?? "somebody") aborted it\(entry?.why.map { ": \($0)" } ?? "")")
        default:
            return held == nil ? .gone("its lease is over, or its key was deleted") : .finishedElsewhere(by: "somebody")
        }
    }

    /// What a person wants. It may be refused, and the rollout goes on.
    private mutating func perform(_ command: DriverCommand) async -> [DriverNews] {
        do throws(FleetRefusal) {
            switch command {
            case .finish: return [.ended(.finished(try await fleet.finish(id, fence: claim.fence)))]
            case .abort:
                return [.ended(.aborted("\(fleet.by) asked for it", try await fleet.abort(id, fence: claim.fence)))]
            case .pause:
                try await refresh(after: fleet.pause(id, fence: claim.fence))
                return [.paused("\(fleet.by) asked for it")]
            case .leave: return [.ended(.left)]
            case .resume:
                try await refresh(after: fleet.resume(id, fence: claim.fence))
                return [.resumed]
            }
        } catch {
            return [.refused(error)]
        }
    }

    /// Reads what was written: nothing is decided on what was before.
    private mutating func refresh(after receipt: FleetReceipt) async throws(FleetRefusal) {
        let result = try await fleet.range(.key(fleet.keys.rollout(id)))
        revision = max(revision, receipt.header.revision)
        try take(result)
    }
}
