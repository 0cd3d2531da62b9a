// Runs the fleet of the guide: three etcd members, processes whose errors depend on a timeout, two operators.

import Synchronization
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet
@testable import TweaksFleetOperator

/// A process of the service quotes. Its errors are those of the example, without their randomness.
final class QuotesProcess: Sendable {
    let process: FollowingProcess
    private let playing: Task<Void, Never>

    /// - Parameter mayFail: Errors appear once it is open.
    init(_ number: Int, _ etcd: any Etcd, _ keys: FleetKeys, mayFail: Gate) throws {
        var timings = ClusterFixture.timings
        timings.sample = .seconds(1)
        timings.heartbeat = .seconds(3)
        timings.leaseSeconds = StoryFleet.patience
        process = try FollowingProcess(
            etcd, keys, id: "quotes-\(number)", labels: ["zone": number % 5 == 0 ? "us" : "eu"],
            time: SystemTime(), timings: timings)
        let registry = process.registry
        let timeout = try registry.register(
            "Upstream", "Quotes", "Timeout", Duration.seconds(2), in: .milliseconds(10) ... .seconds(30))
        _ = try registry.register("Upstream", "Quotes", "Retries", 1, in: 0...5)
        let errors = try registry.register("Service", "Errors", "Rate", 0.0, flags: .readOnly)
        playing = Task {
            for await timeout in timeout.values {
                let fails = timeout < .milliseconds(60)
                if fails { await mayFail.wait() }
                errors.value = fails ? 100 : 0
            }
        }
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
    /// The numbers of the processes: the fifty of the guide, or twenty of them. Of these, too, a tenth is in the first
    /// step of the first rollout, and a fifth in that of the second.
    private static let numbers = isQuantityFull ? Array(1...50) : Array(1...16) + [18, 20, 21, 28]
    static let count = numbers.count

    /// A line of the guide with the counts of this fleet.
    static func scaled(_ line: String) -> String {
        func scaled(_ text: Substring) -> String { Int(text).map { "\($0 * count / 50)" } ?? "" }
        let counts = #/\d+(?= of \d+ (?:processes|reported)| processes| reported| members)/#
        return line.replacing(counts) { scaled($0.output) }
            .replacing(#/((?:%|[0-9a-f]{16}): )(\d+)$/#) { $0.output.1 + scaled($0.output.2) }
    }

    /// The seconds of leases and time limits: nothing in the story waits for the end of one.
    fileprivate static let patience = ClusterFixture.patience

    let cluster: ClusterFixture
    let keys = FleetKeys(name: "quotes")
    /// Opened once all processes have reported a value, which they otherwise do before or after the first errors.
    let mayFail = Gate()
    private let processes: Mutex<[QuotesProcess]>
    /// One for each member that is asked first.
    private let clients: [EtcdClient]
    /// The IDs of the rollouts in the guide.
    private let ids = Mutex(["53y2t9", "j9yq3x"])

    init() async throws {
        cluster = try await ClusterFixture.start(members: 3)
        let clients = try (0..<3).map { [cluster] in try cluster.client(of: $0) }
        self.clients = clients
        let (keys, mayFail) = (keys, mayFail)
        processes = Mutex([])
        let all = try Self.numbers.map { try QuotesProcess($0, clients[$0 % 3], keys, mayFail: mayFail) }
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
        let fleet = FleetOperator(etcd, keys, by: who, now: { SystemTime().wall }, makeID: { self.nextID() })
        var limits = DriverLimits()
        // No status can end in the driver's outage while etcd elects a leader.
        limits.leastEvery = 1
        limits.timing.outageGrace = .seconds(1)
        limits.claim = Self.patience
        limits.timing.silenceTimeout = .seconds(Self.patience)
        limits.timing.reportTimeout = .seconds(Self.patience)
        return FleetClient(arguments, FleetConsole(isJSON: arguments.isJSON, sink: sink), fleet, limits)
    }

    private func nextID() -> String { ids.withLock { $0.popLast() ?? FleetOperator.randomID() } }

    /// Kills a process and starts it again, as a service manager does.
    func restart(_ number: Int) async throws {
        guard let index = Self.numbers.firstIndex(of: number) else { return }
        await all[index].kill()
        let fresh = try QuotesProcess(number, clients[number % 3], keys, mayFail: mayFail)
        processes.withLock { $0[index] = fresh }
    }

    /// Waits until all processes report that they have applied the operators' last write.
    func settle() async throws {
        let revision = try await cluster.headRevision(of: keys)
        await cluster.wait(of: keys) { live in live.count { $0.status.revision >= revision } == Self.count }
    }

    /// Ends the leases of the drivers, as a minute without a heartbeat does.
    func expireDrivers() async throws {
        for driver in try await cluster.etcd.range(EtcdRange(.prefix(keys.drivers))).keys {
            try await cluster.etcd.revokeLease(driver.lease)
        }
    }
}
