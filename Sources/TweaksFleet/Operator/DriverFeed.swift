// Watches a rollout and the statuses for its driver, and keeps the driver's lease alive.

import Tweaks

/// The source of a driver's inputs: etcd and a timer.
package struct DriverFeed: Sendable {
    private let fleet: FleetOperator
    private let claim: DriverClaim
    private let heartbeat: Duration

    /// After this many heartbeats everything is read again, in case the watch is silently dead.
    private static let heartbeatsPerRead = 3
    private static let longestBackoff = Duration.seconds(5)

    /// - Parameter heartbeat: The interval of lease renewals: a third of its lifetime, so that two may fail.
    package init(
        _ fleet: FleetOperator, _ claim: DriverClaim, heartbeat: Duration = .seconds(DriverClaim.seconds / 3)
    ) {
        (self.fleet, self.claim, self.heartbeat) = (fleet, claim, heartbeat)
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
        var backoff = Duration.milliseconds(200)
        while !Task.isCancelled {
            do {
                let revision = try await readAll(inputs)
                backoff = .milliseconds(200)
                for try await message in fleet.etcd.watch(.prefix(fleet.keys.all), from: revision + 1) {
                    if case .events(let header, let events) = message { inputs.yield(.watched(header, events)) }
                }
            } catch {
                if Task.isCancelled { return }
                inputs.yield(.outage(Self.text(error)))
            }
            guard await pause(backoff) else { return }
            backoff = min(backoff * 2, Self.longestBackoff)
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
        var (heartbeats, rest) = (0, heartbeat)
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
