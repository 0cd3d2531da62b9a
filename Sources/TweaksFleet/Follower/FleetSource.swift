// Adds a fleet in etcd as a source of a daemon's values: its settings, and its follower from start to end.

import Dispatch
import Synchronization
import Tweaks
public import TweaksInterface

extension TweakDaemon.Source {
    /// Follows a fleet: values that many processes share, kept in etcd, which `tweakctl fleet` changes.
    ///
    /// ```swift
    /// try TweakDaemon.start("api", sources: [.etcd("http://127.0.0.1:2379", labels: ["zone": "eu"])])
    /// ```
    ///
    /// The fleet's values are a layer above config file, environment and arguments, and below overrides. The last good
    /// ones are saved in the state directory and are in effect before etcd replies. Observers run where those of a reload do.
    ///
    /// The environment wins: `TWEAKS_FLEET=URL[,URL…]` or `off`, `TWEAKS_FLEET_LABELS=zone=eu,version=1.4`,
    /// `TWEAKS_FLEET_PREFIX`, `TWEAKS_FLEET_INSTANCE`, `TWEAKS_FLEET_USER`, `TWEAKS_FLEET_PASSWORD_FILE`. If neither
    /// names a URL, no fleet is followed and nothing runs.
    /// - Parameters:
    ///   - endpoints: URLs of etcd's members, separated by commas.
    ///   - fleet: The fleet's name; nil for the daemon's name.
    ///   - labels: Labels by which rollouts select this process, fixed while it runs; at most 8, of 256 bytes in all.
    ///   - prefix: The key prefix of all fleets; one for each environment. Nil for `/tweaks`.
    ///   - user: The etcd user, if etcd requires authentication.
    ///   - passwordFile: A file with the password, readable only by its owner. Over plain HTTP only on this machine.
    ///   - connector: What connects to URLs with `https://`, also to those of the environment. Without one they are an error,
    ///     and TLS is left to a tunnel on the same machine.
    public static func etcd(
        _ endpoints: String? = nil, fleet: String? = nil, labels: [String: String] = [:], prefix: String? = nil,
        user: String? = nil, passwordFile: String? = nil, connector: (any EtcdConnector)? = nil
    ) -> TweakDaemon.Source {
        let given = FleetSettings.ProgramSettings(
            endpoints: endpoints, fleet: fleet, labels: labels, prefix: prefix, user: user, passwordFile: passwordFile,
            connector: connector)
        let variables = fleetVariables + (connector == nil ? [] : connectorVariables)
        return TweakDaemon.Source(variables: variables) { daemon, environment throws(ServerError) in
            try FleetSettings(given, daemon: daemon, environment: environment).map { FleetSource($0) }
        }
    }
}

/// The variables that are left to a program's connector. Without one, a daemon warns of them.
private let connectorVariables = ["TWEAKS_FLEET_CA", "TWEAKS_FLEET_CERT", "TWEAKS_FLEET_KEY"]

/// Where a fleet is, and the identity of this process in it.
package struct FleetSettings: Sendable {
    package let configuration: EtcdConfiguration
    package let keys: FleetKeys
    package let labels: Labels
    /// The configured instance ID; nil if one is to be generated.
    package let instance: String?

    /// The settings in the program's code.
    struct ProgramSettings: Sendable {
        var endpoints: String?
        var fleet: String?
        var labels: Labels = [:]
        var prefix: String?
        var user: String?
        var passwordFile: String?
        var connector: (any EtcdConnector)?
    }

    /// Returns nil if no fleet is configured or it is off.
    init?(_ given: ProgramSettings, daemon: String, environment: [String: String]) throws(ServerError) {
        func variable(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        guard let endpoints = variable("TWEAKS_FLEET") ?? given.endpoints, endpoints.lowercased() != "off" else {
            return nil
        }
        // A URL may contain a password, so it is not printed.
        let subject = variable("TWEAKS_FLEET") == nil ? "the fleet of the program" : "TWEAKS_FLEET"
        do {
            configuration = try EtcdConfiguration(
                endpoints: endpoints, user: variable("TWEAKS_FLEET_USER") ?? given.user,
                passwordFile: variable("TWEAKS_FLEET_PASSWORD_FILE") ?? given.passwordFile,
                connector: given.connector)
        } catch {
            throw ServerError("\(subject): \(error)")
        }
        let prefix = variable("TWEAKS_FLEET_PREFIX") ?? given.prefix ?? "/tweaks"
        guard prefix.hasPrefix("/"), !prefix.hasSuffix("/"), prefix.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7F }) else {
            throw ServerError("TWEAKS_FLEET_PREFIX=\(prefix): a prefix begins with /, and does not end with it")
        }
        let fleet = given.fleet ?? daemon
        guard FleetInstance.isID(fleet) else {
            throw ServerError("the fleet's name \(fleet): use letters, digits, “.”, “_”, “-” and “:”, at most 63")
        }
        keys = FleetKeys(prefix: prefix, name: fleet)
        labels = try Self.labels(given.labels, variable("TWEAKS_FLEET_LABELS"))
        instance = variable("TWEAKS_FLEET_INSTANCE")
        if let instance, !FleetInstance.isID(instance) {
            throw ServerError(
                "TWEAKS_FLEET_INSTANCE=\(instance): use letters, digits, “.”, “_”, “-” and “:”, at most 63")
        }
    }

    private static func labels(_ given: Labels, _ text: String?) throws(ServerError) -> Labels {
        do throws(FleetProblem) {
            guard let text else { return try given.validated() }
            return try given.merging(try Labels(parsing: text)) { $1 }.validated()
        } catch {
            throw ServerError("TWEAKS_FLEET_LABELS=\(text ?? ""): \(error.text)")
        }
    }
}

/// A fleet as a source of a daemon's values.
final class FleetSource: TweakValueSource {
    let layer = TweakLayer.fleet
    private let settings: FleetSettings
    private let state = Mutex(State())

    private struct State {
        var follower: FleetFollower?
        var client: EtcdClient?
        var running: Task<Void, Never>?
    }

    init(_ settings: FleetSettings) { self.settings = settings }

    func load(_ sink: TweakSourceSink) {
        let identity = FleetIdentity(settings.instance, labels: settings.labels, directory: sink.directory)
        let file = sink.directory.map { LastGoodFile(directory: $0, keys: settings.keys) }
        var core = FleetCore(keys: settings.keys, instance: identity.instance, sink: sink)
        do {
            if let saved = try file?.load() { core.restore(saved) }
        } catch {
            sink.warn("\(error); the fleet's values are not in effect until etcd answers")
        }
        let client = EtcdClient(settings.configuration)
        let follower = FleetFollower(
            core, etcd: client, keys: settings.keys, identity: identity, registry: sink.registry, file: file
        ) { event in
            if event.isProblem { sink.warn(event.description) } else { sink.log(event.description) }
        }
        state.withLock { state in
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
        let (follower, running, client) = state.withLock { ($0.follower, $0.running.take(), $0.client.take()) }
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
        let follower = state.withLock { $0.follower }
        let info = follower?.info.withLock { $0 } ?? FollowerInfo(state: "starting")
        let age = info.contact.map { Int64((Moment.now - $0) / .seconds(1)) }
        return [
            ("", .string(settings.keys.name)), ("state", .string(info.state)),
            ("instance", .string(follower?.identity.instance.id ?? "")), ("revision", .int(info.revision)),
            ("values", .int(Int64(info.values))), ("refused", .int(Int64(info.refused))),
            ("rollouts", .int(Int64(info.rollouts))), ("secondsAgo", age.map { .int($0) }),
        ]
    }
}
