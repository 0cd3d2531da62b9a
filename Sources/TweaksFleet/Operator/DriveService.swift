// Drives the rollouts that operators hand to the fleet, as the leader of several such services, until it is canceled.

import Tweaks
import TweaksSystem

/// What a drive service does, for its log.
package enum DriveServiceEvent: Hashable, Sendable {
    case leads
    /// Another service leads.
    case waits(FleetDriver)
    /// Its lease is over, so another service may lead.
    case lostLead
    case outage(String)
    case contact
    /// It has begun a scheduled rollout.
    case began(FleetReceipt)
    /// A scheduled rollout cannot begin; it stays if another attempt follows.
    case couldNotBegin(String, FleetRefusal, triesAgain: Bool)
    case drives(Rollout)
    case rollout(String, DriverEvent)
    /// It is at work; reported at each look, for a watchdog.
    case lives
}

/// The service. Several may run: one leads, and another takes over within ``FleetLeadership/seconds`` after it has died.
package struct DriveService: Sendable {
    /// The time limits; tests use shorter ones.
    package struct Limits: Sendable {
        /// The lifetime of the leader's lease in seconds.
        package var lease = FleetLeadership.seconds
        /// The time between two looks at what is to be driven.
        package var look = Duration.seconds(5)
        package var timing = DriverTiming()

        package init() {}
    }

    /// The seconds for which a rollout outlives all drive services, before it is reverted.
    package static let patience: Int64 = 600
    /// A scheduled rollout that has not begun for longer than this is canceled, in milliseconds.
    private static let longestDelay: Int64 = 3_600_000

    private let fleet: FleetOperator
    private let host: String
    private let pid: Int64
    private let prometheus: PrometheusSource
    private let limits: Limits
    private let report: @Sendable (DriveServiceEvent) -> Void

    /// - Parameter report: Is called with each event, in any task.
    package init(
        _ fleet: FleetOperator, host: String, pid: Int64, _ prometheus: PrometheusSource = PrometheusSource(),
        limits: Limits = Limits(), report: @escaping @Sendable (DriveServiceEvent) -> Void
    ) {
        self.fleet = fleet
        (self.host, self.pid) = (host, pid)
        self.prometheus = prometheus
        self.limits = limits
        self.report = report
    }

    /// Runs until its task is canceled; then it lets another service take over at once.
    package func run() async {
        var candidacy = Candidacy()
        while !Task.isCancelled {
            report(.lives)
            do throws(FleetRefusal) {
                let me = FleetDriver(
                    host: host, pid: pid, by: fleet.by, at: fleet.now(), hasPrometheus: prometheus.server != nil)
                let election = try await fleet.runForLeader(me, seconds: limits.lease)
                for event in candidacy.note(election) { report(event) }
                if case .won(let leadership) = election {
                    await lead(leadership)
                    candidacy = Candidacy()
                    continue
                }
            } catch {
                if !Task.isCancelled { for event in candidacy.note(error) { report(event) } }
            }
            await pause(limits.look)
        }
    }

    private func pause(_ duration: Duration) async { try? await Task.sleep(for: duration) }

    // MARK: Leading

    private func lead(_ leadership: FleetLeadership) async {
        let (inputs, continuation) = AsyncStream.makeStream(of: Input.self)
        let renewal = Task { await keepAlive(leadership, continuation) }
        continuation.yield(.look)
        await withTaskCancellationHandler {
            await lead(leadership, inputs, continuation)
        } onCancel: {
            continuation.finish()
        }
        renewal.cancel()
        // The claims of the rollouts are under the same lease.
        await fleet.resign(leadership)
    }

    private enum Input: Sendable {
        case look
        case ended(String, DriverOutcome?)
        case lost
    }

    private func lead(
        _ leadership: FleetLeadership, _ inputs: AsyncStream<Input>, _ continuation: AsyncStream<Input>.Continuation
    ) async {
        var lead = Lead()
        for await input in inputs {
            switch input {
            case .look:
                await look(leadership, &lead, continuation)
                // A slow look delays the next one.
                Task {
                    await pause(limits.look)
                    continuation.yield(.look)
                }
            case .ended(let id, let outcome): lead.end(id, outcome)
            case .lost:
                report(.lostLead)
                continuation.finish()
                return await lead.cancelDrives()
            }
        }
        await lead.cancelDrives()
    }

    /// Renews the leader's lease. What cannot be renewed for as long as it lasts has ended, even if etcd still knows it.
    private func keepAlive(_ leadership: FleetLeadership, _ inputs: AsyncStream<Input>.Continuation) async {
        var renewed = Moment.now
        while !Task.isCancelled {
            let asked = Moment.now
            do {
                guard try await fleet.etcd.keepAlive(leadership.lease.id) != nil else { break }
                renewed = asked
            } catch {
                if Moment.now - renewed > .seconds(leadership.lease.seconds) { break }
            }
            await pause(.seconds(leadership.lease.seconds) / 4)
        }
        inputs.yield(.lost)
    }

    /// Begins what is due, and drives what no one drives.
    private func look(
        _ leadership: FleetLeadership, _ lead: inout Lead, _ inputs: AsyncStream<Input>.Continuation
    ) async {
        report(.lives)
        do throws(FleetRefusal) {
            let view = try await fleet.readState()
            let drivers = try await fleet.drivers()
            lead.forget(allBut: view)
            for record in view.ordered where record.value.isDriven {
                let id = record.value.id
                if lead.drives[id] != nil {
                    await renew(record, &lead)
                } else if drivers[id].map(isOwn) ?? true, lead.mayDrive(record) {
                    try await drive(record, leadership, &lead, inputs)
                }
            }
            // Last, so that nothing that cannot begin holds up what is driven.
            for scheduled in try await fleet.scheduled().rollouts where scheduled.isDue {
                try await begin(scheduled, leadership, &lead)
            }
            for event in lead.noteContact() { report(event) }
        } catch {
            for event in lead.note(error) { report(event) }
        }
    }

    /// Whether a claim is of this service, which may not know it: a reply can be lost.
    private func isOwn(_ driver: FleetDriver) -> Bool { driver.host == host && driver.pid == pid }

    /// Keeps the lease of a rollout alive: it outlives this service, and ends if none follows.
    private func renew(_ record: VersionedRecord<Rollout>, _ lead: inout Lead) async {
        guard record.lease != 0, lead.shouldRenew(record.value.id) else { return }
        if (try? await fleet.etcd.keepAlive(record.lease)) != nil { lead.noteRenewal(record.value.id) }
    }

    private func begin(
        _ scheduled: ScheduledRollout, _ leadership: FleetLeadership, _ lead: inout Lead
    ) async throws(FleetRefusal) {
        let id = scheduled.rollout.id
        let isTooLate = fleet.now() &- (scheduled.rollout.next ?? 0) > Self.longestDelay
        do throws(FleetRefusal) {
            if isTooLate { throw FleetRefusal("its moment is over for more than an hour; schedule it again") }
            report(.began(try await fleet.fenced(by: leadership.fence).begin(scheduled)))
        } catch {
            if error.kind == .unreachable { throw error }
            // The renewal of the lease finds that out.
            if error.kind == .claimLost { return }
            let triesAgain = error.kind == .suspended
            if lead.isNew(error, of: id) { report(.couldNotBegin(id, error, triesAgain: triesAgain)) }
            if !triesAgain { try await cancel(scheduled, because: error, &lead) }
        }
    }

    private func cancel(
        _ scheduled: ScheduledRollout, because reason: FleetRefusal, _ lead: inout Lead
    ) async throws(FleetRefusal) {
        do throws(FleetRefusal) {
            try await fleet.cancel(scheduled, because: "it could not begin: \(reason.description)")
        } catch {
            if error.kind == .unreachable { throw error }
            let id = scheduled.rollout.id
            if lead.isNew(error, of: "\(id), canceling") { report(.couldNotBegin(id, error, triesAgain: true)) }
        }
    }

    // MARK: Driving

    private func drive(
        _ record: VersionedRecord<Rollout>, _ leadership: FleetLeadership, _ lead: inout Lead,
        _ inputs: AsyncStream<Input>.Continuation
    ) async throws(FleetRefusal) {
        let id = record.value.id
        let claim: DriverClaim
        do throws(FleetRefusal) {
            claim = try await fleet.claim(id, host: host, pid: pid, under: leadership.lease)
        } catch {
            if error.kind == .unreachable { throw error }
            // Otherwise an operator was faster, or the lease is gone, which its renewal finds out.
            if error.etcd != nil, lead.isNew(error, of: id) { report(.rollout(id, .refused(error))) }
            return
        }
        report(.drives(record.value))
        // What happened before this service led is not known; what has begun since then has had no driver yet.
        let isResumed = lead.isFirstLook || record.modRevision != record.createRevision
        lead.drives[id] = Lead.Drive(
            task: Task {
                let outcome = await drive(record.value, claim, isResumed: isResumed)
                inputs.yield(.ended(id, outcome))
            })
        await renew(record, &lead)
    }

    /// Drives one rollout to its end; nil if the task is canceled.
    private func drive(_ rollout: Rollout, _ claim: DriverClaim, isResumed: Bool) async -> DriverOutcome? {
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let feed = DriverFeed(
            fleet, claim, heartbeat: .seconds(claim.lease.seconds) / 3, prometheus,
            conditions: rollout.abortIfPrometheus)
        let tasks = feed.start(into: continuation)
        defer { for task in tasks { task.cancel() } }
        var run = DriverRun(fleet, claim, timing: limits.timing, isResumed: isResumed)
        for await input in inputs {
            for event in await run.handle(input) {
                report(.rollout(rollout.id, event))
                guard case .ended(let outcome) = event else { continue }
                await fleet.drop(claim)
                return outcome
            }
        }
        return nil
    }
}

