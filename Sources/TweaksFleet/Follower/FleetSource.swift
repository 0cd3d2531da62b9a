// Runs a daemon's follower, from loading the last good state to the end of the process.

import Dispatch
import Synchronization
import Tweaks
import TweaksInterface

/// A fleet as a source of a daemon's values.
final class FleetSource: RunningSource {
    private let settings: FleetSettings
    private let context: SourceContext
    private let identity: FleetIdentity
    private let sharedInfo = SharedFollowerInfo()
    private let state = Mutex(State())

    private struct State {
        var saved: LastGood?
        var follower: FleetFollower?
        var client: EtcdClient?
        var running: Task<Void, Never>?
    }

    init(_ settings: FleetSettings, _ context: SourceContext) {
        (self.settings, self.context) = (settings, context)
        identity = FleetIdentity(settings.instance, labels: settings.labels, directory: context.directory)
    }

    private var file: LastGoodFile? { context.directory.map { LastGoodFile(directory: $0, keys: settings.keys) } }

    func applySaved() {
        var core = FleetCore(
            keys: settings.keys, instance: identity.instance, registry: context.registry, time: SystemFleetClock())
        do {
            if let saved = try file?.load() { core.restore(saved) }
        } catch {
            context.log(.warning("\(error); the fleet's values are not in effect until etcd answers"))
        }
        let (sharedInfo, log, client) = (sharedInfo, context.log, EtcdClient(settings.configuration))
        let follower = FleetFollower(
            core, etcd: client, keys: settings.keys, identity: identity, registry: context.registry,
            file: file, sharedInfo: sharedInfo, log: log)
        state.withLock { ($0.follower, $0.client) = (follower, client) }
    }

    func start() {
        guard let follower = state.withLock({ $0.follower }) else { return }
        context.registry.onInvalid { [weak follower] _, quarantined in
            // A rollout applies completely or not at all, so an invalid value removes its other values, too.
            if quarantined.layer == .fleet { Task { await follower?.recompose() } }
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
            await follower.withdrawStatus()
            client?.close()
            hasEnded.signal()
        }
        // An unresponsive etcd must not keep the process alive.
        _ = hasEnded.wait(timeout: .now() + 2)
    }

    var metrics: [(String, JSON)] {
        let info = sharedInfo.current
        let age = info.contact.map { Int64((ContinuousClock.now - $0) / .seconds(1)) }
        return [
            ("fleet", .string(settings.keys.name)), ("fleetState", .string(info.state)),
            ("fleetInstance", .string(identity.instance.id)), ("fleetRevision", .int(info.revision)),
            ("fleetValues", .count(info.values)), ("fleetRefused", .count(info.refused)),
            ("fleetRollouts", .count(info.rollouts.count)), ("fleetSecondsAgo", age.map(JSON.int) ?? .null),
        ]
    }
}
