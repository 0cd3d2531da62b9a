// Drives a rollout: claims it, watches it, asks the state machine for decisions, and carries them out.

import Tweaks
import TweaksSystem

/// The exclusive right to drive a rollout, valid while the lease lives.
package struct DriverClaim: Hashable, Sendable {
    package let id: String
    package let lease: EtcdLease
    /// A comparison that holds while the claim does; every write of the driver includes it.
    package let fence: EtcdTransaction.Compare

    /// The seconds without a heartbeat after which another driver may take over.
    package static let seconds: Int64 = 60
}

extension FleetOperator {
    /// Becomes the driver of a rollout; fails if there is another one.
    package func claim(
        _ id: String, host: String, pid: Int64, seconds: Int64 = DriverClaim.seconds
    ) async throws(FleetRefusal) -> DriverClaim {
        let lease = try await grant(seconds: seconds)
        let key = keys.driver(id)
        let record = FleetDriver(host: host, pid: pid, by: by, at: now())
        let result: EtcdTransactionResult
        do throws(EtcdError) {
            result = try await etcd.commit(
                EtcdTransaction(
                    if: [.modRevision(key, equals: 0)],
                    then: [.put(key: key, value: record.bytes, lease: lease.id)], otherwise: [.range(.key(key))]))
        } catch {
            throw FleetRefusal(error, wasWriting: true)
        }
        if result.succeeded {
            return DriverClaim(id: id, lease: lease, fence: .createRevision(key, equals: result.header.revision))
        }
        if case .range(let range)? = result.responses.first, let pair = range.keys.first, pair.lease == lease.id {
            // A member applied the write, but its reply was lost.
            return DriverClaim(id: id, lease: lease, fence: .createRevision(key, equals: pair.createRevision))
        }
        try? await etcd.revokeLease(lease.id)
        throw Self.isDriven(id, by: result.responses.first)
    }

    private static func isDriven(_ id: String, by response: EtcdTransactionResult.Response?) -> FleetRefusal {
        var who = "another operator"
        if case .range(let range)? = response, let pair = range.keys.first, let driver = try? FleetDriver(pair.value) {
            who = "\(driver.by) (process \(driver.pid) on \(driver.host))"
        }
        return FleetRefusal(
            "rollout \(id) is driven by \(who); end that driver, or wait until its lease of "
                + "\(DriverClaim.seconds) s is over")
    }

    /// Releases a claim, so that another driver need not wait.
    package func release(_ claim: DriverClaim) async { try? await etcd.revokeLease(claim.lease.id) }
}