extension Rollout {
    /// Whether the drive service drives it.
    fileprivate var isDriven: Bool { isHanded && state != .done && !isTemporary }
}

/// What a candidate has reported, so that it says nothing twice.
private struct Candidacy {
    private var leader: FleetDriver?
    private var problem: String?

    mutating func note(_ election: FleetElection) -> [DriveServiceEvent] {
        var events: [DriveServiceEvent] = problem == nil ? [] : [.contact]
        problem = nil
        switch election {
        case .won: events.append(.leads)
        case .lost(let other):
            if other != leader { events.append(.waits(other)) }
            leader = other
        }
        return events
    }

    mutating func note(_ error: FleetRefusal) -> [DriveServiceEvent] {
        if problem != nil { return [] }
        problem = error.description
        return [.outage(error.description)]
    }
}

/// What a leader drives, and has reported.
private struct Lead {
    struct Drive {
        let task: Task<Void, Never>
        var renewedAt: Moment?
    }

    var drives: [String: Drive] = [:]
    private(set) var isFirstLook = true
    private var outage: String?
    /// Rollouts that it cannot drive, with their revision when they were seen after that.
    private var abandoned: [String: Int64?] = [:]
    private var refusals: [String: String] = [:]

    /// How often a rollout's lease is renewed: far below ``DriveService/patience``.
    private static let renewal = Duration.seconds(60)

