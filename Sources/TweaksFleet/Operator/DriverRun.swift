// Drives a rollout: receives inputs, asks the state machine for a decision, and carries it out.

import Tweaks

/// An input of a driver.
package enum DriverInput: Sendable {
    /// A complete read: the rollout's key and the statuses.
    case read(rollout: EtcdRangeResult, instances: EtcdRangeResult)
    /// A read of the rollout's key.
    case rollout(EtcdRangeResult)
    case watched(EtcdHeader, [EtcdEvent])
    /// etcd is unreachable.
    case outage(String)
    /// The driver's lease has expired.
    case leaseLost
    case tick
    /// The operator entered a command.
    case command(DriverCommand)
}

package enum DriverCommand: String, Hashable, Sendable {
    case finish, abort, pause, resume
    /// Stop driving, so that another driver can continue.
    case leave
}

/// An event to report to the operator.
package enum DriverEvent: Hashable, Sendable {
    case stepped(to: Share)
    case paused(String)
    case resumed
    /// The operator must finish the rollout before this time.
    case awaitingConfirmation(until: Int64)
    case outage(String)
    case contact
    /// The operator's command failed.
    case refused(FleetRefusal)
    case ended(DriverOutcome)
}

/// How a driver ended.
package enum DriverOutcome: Hashable, Sendable {
    case finished(FleetReceipt)
    /// This driver reverted the rollout, for this reason.
    case aborted(String, FleetReceipt)
    /// Another client finished it; the operator is given.
    case finishedElsewhere(by: String)
    /// The rollout was reverted elsewhere; the reason as far as it is known.
    case gone(String)
    /// This driver stopped and left the rollout as it is.
    case left
    /// This driver lost its claim or cannot continue.
    case lost(FleetRefusal)
}

