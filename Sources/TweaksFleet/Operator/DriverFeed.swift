// Follows a rollout and the statuses for its driver, and keeps the driver's lease alive.

import Tweaks

/// What a driver hears, from etcd and the clock.
package struct DriverFeed: Sendable {
    private let fleet: FleetOperator
    private let claim: DriverClaim
    private let beat: Duration

    /// Every so many beats all is read anew, in case that the watch is dead and does not say so.
    private static let beatsPerReading = 3
    private static let longestBackoff = Duration.seconds(5)

    /// - Parameter beat: How often the lease is kept alive: a third of it, so that two beats may be lost.
    package init(_ fleet: FleetOperator, _ claim: DriverClaim, beat: Duration = .seconds(DriverClaim.seconds / 3)) {
        (self.fleet, self.claim, self.beat) = (fleet, claim, beat)
    }

    /// Starts to follow; the tasks end when they are cancelled.
    package func start(into inputs: AsyncStream<DriverInput>.Continuation) -> [Task<Void, Never>] {
        [
            Task { await follow(inputs) }, Task { await keepAlive(inputs) },
            Task { await tick(inputs) },
        ]
    }

    private func tick(_ inputs: AsyncStream<DriverInput>.Continuation) async {
        while await pause(.seconds(1)) { inputs.yield(.tick) }
    }

    /// False when there is nothing more to wait for.
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
        var (beats, rest) = (0, beat)
        while await pause(rest) {
            do {
                rest = beat
                guard try await fleet.etcd.keepAlive(claim.lease.id) != nil else {
                    inputs.yield(.unclaimed)
                    return
                }
                beats += 1
                if beats % Self.beatsPerReading == 0 {
                    _ = try await readAll(inputs)
                } else {
                    inputs.yield(.rollout(try await fleet.range(.key(fleet.keys.rollout(claim.id)))))
                }
            } catch {
                if Task.isCancelled { return }
                inputs.yield(.outage(Self.text(error)))
                // The lease lives on for a while: there is time for some more attempts.
                rest = .seconds(2)
            }
        }
    }
}
