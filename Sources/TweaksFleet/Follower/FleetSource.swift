// Runs a daemon's follower, from loading the last good state to the end of the process.

import Dispatch
import Synchronization
import Tweaks
import TweaksInterface

/// A fleet as a source of a daemon's values.
final class FleetSource: TweakValueSource {
    let layer = TweakLayer.fleet
    private let settings: FleetSettings
    private let sharedInfo = SharedFollowerInfo()
    private let state = Mutex(State())

    private struct State {
        /// This process in its fleet, once it is loaded.
        var instance: FleetInstance?
        var follower: FleetFollower?
        var client: EtcdClient?
        var running: Task<Void, Never>?
    }

    init(_ settings: FleetSettings) { self.settings = settings }

    func load(_ sink: TweakSourceSink) {
        let identity = FleetIdentity(settings.instance, labels: settings.labels, directory: sink.directory)
        let file = sink.directory.map { LastGoodFile(directory: $0, keys: settings.keys) }
        var core = FleetCore(keys: settings.keys, instance: identity.instance, sink: sink, time: SystemFleetClock())
        do {
            if let saved = try file?.load() { core.restore(saved) }
        } catch {
            sink.warn("\(error); the fleet's values are not in effect until etcd answers")
        }
        let client = EtcdClient(settings.configuration)
        let follower = FleetFollower(
            core, etcd: client, keys: settings.keys, identity: identity, registry: sink.registry, file: file,
            sharedInfo: sharedInfo
        ) { event in
            if event.isProblem { sink.warn(event.description) } else { sink.log(event.description) }
        }
        state.withLock { state in
            state.instance = identity.instance
            state.follower = follower
            state.client = client
        }
    }

    func start(_ sink: TweakSourceSink) {
        guard let follower = state.withLock({ $0.follower }) else { return }
        sink.registry.onInvalid { [weak follower] _, quarantined in
            // A rollout applies completely or not at all, so an invalid value removes its other values, too.
            if quarantined.layer == .fleet { Task { await follower?.recompose() } }
        }
        let running = Task { await follower.run() }
        state.withLock { $0.running = running }
    }

    func stop() {
        let (follower, running, client) = state.withLock { ($0.follower.take(), $0.running.take(), $0.client.take()) }
        guard let follower, let running else {
            client?.close()
            return
        }
        running.cancel()
        let hasEnded = DispatchSemaphore(value: 0)
        Task {
            await running.value
            await follower.withdrawStatus()
            client?.close()
            hasEnded.signal()
        }
        // An unresponsive etcd must not keep the process alive.
        _ = hasEnded.wait(timeout: .now() + 2)
    }

    var status: [(name: String, value: TweakValue?)] {
        let info = sharedInfo.current
        let age = info.contact.map { Int64((ContinuousClock.now - $0) / .seconds(1)) }
        return [
            ("", .string(settings.keys.name)), ("state", .string(info.state)),
            ("instance", .string(state.withLock { $0.instance?.id } ?? "")), ("revision", .int(info.revision)),
            ("values", .int(Int64(info.values))), ("refused", .int(Int64(info.refused))),
            ("rollouts", .int(Int64(info.rollouts.count))), ("secondsAgo", age.map { .int($0) }),
        ]
    }
}
