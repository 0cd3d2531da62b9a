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
        try? await etcd.revokeLease(lease.id)
        let pairs = result.responses.map { response -> EtcdKeyValue? in
            if case .range(let range) = response { range.keys.first } else { nil }
        }
        throw Self.isDriven(id, by: pairs.first ?? nil, isLeased: pairs.dropFirst().contains { $0?.lease ?? 0 != 0 })
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
        inputs.yield(.read(try await fleet.readRollout(claim.id), instances: instances))
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
                    inputs.yield(.rollout(try await fleet.readRollout(claim.id)))
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