    func cancelDrives() async {
        for drive in drives.values { drive.task.cancel() }
        for drive in drives.values { await drive.task.value }
    }

    mutating func end(_ id: String, _ outcome: DriverOutcome?) {
        guard drives.removeValue(forKey: id) != nil else { return }
        // It is tried again only after an operator has changed it, such as with resume.
        if case .lost? = outcome { abandoned[id] = .some(nil) }
    }

    mutating func mayDrive(_ record: VersionedRecord<Rollout>) -> Bool {
        guard let seen = abandoned[record.value.id] else { return true }
        if let seen { return seen != record.modRevision }
        abandoned[record.value.id] = record.modRevision
        return false
    }

    mutating func forget(allBut view: OperatorView) {
        abandoned = abandoned.filter { view.rollouts[$0.key] != nil }
    }

    func shouldRenew(_ id: String) -> Bool { drives[id]?.renewedAt.map { Moment.now - $0 >= Self.renewal } ?? true }

    mutating func noteRenewal(_ id: String) { drives[id]?.renewedAt = .now }

    mutating func isNew(_ refusal: FleetRefusal, of id: String) -> Bool {
        defer { refusals[id] = refusal.description }
        return refusals[id] != refusal.description
    }

    mutating func noteContact() -> [DriveServiceEvent] {
        isFirstLook = false
        defer { outage = nil }
        return outage == nil ? [] : [.contact]
    }

    mutating func note(_ error: FleetRefusal) -> [DriveServiceEvent] {
        if outage != nil { return [] }
        outage = error.description
        return [.outage(error.description)]
    }
}
