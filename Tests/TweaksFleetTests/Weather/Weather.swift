// A real etcd with short times, and who speaks to it: followers, operators and drivers of one fleet.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

/// A cluster to be treated badly, and its clients.
struct Weather {
    let server: EtcdServer
    let keys = FleetKeys(name: "api")
    /// Reads and writes for the test itself, from any member.
    let etcd: EtcdClient

    /// - Parameter flags: More of etcd's flags. Elections are quick, so that leases can be short: etcd makes a lease as
    ///   long as an election may take.
    static func start(members: Int = 1, flags: [String] = []) async throws -> Weather {
        let server = try await EtcdServer.start(
            members: members, flags: ["--heartbeat-interval=30", "--election-timeout=300"] + flags)
        return try Weather(server)
    }

    private init(_ server: EtcdServer) throws {
        self.server = server
        etcd = EtcdClient(try Self.configuration(server.endpoints))
    }

    private static func configuration(_ endpoints: [String]) throws -> EtcdConfiguration {
        var configuration = try EtcdConfiguration(endpoints: endpoints.joined(separator: ","))
        configuration.timeout = .seconds(1)
        return configuration
    }

    /// A client that asks a member first, and the others after it.
    func client(of first: Int, only: Bool = false) throws -> EtcdClient {
        let endpoints = server.endpoints
        let all = only ? [endpoints[first]] : Array(endpoints[first...] + endpoints[..<first])
        return EtcdClient(try Self.configuration(all))
    }

    /// Short, and longer than a machine that runs thousands of tests keeps a process waiting.
    static var timings: FleetTimings {
        var timings = FleetTimings()
        (timings.heartbeat, timings.leaseSeconds, timings.watchLife) = (.milliseconds(700), 8, .seconds(20))
        (timings.statusJitter, timings.sample) = (.milliseconds(30), .milliseconds(150))
        (timings.rereadJitter, timings.longestPause) = (.milliseconds(100), .milliseconds(400))
        return timings
    }

    // MARK: Who speaks to it

    /// A process that has been started.
    /// - Parameter first: The member that it asks first.
    func process(
        _ id: String? = "i1", first: Int = 0, only: Bool = false, labels: Labels = [:],
        directory: TemporaryDirectory? = nil
    ) throws -> FollowingProcess {
        let process = try FollowingProcess(
            try client(of: first, only: only), keys, id: id, labels: labels, directory: directory?.path,
            time: FleetSystemTime(), timings: Self.timings)
        process.start()
        return process
    }

    func fleet(by: String = "alice", id: String = "r1") -> FleetOperator {
        FleetOperator(etcd, keys, by: by, now: { FleetSystemTime().wall }, makeID: { id })
    }

    func set(_ path: String, _ value: TweakValue, by: String = "alice") async throws {
        let assignment = FleetAssignment(try TweakPath(path), value)
        _ = try await insist { () throws(FleetRefusal) in try await fleet(by: by).set([assignment]) }
    }

    /// A plan with one change.
    func plan(_ path: String, _ value: TweakValue, steps: [Int] = [100], id: String = "r1") throws -> RolloutPlan {
        var plan = RolloutPlan(id: id, assignments: [FleetAssignment(try TweakPath(path), value)])
        plan.steps = steps.compactMap { Share(hundredths: $0 * 100) }
        plan.every = 1
        return plan
    }

    /// Does it again for as long as etcd has no leader, as an operator would.
    func insist<Result: Sendable>(
        _ action: () async throws(FleetRefusal) -> Result
    ) async throws -> Result {
        while true {
            do throws(FleetRefusal) {
                return try await action()
            } catch {
                if error.kind != .unreachable { throw error }
                // An election says nothing to those who wait for its end.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    // MARK: What stands in it

    func put(_ key: [UInt8], _ value: [UInt8]) async throws {
        _ = try await etcd.commit(EtcdTransaction(then: [.put(key: key, value: value)]))
    }

    func delete(_ keys: EtcdKeys) async throws {
        _ = try await etcd.commit(EtcdTransaction(then: [.delete(keys)]))
    }

    /// The statuses as they are told, from what there is on; it goes on over an etcd that is away.
    func statuses(of keys: FleetKeys) -> AsyncStream<[LiveInstance]> {
        let fleet = FleetOperator(etcd, keys, by: "test", now: { 0 })
        return AsyncStream { continuation in
            let reading = Task {
                while !Task.isCancelled {
                    do {
                        var population = try await fleet.population()
                        continuation.yield(population.live)
                        for try await message in etcd.watch(.prefix(keys.instances), from: population.revision + 1) {
                            guard case .events(let header, let events) = message else { continue }
                            population.apply(header, events)
                            continuation.yield(population.live)
                        }
                    } catch {
                        try? await Task.sleep(for: .milliseconds(50))
                    }
                }
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    /// Waits until the statuses are as a test wants them.
    @discardableResult func wait(_ isRight: ([LiveInstance]) -> Bool) async -> [LiveInstance] {
        for await live in statuses(of: keys) where isRight(live) { return live }
        return []
    }

    // MARK: Driving

    /// Drives a rollout to its end, and says what was told.
    func drive(_ claim: DriverClaim, timing: DriverTiming = Weather.patience) async -> [DriverNews] {
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let tasks = DriverFeed(fleet(), claim, beat: .seconds(1)).start(into: continuation)
        defer { for task in tasks { task.cancel() } }
        var run = DriverRun(fleet(), claim, timing: timing)
        var all: [DriverNews] = []
        for await input in inputs {
            let news = await run.handle(input)
            all += news
            if news.contains(where: \.isLast) { break }
        }
        return all
    }

    static var patience: DriverTiming {
        var timing = DriverTiming()
        (timing.settling, timing.silence, timing.patience) = (8_500, 6_000, 30_000)
        return timing
    }

    /// Begins a rollout with a driver.
    func begin(_ plan: RolloutPlan) async throws -> DriverClaim {
        var plan = plan
        let claim = try await fleet().claim(plan.id, host: "here", pid: 1)
        plan.driver = claim.fence
        _ = try await fleet().begin(plan)
        return claim
    }
}

extension DriverNews {
    var isLast: Bool {
        switch self {
        case .ended, .paused: true
        default: false
        }
    }
}
