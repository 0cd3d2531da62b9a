// Starts a real etcd with short timeouts, and the followers, operators and drivers of one fleet.

import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

/// A cluster for fault injection, and its clients.
struct ClusterFixture {
    let server: EtcdServer
    let keys = FleetKeys(name: "api")
    /// The client of the test itself, which uses all members.
    let etcd: EtcdClient

    /// - Parameter flags: Additional flags of etcd. A single member elects itself at once; several on a busy machine need
    ///   the default time, so that they do not do it again and again.
    static func start(members: Int = 1, flags: [String] = []) async throws -> ClusterFixture {
        let quick = members == 1 ? ["--heartbeat-interval=30", "--election-timeout=300"] : []
        let server = try await EtcdServer.start(members: members, flags: quick + flags)
        return try ClusterFixture(server)
    }

    private init(_ server: EtcdServer) throws {
        self.server = server
        etcd = try Self.client(server.endpoints, timeout: EtcdServer.patience(members: server.endpoints.count))
    }

    private static func client(_ endpoints: [String], timeout: Duration = .seconds(1)) throws -> EtcdClient {
        var configuration = try EtcdConfiguration(endpoints: endpoints.joined(separator: ","))
        configuration.timeout = timeout
        return EtcdClient(configuration)
    }

    /// Returns a client that asks a member first, and then the others.
    func client(of first: Int, only: Bool = false) throws -> EtcdClient {
        let endpoints = server.endpoints
        return try Self.client(only ? [endpoints[first]] : Array(endpoints[first...] + endpoints[..<first]))
    }

    /// The seconds of leases. None ends while a process or a driver waits on a machine that runs thousands of tests.
    static let patience: Int64 = 1_800

    /// Short intervals. No farewell fails on such a machine.
    static var timings: FleetTimings {
        var timings = FleetTimings()
        timings.heartbeat = .milliseconds(700)
        timings.leaseSeconds = patience
        timings.watchLife = .seconds(20)
        (timings.statusJitter, timings.sample) = (.milliseconds(30), .milliseconds(150))
        (timings.rereadJitter, timings.maxPause) = (.milliseconds(100), .milliseconds(400))
        timings.farewell = .seconds(60)
        return timings
    }

    /// Starts a process.
    /// - Parameter first: The member that it asks first.
    func process(
        _ id: String? = "i1", labels: Labels = [:], first: Int = 0, only: Bool = false,
        directory: TemporaryDirectory? = nil
    ) throws -> FollowingProcess {
        let process = try FollowingProcess(
            try client(of: first, only: only), keys, id: id, labels: labels, directory: directory?.path,
            time: SystemTime(), timings: Self.timings)
        process.start()
        return process
    }

    /// Kills a process, and ends its status as the end of its lease does.
    func kill(_ process: FollowingProcess) async throws {
        await process.kill()
        let statuses = EtcdKeys.prefix(keys.instances + utf8("\(process.identity.instance.id)/"))
        for status in try await etcd.range(EtcdRange(statuses)).keys { try await etcd.revokeLease(status.lease) }
    }

    func fleet(by: String = "alice", of keys: FleetKeys? = nil) -> FleetOperator {
        FleetOperator(etcd, keys ?? self.keys, by: by, now: { SystemTime().wall }, makeID: { "r1" })
    }

    func set(
        _ path: String, _ value: TweakValue, by: String = "alice", in keys: FleetKeys? = nil
    ) async throws {
        let assignment = FleetAssignment(try TweakPath(path), value)
        _ = try await retry { () throws(FleetRefusal) in try await fleet(by: by, of: keys).set([assignment]) }
    }

    /// Retries while etcd has no leader, as an operator does.
    func retry<Result: Sendable>(_ action: () async throws(FleetRefusal) -> Result) async throws -> Result {
        while true {
            do throws(FleetRefusal) {
                return try await action()
            } catch {
                if error.kind != .unreachable { throw error }
                // etcd does not notify clients of the end of an election.
                try await Task.sleep(for: .milliseconds(50))
            }
        }
    }

    func put(_ key: [UInt8], _ value: [UInt8]) async throws {
        _ = try await etcd.commit(EtcdTransaction(then: [.put(key: key, value: value)]))
    }

