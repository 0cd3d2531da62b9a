// Runs the fleet of the guide: three etcd members, fifty processes whose errors depend on a timeout, two operators.

import Synchronization
import Testing
import Tweaks
import TweaksTerminal

@testable import TweaksFleet
@testable import tweakctl_fleet

/// A process of the service quotes. Its errors are those of the example, without their randomness.
final class QuotesProcess: Sendable {
    let process: FollowingProcess
    private let playing: Task<Void, Never>

    init(_ number: Int, _ etcd: any Etcd, _ keys: FleetKeys) throws {
        var timings = ClusterFixture.timings
        timings.sample = .seconds(1)
        process = try FollowingProcess(
            etcd, keys, id: "quotes-\(number)", labels: ["zone": number % 5 == 0 ? "us" : "eu"],
            time: SystemFleetClock(), timings: timings)
        let registry = process.registry
        let timeout = try registry.register(
            "Upstream", "Quotes", "Timeout", Duration.seconds(2), in: .milliseconds(10) ... .seconds(30))
        _ = try registry.register("Upstream", "Quotes", "Retries", 1, in: 0...5)
        let errors = try registry.register("Service", "Errors", "Rate", 0.0, flags: .readOnly)
        playing = Task { for await timeout in timeout.values { errors.value = timeout < .milliseconds(60) ? 100 : 0 } }
        process.start()
    }

    func value(_ path: String) throws -> String? { process.registry[try TweakPath(path)]?.value?.text }

    /// `kill -9`.
    func kill() async {
        playing.cancel()
        await process.kill()
    }
}

final class StoryFleet: Sendable {
    static let count = 50

    let cluster: ClusterFixture
    let keys = FleetKeys(name: "quotes")
    private let processes: Mutex<[QuotesProcess]>
    /// One for each member that is asked first.
    private let clients: [EtcdClient]
    /// The IDs of the rollouts in the guide.
    private let ids = Mutex(["53y2t9", "j9yq3x"])

    init() async throws {
        cluster = try await ClusterFixture.start(members: 3)
        let clients = try (0..<3).map { [cluster] in try cluster.client(of: $0) }
        self.clients = clients
        let keys = keys
        processes = Mutex([])
        let all = try (1...Self.count).map { try QuotesProcess($0, clients[$0 % 3], keys) }
        processes.withLock { $0 = all }
    }

    var all: [QuotesProcess] { processes.withLock { $0 } }

    func close() async {
        await withTaskGroup { group in for process in all { group.addTask { await process.kill() } } }
        cluster.server.close()
    }

    /// Creates the client for one command line of an operator.
    func command(
        _ line: String, by who: String, on etcd: any Etcd, sink: @escaping @Sendable (String) -> Void
    ) throws(Failure) -> FleetClient {
        let arguments = try FleetArguments(ShellWords.split(line))
        let fleet = FleetOperator(etcd, keys, by: who, now: { SystemFleetClock().wall }, makeID: { self.nextID() })
        var limits = DriverLimits()
        (limits.timing, limits.claim, limits.leastEvery) = (ClusterFixture.driverTiming, 8, 1)
        return FleetClient(arguments, FleetConsole(isJSON: arguments.isJSON, sink: sink), fleet, limits)
    }

    private func nextID() -> String { ids.withLock { $0.popLast() ?? FleetOperator.randomID() } }

    /// Kills a process and starts it again, as a service manager does.
    func restart(_ number: Int) async throws {
        await all[number - 1].kill()
        let fresh = try QuotesProcess(number, clients[number % 3], keys)
        processes.withLock { $0[number - 1] = fresh }
    }

    /// Waits until all processes report that they have applied the operators' last write.
    func settle() async throws {
        let revision = try await cluster.headRevision(of: keys)
        await cluster.wait(of: keys) { live in live.count { $0.status.revision >= revision } == Self.count }
    }

    /// Waits until no rollout has a driver: the lease of the last one has expired.
    func waitForDriver() async throws {
        let etcd = cluster.etcd
        let drivers = EtcdKeys.prefix(keys.drivers)
        let range = try await etcd.range(EtcdRange(drivers))
        if range.keys.isEmpty { return }
        for try await message in etcd.watch(drivers, from: range.header.revision + 1) {
            if case .events(_, let events) = message, events.contains(where: { $0.kind == .delete }) { return }
        }
    }
}
