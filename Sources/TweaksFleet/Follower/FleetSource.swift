// Runs the follower of a daemon: from the last good state on disk to the end of the process.

import Dispatch
import Synchronization
import Tweaks
import TweaksInterface

/// A fleet as a source of a daemon.
final class FleetSource: RunningSource {
    private let settings: FleetSettings
    private let context: SourceContext
    private let identity: FleetIdentity
    private let board = FleetBoard()
    private let state = Mutex(State())

    private struct State {
        var kept: LastGood?
        var follower: FleetFollower?
        var client: EtcdClient?
        var running: Task<Void, Never>?
    }

    init(_ settings: FleetSettings, _ context: SourceContext) {
        (self.settings, self.context) = (settings, context)
        identity = FleetIdentity(settings.instance, labels: settings.labels, directory: context.directory)
    }

    private var file: LastGoodFile? { context.directory.map { LastGoodFile(directory: $0, keys: settings.keys) } }

    func applyKept() {
        var core = FleetCore(
            keys: settings.keys, instance: identity.instance, registry: context.registry, time: FleetSystemTime())
        do {
            if let kept = try file?.load() { core.take(kept) }
        } catch {
            context.log(.warning("\(error); the fleet's values are not in effect until etcd answers"))
        }
        let (board, log, client) = (board, context.log, EtcdClient(settings.configuration))
        let follower = FleetFollower(
            core, etcd: client, keys: settings.keys, identity: identity, registry: context.registry,
            file: file, board: board, log: log)
        state.withLock { ($0.follower, $0.client) = (follower, client) }
    }

    func start() {
        guard let follower = state.withLock({ $0.follower }) else { return }
        context.registry.onUnfit { [weak follower] _, aside in
            // Values of a rollout are all or nothing: with one that does not fit the others go.
            if aside.layer == .fleet { Task { await follower?.recompose() } }
        }
        let running = Task { await follower.run() }
        state.withLock { $0.running = running }
    }

    func stop() {
        let (follower, running, client) = state.withLock { ($0.follower.take(), $0.running.take(), $0.client.take()) }
        guard let follower else { return }
        running?.cancel()
        let hasEnded = DispatchSemaphore(value: 0)
        Task {
            await running?.value
            await follower.retract()
            client?.close()
            hasEnded.signal()
        }
        // An etcd that says nothing does not keep the process.
        _ = hasEnded.wait(timeout: .now() + 2)
    }

    var figures: [(String, JSON)] {
        let facts = board.current
        let age = facts.contact.map { Int64((ContinuousClock.now - $0) / .seconds(1)) }
        return [
            ("fleet", .string(settings.keys.name)), ("fleetState", .string(facts.state)),
            ("fleetInstance", .string(identity.instance.id)), ("fleetRevision", .int(facts.revision)),
            ("fleetValues", .count(facts.values)), ("fleetRefused", .count(facts.refused)),
            ("fleetRollouts", .count(facts.rollouts.count)), ("fleetSecondsAgo", age.map(JSON.int) ?? .null),
        ]
    }
}