    func delete(_ keys: EtcdKeys) async throws { _ = try await etcd.commit(EtcdTransaction(then: [.delete(keys)])) }

    /// Returns the revision of the operators' last write.
    func headRevision(of keys: FleetKeys? = nil) async throws -> Int64 {
        let fleet = fleet(of: keys)
        return try await retry { () throws(FleetRefusal) in try await fleet.readState().head?.modRevision ?? 0 }
    }

    func statusKeys() async throws -> [EtcdKeyValue] { try await etcd.range(EtcdRange(.prefix(keys.instances))).keys }

    /// Emits the current statuses, and again after each change; survives outages of etcd.
    func statuses(of keys: FleetKeys) -> AsyncStream<[LiveInstance]> {
        let fleet = FleetOperator(etcd, keys, by: "test", now: { 0 })
        return AsyncStream { continuation in
            let reading = Task {
                while !Task.isCancelled {
                    do {
                        var statuses = try await fleet.instanceStatuses()
                        continuation.yield(statuses.live)
                        for try await message in etcd.watch(.prefix(keys.instances), from: statuses.revision + 1) {
                            guard case .events(let header, let events) = message else { continue }
                            statuses.apply(header, events)
                            continuation.yield(statuses.live)
                        }
                    } catch {
                        try? await Task.sleep(for: .milliseconds(50))
                    }
                }
            }
            continuation.onTermination = { _ in reading.cancel() }
        }
    }

    /// Waits until the statuses meet a condition; returns them.
    @discardableResult func wait(
        of keys: FleetKeys? = nil, _ isMatch: ([LiveInstance]) -> Bool
    ) async -> [LiveInstance] {
        for await live in statuses(of: keys ?? self.keys) where isMatch(live) { return live }
        return []
    }

    /// Returns a plan with one change.
    func plan(_ path: String, _ value: TweakValue, steps: [Int] = [100], id: String = "r1") throws -> RolloutPlan {
        var plan = RolloutPlan(id: id, assignments: [FleetAssignment(try TweakPath(path), value)])
        plan.steps = steps.compactMap { Share(hundredths: $0 * 100) }
        plan.every = 1
        return plan
    }

    /// Begins a rollout with a driver.
    func begin(_ plan: RolloutPlan) async throws -> DriverClaim {
        var plan = plan
        let claim = try await fleet().claim(plan.id, host: "here", pid: 1, seconds: Self.patience)
        plan.driver = claim.fence
        _ = try await fleet().begin(plan)
        return claim
    }

    /// Drives a rollout to its end; returns all events.
    /// - Parameter started: Opened once the driver has seen the processes.
    func drive(
        _ claim: DriverClaim, timing: DriverTiming = driverTiming, started: Gate? = nil
    ) async -> [DriverEvent] {
        let (inputs, continuation) = AsyncStream.makeStream(of: DriverInput.self)
        let tasks = DriverFeed(fleet(), claim, heartbeat: .seconds(1)).start(into: continuation)
        defer { for task in tasks { task.cancel() } }
        var run = DriverRun(fleet(), claim, timing: timing)
        var all: [DriverEvent] = []
        for await input in inputs {
            let events = await run.handle(input)
            if case .read = input { started?.open() }
            all += events
            if events.contains(where: \.isLast) { break }
        }
        return all
    }

    static var driverTiming: DriverTiming {
        var timing = DriverTiming()
        timing.outageGrace = .milliseconds(8_500)
        timing.silenceTimeout = .seconds(patience)
        timing.reportTimeout = .seconds(patience)
        return timing
    }
}

extension DriverEvent {
    fileprivate var isLast: Bool {
        switch self {
        case .ended, .paused: true
        default: false
        }
    }

    /// The reason for which the driver aborted the rollout.
    var abortReason: String? { if case .ended(.aborted(let reason, _)) = self { reason } else { nil } }
    /// The receipt of the driver that finished the rollout.
    var finishReceipt: FleetReceipt? { if case .ended(.finished(let receipt)) = self { receipt } else { nil } }
    /// The text of a command or write that failed.
    var refusal: String? { if case .refused(let refusal) = self { refusal.description } else { nil } }
}
