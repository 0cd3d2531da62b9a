// Drives a rollout: takes what etcd tells, asks the state machine for decisions, and carries them out.

package import Tweaks
package import TweaksSystem

/// An input of a driver.
package enum DriverInput: Sendable {
    /// A complete read: the rollout's keys and the statuses.
    case read(RolloutReading, instances: EtcdRangeResult)
    /// A read of the rollout's keys.
    case rollout(RolloutReading)
    case watched(EtcdHeader, [EtcdEvent])
    /// What Prometheus answers to the rollout's queries, in their order, and when they were asked.
    case measured([PrometheusAnswer], askedAt: Moment)
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

/// A driver at work on one rollout, or an observer of one that another program drives: it decides nothing.
package struct DriverRun: Sendable {
    private let fleet: FleetOperator
    package let id: String
    /// Nil for an observer.
    package let claim: DriverClaim?
    private var driver: RolloutDriver
    private var record: VersionedRecord<Rollout>?
    private var statuses: InstanceStatuses?
    private var revision: Int64 = 0
    /// Whether the timer's key exists, and the revision up to which that is known.
    private var timer = (exists: false, revision: Int64(0))
    private var isDisconnected = false
    private var lastInputAt: Moment?
    private var askedUntil: Int64?
    private var decidedAt: Moment?
    /// A write that etcd refused, and the time of the next retry.
    private var refused: (text: String, until: Moment)?
    private let time: any Time

    /// A longer gap between two ticks means that the driver itself was suspended, as when a machine sleeps.
    private static let longestGap = Duration.seconds(30)
    /// Each decision evaluates all statuses, and thousands of processes report a step within seconds.
    private static let shortestPause = Duration.milliseconds(250)
    /// The delay before a write is retried that an etcd out of space or a frozen fleet has refused.
    private static let refusalPause = Duration.seconds(20)

    /// - Parameter isResumed: Another driver began the rollout, so its history is unknown.
    package init(
        _ fleet: FleetOperator, _ claim: DriverClaim, timing: DriverTiming = DriverTiming(), isResumed: Bool = false,
        time: any Time = SystemTime()
    ) {
        (self.fleet, id, self.claim) = (fleet.fenced(by: claim.fence), claim.id, claim)
        self.time = time
        driver = RolloutDriver(timing: timing)
        if isResumed { driver.noteOutage(until: time.now) }
    }

    /// Observes a rollout that another program drives. Commands of the operator are carried out.
    package init(observing id: String, _ fleet: FleetOperator, time: any Time = SystemTime()) {
        (self.fleet, self.id, claim) = (fleet, id, nil)
        self.time = time
        driver = RolloutDriver()
    }

    package var progress: DriverProgress { driver.progress }

    /// Handles an input and carries out the decision that follows.
    package mutating func handle(_ input: DriverInput) async -> [DriverEvent] {
        noteGap()
        // A write can take long, which is no gap.
        defer { lastInputAt = time.now }
        var output: [DriverEvent] = []
        do throws(FleetRefusal) {
            switch input {
            case .read(let reading, let instances):
                if statuses == nil || instances.header.revision >= statuses?.revision ?? 0 {
                    statuses = InstanceStatuses(instances, fleet.keys)
                }
                try take(reading)
                output = noteContact()
            case .rollout(let reading):
                try take(reading)
                output = noteContact()
            case .watched(let header, let events):
                statuses?.apply(header, events)
                for event in events { try take(event) }
                if let decidedAt, time.now - decidedAt < Self.shortestPause { return [] }
            case .outage(let text): return noteOutage(text)
            case .leaseLost:
                let text = "rollout \(id) has another driver, or none: this one was away for too long; see status"
                return [.ended(.lost(FleetRefusal(text)))]
            case .measured(let answers, let askedAt):
                if let record { driver.note(answers, askedAt: askedAt, of: record.value, now: time.now) }
            case .tick: break
            case .command(let command): return await perform(command)
            }
        } catch {
            return [.ended(.lost(error))]
        }
        return output + (await decide())
    }

    // MARK: What is known

    private mutating func take(_ reading: RolloutReading) throws(FleetRefusal) {
        if reading.timer.header.revision >= timer.revision {
            timer = (!reading.timer.keys.isEmpty, reading.timer.header.revision)
        }
        if reading.rollout.header.revision < revision { return }
        revision = reading.rollout.header.revision
        record = try reading.rollout.keys.first.map { pair throws(FleetRefusal) in try read(pair) }
    }

    private mutating func take(_ event: EtcdEvent) throws(FleetRefusal) {
        if event.pair.key == fleet.keys.timer(id), event.pair.modRevision > timer.revision {
            timer = (event.kind == .put, event.pair.modRevision)
        }
        guard event.pair.key == fleet.keys.rollout(id), event.pair.modRevision > revision else { return }
        revision = event.pair.modRevision
        record = event.kind == .delete ? nil : try read(event.pair)
    }

    private func read(_ pair: EtcdKeyValue) throws(FleetRefusal) -> VersionedRecord<Rollout> {
        do throws(FleetProblem) {
            return VersionedRecord(try Rollout(pair.value), pair)
        } catch {
            throw FleetRefusal("rollout \(id) can no longer be read: \(error.description); abort \(id) deletes it")
        }
    }

    private mutating func noteGap() {
        let now = time.now
        if let lastInputAt, now - lastInputAt > Self.longestGap { driver.noteOutage(until: now) }
        lastInputAt = now
    }

    private mutating func noteOutage(_ text: String) -> [DriverEvent] {
        defer { isDisconnected = true }
        return isDisconnected ? [] : [.outage(text)]
    }

    private mutating func noteContact() -> [DriverEvent] {
        if !isDisconnected { return [] }
        isDisconnected = false
        driver.noteOutage(until: time.now)
        return [.contact]
    }

    // MARK: Doing

    private mutating func decide() async -> [DriverEvent] {
        guard let statuses, !isDisconnected, revision > 0 else { return [] }
        let now = time.now
        decidedAt = now
        let before = driver.progress
        let decision = driver.decide(observation(statuses), now: now)
        if claim == nil { return await observed(decision, since: before) }
        if let refused, now < refused.until, decision.needsSpace { return [] }
        do throws(FleetRefusal) {
            let output = try await act(on: decision)
            if decision.needsSpace { refused = nil }
            return output
        } catch {
            return await note(error, of: decision)
        }
    }

    /// What a refused write means. Only the loss of the claim ends the driver: a rollout that others change at the same
    /// moment is read again.
    private mutating func note(_ error: FleetRefusal, of decision: DriverDecision) async -> [DriverEvent] {
        switch error.kind {
        case .unreachable: return noteOutage(error.description)
        case .claimLost, .usage: return [.ended(.lost(error))]
        case .refused, .suspended: break
        }
        // The rollout cannot advance, but it can still be aborted: keep checking its abort conditions.
        let isNewRefusal = refused?.text != error.description
        refused = (text: error.description, until: time.now + Self.refusalPause)
        do throws(FleetRefusal) {
            try take(try await fleet.readRollout(id))
            // Only an operator can decide what a value is that another one has changed.
            if decision == .finish, error.kind == .refused, error.etcd == nil, record?.value.state == .open {
                try await refresh(after: fleet.pause(id, because: error.description))
                return [.paused(error.description)]
            }
        } catch {
            if error.kind == .claimLost { return [.ended(.lost(error))] }
        }
        return isNewRefusal && record?.value.state == .open ? [.refused(error)] : []
    }

    private func observation(_ statuses: InstanceStatuses) -> DriverObservation {
        var observation = DriverObservation(record, live: statuses.live)
        observation.left = statuses.left
        // The last thing known of the timer may be from before the record.
        observation.isTimerRunning = timer.exists || timer.revision < record?.modRevision ?? 0
        observation.wall = fleet.now()
        return observation
    }

    private mutating func act(on decision: DriverDecision) async throws(FleetRefusal) -> [DriverEvent] {
        switch decision {
        case .wait, .awaitResume: return []
        case .gone, .done: return [.ended(try await readOutcome())]
        case .askToFinish(let until):
            if askedUntil == until { return [] }
            askedUntil = until
            return [.awaitingConfirmation(until: until)]
        case .advance(let share):
            try await refresh(after: fleet.step(id, from: record?.value.share ?? .none, to: share))
            return [.stepped(to: share)]
        case .awaitConfirmation(let seconds):
            try await refresh(after: fleet.awaitConfirmation(id, within: seconds))
            return []
        case .pause(let reason):
            try await refresh(after: fleet.pause(id, because: reason))
            return [.paused(reason)]
        case .finish: return [.ended(.finished(try await fleet.finish(id)))]
        case .abort(let reason):
            return [.ended(.aborted(reason, try await fleet.abort(id, because: reason)))]
        }
    }

    /// What the driver has done since the last look.
    private func observed(_ decision: DriverDecision, since before: DriverProgress) async -> [DriverEvent] {
        do throws(FleetRefusal) {
            if [.gone, .done].contains(decision) { return [.ended(try await readOutcome())] }
            let progress = driver.progress
            let isFirst = before.steps.isEmpty
            if before == progress { return [] }
            if progress.state == .paused, isFirst || before.state != .paused {
                let entry = try await fleet.history().entries.last { $0.rollout == id && $0.verb == "pause" }
                return [.paused(entry?.why ?? "\(entry?.by ?? "another operator") asked for it")]
            }
            if isFirst { return [] }
            if before.state == .paused, progress.state == .open { return [.resumed] }
            if let until = progress.confirmBy, before.confirmBy == nil { return [.awaitingConfirmation(until: until)] }
            return progress.share > before.share ? [.stepped(to: progress.share)] : []
        } catch {
            return noteQuietly(error)
        }
    }

    /// An observer that misses an event goes on: the next read shows where the rollout is.
    private func noteQuietly(_ error: FleetRefusal) -> [DriverEvent] {
        error.kind == .unreachable ? [] : [.refused(error)]
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
            case .finish: return [.ended(.finished(try await fleet.finish(id)))]
            case .abort:
                return [.ended(.aborted("\(fleet.by) asked for it", try await fleet.abort(id)))]
            case .pause:
                try await refresh(after: fleet.pause(id))
                return [.paused("\(fleet.by) asked for it")]
            case .leave: return [.ended(.left)]
            case .resume:
                try await refresh(after: fleet.resume(id))
                return [.resumed]
            }
        } catch {
            return [.refused(error)]
        }
    }

    /// Reads the rollout after a write, so that the next decision does not use the state before it.
    private mutating func refresh(after receipt: FleetReceipt) async throws(FleetRefusal) {
        let reading = try await fleet.readRollout(id)
        revision = max(revision, receipt.header.revision)
        try take(reading)
    }
}