/// The source of a driver's inputs: etcd and a timer.
package struct DriverFeed: Sendable {
    private let fleet: FleetOperator
    private let claim: DriverClaim
    private let heartbeat: Duration

    /// After this many heartbeats everything is read again, in case the watch is silently dead.
    private static let heartbeatsPerRead = 3

    /// - Parameter heartbeat: The interval of lease renewals: a third of its lifetime, so that two may fail.
    package init(
        _ fleet: FleetOperator, _ claim: DriverClaim, heartbeat: Duration = .seconds(DriverClaim.seconds / 3)
    ) {
        self.fleet = fleet
        self.claim = claim
        self.heartbeat = heartbeat
    }

    /// Starts the tasks that produce inputs; they end when they are canceled.
    package func start(into inputs: AsyncStream<DriverInput>.Continuation) -> [Task<Void, Never>] {
        [
            Task { await follow(inputs) }, Task { await keepAlive(inputs) },
            Task { await tick(inputs) },
        ]
    }

    private func tick(_ inputs: AsyncStream<DriverInput>.Continuation) async {
        while await pause(.seconds(1)) { inputs.yield(.tick) }
    }

    /// Sleeps; returns false if the task is canceled.
    private func pause(_ duration: Duration) async -> Bool { (try? await Task.sleep(for: duration)) != nil }

    // MARK: Watching

    private func follow(_ inputs: AsyncStream<DriverInput>.Continuation) async {
        var backoff = Backoff(.milliseconds(200) ... .seconds(5))
        while !Task.isCancelled {
            do {
                let revision = try await readAll(inputs)
                backoff.reset()
                for try await message in fleet.etcd.watch(.prefix(fleet.keys.all), from: revision + 1) {
                    if case .events(let header, let events) = message { inputs.yield(.watched(header, events)) }
                }
            } catch {
                if Task.isCancelled { return }
                inputs.yield(.outage(Self.text(error)))
            }
            guard await pause(backoff.next()) else { return }
        }
    }

    private func readAll(_ inputs: AsyncStream<DriverInput>.Continuation) async throws(FleetRefusal) -> Int64 {
        let instances = try await fleet.range(.prefix(fleet.keys.instances))
        let rollout = try await fleet.range(.key(fleet.keys.rollout(claim.id)))
        inputs.yield(.read(rollout: rollout, instances: instances))
        return instances.header.revision
    }

    private static func text(_ error: any Error) -> String {
        switch error {
        case let refusal as FleetRefusal: refusal.description
        case let error as EtcdError: FleetRefusal(error).description
        default: "etcd: \(error)"
        }
    }

    // MARK: The lease

    private func keepAlive(_ inputs: AsyncStream<DriverInput>.Continuation) async {
        var heartbeats = 0
        var rest = heartbeat
        while await pause(rest) {
            do {
                rest = heartbeat
                guard try await fleet.etcd.keepAlive(claim.lease.id) != nil else {
                    inputs.yield(.leaseLost)
                    return
                }
                heartbeats += 1
                if heartbeats % Self.heartbeatsPerRead == 0 {
                    _ = try await readAll(inputs)
                } else {
                    inputs.yield(.rollout(try await fleet.range(.key(fleet.keys.rollout(claim.id)))))
                }
            } catch {
                if Task.isCancelled { return }
                inputs.yield(.outage(Self.text(error)))
                // The lease outlives a short outage, so there is time for retries.
                rest = .seconds(2)
            }
        }
    }
}

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
        self.fleet = fleet.fenced(by: claim.fence)
        self.claim = claim
        driver = RolloutDriver(timing: timing)
        if isResumed { driver.noteOutage(until: fleet.now()) }
    }

    package var progress: DriverProgress { driver.progress }
    package var id: String { claim.id }

    /// Handles an input and carries out the decision that follows.
    package mutating func handle(_ input: DriverInput) async -> [DriverEvent] {
        noteGap()
        var output: [DriverEvent] = []
        do throws(FleetRefusal) {
            switch input {
            case .read(let rollout, let instances):
                if statuses == nil || instances.header.revision >= statuses?.revision ?? 0 {
                    statuses = InstanceStatuses(instances, fleet.keys)
                }
                try take(rollout)
                output = noteContact()
            case .rollout(let result):
                try take(result)
                output = noteContact()
            case .watched(let header, let events):
                statuses?.apply(header, events)
                for event in events { try take(event) }
                if fleet.now() &- decidedAt < Self.shortestPause { return [] }
            case .outage(let text): return noteOutage(text)
            case .leaseLost:
                let text = "rollout \(id) has another driver, or none: this one was away for too long; see status"
                return [.ended(.lost(FleetRefusal(text)))]
            case .tick: break
            case .command(let command): return await perform(command)
            }
        } catch {
            return [.ended(.lost(error))]
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
            throw FleetRefusal("rollout \(id) can no longer be read: \(error.description); abort \(id) deletes it")
        }
    }

    private mutating func noteGap() {
        let now = fleet.now()
        if let lastInputAt, now &- lastInputAt > Self.longestGap { driver.noteOutage(until: now) }
        lastInputAt = now
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
        let decision = driver.decide(record, live: statuses.live, now: decidedAt)
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
            refused = (text: error.description, until: fleet.now() &+ Self.refusalPause)
            return isNewRefusal ? [.refused(error)] : []
        }
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
        case .awaitConfirmation(let until):
            try await refresh(after: fleet.awaitConfirmation(id, until: until))
            return []
        case .pause(let reason):
            try await refresh(after: fleet.pause(id, because: reason))
            return [.paused(reason)]
        case .finish: return [.ended(.finished(try await fleet.finish(id)))]
        case .abort(let reason):
            return [.ended(.aborted(reason, try await fleet.abort(id, because: reason)))]
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
        let result = try await fleet.range(.key(fleet.keys.rollout(id)))
        revision = max(revision, receipt.header.revision)
        try take(result)
    }
}