/// A driver at work on one rollout.
package struct DriverRun: Sendable {
    private let fleet: FleetOperator
    package let claim: DriverClaim
    private var driver: RolloutDriver
    private var record: VersionedRecord<Rollout>?
    private var statuses: InstanceStatuses?
    private var revision: Int64 = 0
    private var isDisconnected = false
    private var lastInputAt: Int64?
    private var askedUntil: Int64?
    private var decidedAt: Int64 = 0
    /// A write that etcd refused, and the time of the next retry.
    private var refused: (text: String, until: Int64)?

    /// A longer gap between two ticks means that the driver itself was suspended, as when a machine sleeps.
    private static let longestGap: Int64 = 30_000
    /// Each decision evaluates all statuses, and thousands of processes report a step within seconds.
    private static let shortestPause: Int64 = 250
    /// The delay before a write is retried that an etcd out of space has refused.
    private static let refusalPause: Int64 = 20_000

    /// - Parameter isResumed: Another driver began the rollout, so its history is unknown.
    package init(
        _ fleet: FleetOperator, _ claim: DriverClaim, timing: DriverTiming = DriverTiming(), isResumed: Bool = false
    ) {
        (self.fleet, self.claim) = (fleet, claim)
        driver = RolloutDriver(timing: timing)
        if isResumed { driver.noteOutage(until: fleet.now()) }
    }

    package var progress: DriverProgress { driver.progress }
    package var id: String { claim.id }

    /// Handles an input and carries out the decision that follows.
    package mutating func handle(_ input: DriverInput) async -> [DriverEvent] {
        var output = noteGap()
        do throws(FleetRefusal) {
            switch input {
            case .read(let rollout, let instances):
                if statuses.map({ $0.revision <= instances.header.revision }) ?? true {
                    statuses = InstanceStatuses(instances, fleet.keys)
                }
                try take(rollout)
                output += noteContact()
            case .rollout(let result):
                try take(result)
                output += noteContact()
            case .watched(let header, let events):
                statuses?.apply(header, events)
                for event in events { try take(event) }
                if fleet.now() &- decidedAt < Self.shortestPause { return output }
            case .outage(let text): return output + noteOutage(text)
            case .leaseLost:
                let text = "rollout \(id) has another driver, or none: this one was away for too long; see status"
                return output + [.ended(.lost(FleetRefusal(.refused, text)))]
            case .tick: break
            case .command(let command): return output + (await perform(command))
            }
        } catch {
            return output + [.ended(.lost(error))]
        }
        return output + (await decide())
    }

    // MARK: What is known

    private mutating func take(_ result: EtcdRangeResult) throws(FleetRefusal) {
        if result.header.revision < revision { return }
        revision = result.header.revision
        record = try result.keys.first.map { pair throws(FleetRefusal) in try read(pair) }
    }

    private mutating func take(_ event: EtcdEvent) throws(FleetRefusal) {
        guard event.pair.key == fleet.keys.rollout(id), event.pair.modRevision > revision else { return }
        revision = event.pair.modRevision
        record = event.kind == .delete ? nil : try read(event.pair)
    }

    private func read(_ pair: EtcdKeyValue) throws(FleetRefusal) -> VersionedRecord<Rollout> {
        do throws(FleetProblem) {
            return VersionedRecord(try Rollout(pair.value), pair)
        } catch {
            throw FleetRefusal(
                .refused, "rollout \(id) can no longer be read: \(error.description); abort \(id) deletes it")
        }
    }

    private mutating func noteGap() -> [DriverEvent] {
        let now = fleet.now()
        defer { lastInputAt = now }
        if let lastInputAt, now &- lastInputAt > Self.longestGap { driver.noteOutage(until: now) }
        return []
    }

    private mutating func noteOutage(_ text: String) -> [DriverEvent] {
        defer { isDisconnected = true }
        return isDisconnected ? [] : [.outage(text)]
    }

    private mutating func noteContact() -> [DriverEvent] {
        if !isDisconnected { return [] }
        isDisconnected = false
        driver.noteOutage(until: fleet.now())
        return [.contact]
    }

    // MARK: Doing

    private mutating func decide() async -> [DriverEvent] {
        guard let statuses, !isDisconnected, revision > 0 else { return [] }
        decidedAt = fleet.now()
        let decision = driver.decide(
            DriverObservation(rollout: record, live: statuses.live, now: fleet.now()))
        if let refused, fleet.now() < refused.until, decision.needsSpace { return [] }
        do throws(FleetRefusal) {
            let output = try await act(on: decision)
            if decision.needsSpace { refused = nil }
            return output
        } catch {
            if error.kind == .unreachable { return noteOutage(error.description) }
            guard case .noSpace? = error.etcd else { return [.ended(.lost(error))] }
            // The rollout cannot advance, but it can still be aborted: keep checking its abort conditions.
            let isNewRefusal = refused?.text != error.description
            refused = (error.description, fleet.now() &+ Self.refusalPause)
            return isNewRefusal ? [.refused(error)] : []
        }
    }

    private mutating func act(on decision: DriverDecision) async throws(FleetRefusal) -> [DriverEvent] {
        let fence = claim.fence
        switch decision {
        case .wait, .awaitResume: return []
        case .gone, .done: return [.ended(try await readOutcome())]
        case .askToFinish(let until):
            if askedUntil == until { return [] }
            askedUntil = until
            return [.awaitingConfirmation(until: until)]
        case .advance(let share):
            try await refresh(after: fleet.step(id, from: record?.value.share ?? .none, to: share, fence: fence))
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

    /// Finds out from the log how the rollout ended.
    private func readOutcome() async throws(FleetRefusal) -> DriverOutcome {
        let entry = try await fleet.history().entries.last { $0.rollout == id }
        switch entry?.verb {
        case "finish": return .finishedElsewhere(by: entry?.by ?? "another operator")
        case "abort": return .gone("\(entry?.by ?? "another operator") aborted it\(entry?.why.map { ": \($0)" } ?? "")")
        default:
            return record == nil
                ? .gone("its lease is over, or its key was deleted") : .finishedElsewhere(by: "another operator")
        }
    }

    /// Carries out an operator's command. If it fails, the rollout continues.
    private mutating func perform(_ command: DriverCommand) async -> [DriverEvent] {
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

    /// Reads the rollout after a write, so that the next decision does not use the state before it.
    private mutating func refresh(after receipt: FleetReceipt) async throws(FleetRefusal) {
        let result = try await fleet.range(.key(fleet.keys.rollout(id)))
        revision = max(revision, receipt.header.revision)
        try take(result)
    }
}
