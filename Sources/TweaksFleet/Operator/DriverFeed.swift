// Claims a rollout for its driver, and reads, watches and keeps alive what the driver needs from etcd.

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
        do throws(FleetRefusal) {
            return try await claim(id, host: host, pid: pid, under: lease)
        } catch {
            try? await etcd.revokeLease(lease.id)
            throw error
        }
    }

    /// Becomes the driver of a rollout for as long as a lease lives.
    package func claim(
        _ id: String, host: String, pid: Int64, under lease: EtcdLease
    ) async throws(FleetRefusal) -> DriverClaim {
        let key = keys.driver(id)
        let record = FleetDriver(host: host, pid: pid, by: by, at: now())
        let result: EtcdTransactionResult
        do throws(EtcdError) {
            result = try await etcd.commit(
                EtcdTransaction(
                    if: [.modRevision(key, equals: 0)],
                    then: [.put(key: key, value: record.bytes, lease: lease.id)],
                    otherwise: [.range(.key(key)), .range(.key(keys.rollout(id)))]))
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
        let pairs = result.responses.map { response -> EtcdKeyValue? in
            if case .range(let range) = response { range.keys.first } else { nil }
        }
        let rollout = pairs.dropFirst().first ?? nil
        if let rollout, (try? Rollout(rollout.value))?.isHanded ?? false {
            throw FleetRefusal(
                "the drive service drives rollout \(id); progress \(id) follows it, abort \(id) reverts it")
        }
        throw Self.isDriven(id, by: pairs.first ?? nil, isLeased: rollout?.lease ?? 0 != 0)
    }

    private static func isDriven(_ id: String, by pair: EtcdKeyValue?, isLeased: Bool) -> FleetRefusal {
        var who = "another operator"
        if let pair, let driver = try? FleetDriver(pair.value) {
            who = "\(driver.by) (process \(driver.pid) on \(driver.host))"
        }
        let remedy =
            isLeased
            ? "it is reverted when that driver ends, so finish \(id) or abort \(id) instead"
            : "end that driver, or wait until its lease of \(DriverClaim.seconds) s is over"
        return FleetRefusal("rollout \(id) is driven by \(who); \(remedy)")
    }

    /// Releases a claim, so that another driver need not wait.
    package func release(_ claim: DriverClaim) async { try? await etcd.revokeLease(claim.lease.id) }

    /// Releases a claim, and keeps the lease that it shares with others.
    package func drop(_ claim: DriverClaim) async {
        let key = keys.driver(claim.id)
        _ = try? await etcd.commit(EtcdTransaction(if: [claim.fence], then: [.delete(.key(key))]))
    }
}

/// The keys of a rollout and of its timer.
package struct RolloutReading: Sendable {
    package let rollout: EtcdRangeResult
    /// Read before the rollout, so that a timer that is missing here is not one of a later step.
    package let timer: EtcdRangeResult

    package init(rollout: EtcdRangeResult, timer: EtcdRangeResult) {
        self.rollout = rollout
        self.timer = timer
    }
}

extension FleetOperator {
    func readRollout(_ id: String) async throws(FleetRefusal) -> RolloutReading {
        let timer = try await range(.key(keys.timer(id)))
        return RolloutReading(rollout: try await range(.key(keys.rollout(id))), timer: timer)
    }
}

/// Where a driver asks the queries of rollouts, and how often.
package struct PrometheusSource: Sendable {
    package var server: Prometheus?
    /// As often as most servers are set to scrape, so that two answers are seldom of one sample.
    package var every = Duration.seconds(15)

    package init(_ server: Prometheus? = nil) { self.server = server }

    fileprivate static let unknown = PrometheusAnswer.problem(
        "no server is known here; start the driver with --prometheus URL, or set TWEAKS_FLEET_PROMETHEUS")

    /// Asks all queries at once.
    fileprivate func answers(to conditions: [PrometheusCondition]) async -> [PrometheusAnswer] {
        guard let server else { return conditions.map { _ in Self.unknown } }
        return await withTaskGroup(of: (Int, PrometheusAnswer).self) { group in
            for (position, condition) in conditions.enumerated() {
                group.addTask { (position, await server.answer(to: condition.query)) }
            }
            var answers = conditions.map { _ in Self.unknown }
            for await (position, answer) in group { answers[position] = answer }
            return answers
        }
    }
}

/// The source of a driver's inputs: etcd, Prometheus and a timer.
package struct DriverFeed: Sendable {
    private let fleet: FleetOperator
    private let id: String
    /// Nil for an observer.
    private let lease: EtcdLease?
    private let heartbeat: Duration
    private let prometheus: PrometheusSource
    private let conditions: [PrometheusCondition]

    /// After this many heartbeats everything is read again, in case the watch is silently dead.
    private static let heartbeatsPerRead = 3

    /// - Parameters:
    ///   - heartbeat: The interval of lease renewals: a third of its lifetime, so that two may fail.
    ///   - conditions: The rollout's conditions on Prometheus, which never change.
    package init(
        _ fleet: FleetOperator, _ claim: DriverClaim, heartbeat: Duration = .seconds(DriverClaim.seconds / 3),
        _ prometheus: PrometheusSource = PrometheusSource(), conditions: [PrometheusCondition] = []
    ) {
        (self.fleet, id, lease) = (fleet, claim.id, claim.lease)
        self.heartbeat = heartbeat
        (self.prometheus, self.conditions) = (prometheus, conditions)
    }

    /// The inputs of an observer.
    package init(observing id: String, _ fleet: FleetOperator) {
        (self.fleet, self.id, lease) = (fleet, id, nil)
        heartbeat = .seconds(DriverClaim.seconds / 3)
        (prometheus, conditions) = (PrometheusSource(), [])
    }

    /// Starts the tasks that produce inputs; they end when they are canceled.
    package func start(into inputs: AsyncStream<DriverInput>.Continuation) -> [Task<Void, Never>] {
        [
            Task { await follow(inputs) }, Task { await keepAlive(inputs) },
            Task { await tick(inputs) }, Task { await measure(inputs) },
        ]
    }

    private func measure(_ inputs: AsyncStream<DriverInput>.Continuation) async {
        if conditions.isEmpty { return }
        repeat {
            let askedAt = Moment.now
            inputs.yield(.measured(await prometheus.answers(to: conditions), askedAt: askedAt))
        } while await pause(prometheus.every)
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
                for try await message in fleet.etcd.watch(.prefix(fleet.keys.all), from: revision + 1) {
                    // Reads can work where a proxy ends each watch at once.
                    backoff.reset()
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
        inputs.yield(.read(try await fleet.readRollout(id), instances: instances))
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
                if let lease, try await fleet.etcd.keepAlive(lease.id) == nil {
                    inputs.yield(.leaseLost)
                    return
                }
                heartbeats += 1
                if heartbeats % Self.heartbeatsPerRead == 0 {
                    _ = try await readAll(inputs)
                } else {
                    inputs.yield(.rollout(try await fleet.readRollout(id)))
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
