// The fleet of the guide's story: three members of etcd, fifty processes whose errors depend on a timeout, two operators.

import Synchronization
import Testing
import Tweaks
import TweaksTerminal

@testable import TweaksFleet
@testable import tweakctl_fleet

/// A process of the service quotes. Its errors are what the example's would be, without the chance in them.
final class QuotesProcess: Sendable {
    let process: FollowingProcess
    private let playing: Task<Void, Never>

    init(_ number: Int, _ etcd: any Etcd, _ keys: FleetKeys) throws {
        var timings = Weather.timings
        timings.sample = .seconds(1)
        process = try FollowingProcess(
            etcd, keys, id: "quotes-\(number)", labels: ["zone": number % 5 == 0 ? "us" : "eu"],
            time: FleetSystemTime(), timings: timings)
        let registry = process.registry
        let timeout = try registry.register(
            "Upstream", "Quotes", "Timeout", Duration.seconds(2), in: .milliseconds(10) ... .seconds(30))
        _ = try registry.register("Upstream", "Quotes", "Retries", 1, in: 0...5)
        let errors = try registry.register("Service", "Errors", "Rate", 0.0, flags: .readOnly)
        playing = Task {
            for await timeout in timeout.values { errors.value = timeout < .milliseconds(60) ? 100 : 0 }
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

/// All of it.
final class StoryFleet: Sendable {
    static let count = 50

    let weather: Weather
    let keys = FleetKeys(name: "quotes")
    private let processes: Mutex<[QuotesProcess]>
    /// Each has a client as its own machine would.
    private let clients: [EtcdClient]
    /// IDs of rollouts, as the guide has them.
    private let ids = Mutex(["53y2t9", "j9yq3x"])

    init() async throws {
        weather = try await Weather.start(members: 3)
        let clients = try (0..<3).map { [weather] in try weather.client(of: $0) }
        self.clients = clients
        let keys = keys
        processes = Mutex([])
        let all = try (1...Self.count).map { try QuotesProcess($0, clients[$0 % 3], keys) }
        processes.withLock { $0 = all }
    }

    var all: [QuotesProcess] { processes.withLock { $0 } }

    func close() async {
        await withTaskGroup { group in
            for process in all { group.addTask { await process.kill() } }
        }
        weather.server.close()
    }

    // MARK: Hands

    /// One line of tweakctl, as it would run at somebody's machine.
    func command(
        _ line: String, by who: String, on etcd: any Etcd, sink: @escaping @Sendable (String) -> Void
    ) throws(Failure) -> FleetClient {
        let arguments = try FleetArguments(ShellWords.split(line))
        let fleet = FleetOperator(
            etcd, keys, by: who, now: { FleetSystemTime().wall },
            makeID: { self.nextID() })
        var pace = DriverPace()
        (pace.timing, pace.claim, pace.leastEvery) = (Weather.patience, 8, 1)
        return FleetClient(arguments, FleetConsole(isJSON: arguments.isJSON, sink: sink), fleet, pace)
    }

    private func nextID() -> String { ids.withLock { $0.popLast() ?? FleetOperator.randomID() } }

    // MARK: Weather

    /// A process that is killed, and started again by what watches over it.
    func restart(_ number: Int) async throws {
        await all[number - 1].kill()
        let fresh = try QuotesProcess(number, clients[number % 3], keys)
        processes.withLock { $0[number - 1] = fresh }
    }

    /// Waits until all processes have said that they have the operators' last write.
    func settle() async throws {
        let fleet = FleetOperator(weather.etcd, keys, by: "test", now: { 0 })
        let revision = try await weather.insist { () throws(FleetRefusal) in
            try await fleet.look().head?.modRevision ?? 0
        }
        for await live in weather.statuses(of: keys)
        where live.count(where: { $0.status.revision >= revision }) == Self.count { return }
    }

    /// Waits until nobody drives a rollout: the lease of who did is over.
    func waitForDriver() async throws {
        let etcd = weather.etcd
        let drivers = EtcdKeys.prefix(keys.drivers)
        let range = try await etcd.range(EtcdRange(drivers))
        if range.keys.isEmpty { return }
        for try await message in etcd.watch(drivers, from: range.header.revision + 1) {
            if case .events(_, let events) = message, events.contains(where: { $0.kind == .delete }) { return }
        }
    }
}

/// Words as a shell makes them, with single quotes around those that hold blanks.
enum ShellWords {
    static func split(_ line: String) -> [String] {
        line.split(separator: "'", omittingEmptySubsequences: false).enumerated().flatMap { number, part in
            number % 2 == 1 ? [String(part)] : part.split(separator: " ").map { String($0) }
        }
    }
}
