// Tests the drive service: its election, what it drives and begins, and what becomes of that when it dies.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct DriveServiceTests {
    private let harness = OperatorHarness()
    private let ids = ["i1", "i2", "i3"]

    /// A running service, and what it reports.
    private struct Service {
        let events = Recorder<DriveServiceEvent>()
        let network = Partition()
        let task: Task<Void, Never>

        init(
            _ harness: OperatorHarness, host: String, etcd: (any Etcd)? = nil, lease: Int64 = FleetLeadership.seconds
        ) {
            var limits = DriveService.Limits()
            limits.lease = lease
            limits.look = .milliseconds(20)
            // Members report at once here, so nothing has to be waited for.
            (limits.timing.outageGrace, limits.timing.reportTimeout) = (.zero, .seconds(3_600))
            let etcd = InterposedEtcd.behind(network, etcd ?? harness.etcd)
            let fleet = FleetOperator(etcd, harness.keys, by: "service", now: { 1_000_000 }, makeID: { "r1" })
            let service = DriveService(fleet, host: host, pid: 1, limits: limits) { [events] in events.note($0) }
            task = Task { await service.run() }
        }

        func wait(_ matches: @escaping (DriveServiceEvent) -> Bool) async { await events.wait(where: matches) }
        func waitUntilLeading() async { await wait { $0 == .leads } }
        func waitUntilDriving() async { await wait { if case .drives = $0 { true } else { false } } }

        /// Waits until as many events match.
        func wait(for count: Int, _ matches: @escaping (DriveServiceEvent) -> Bool) async {
            var seen = 0
            await wait { event in
                if matches(event) { seen += 1 }
                return seen >= count
            }
        }

        /// Waits until it has looked at everything that is there now. A look that has begun may have missed it.
        func waitUntilLooked() async {
            await wait(for: events.all.count { $0 == .lives } + 2) { $0 == .lives }
        }

        func stop() async {
            task.cancel()
            await task.value
        }
    }

    /// Begins a rollout for all processes, in one step, as an operator who leaves.
    private func handOver(
        _ path: String = "A/B/C", steps: [Share] = [.all], isHanded: Bool = true
    ) async throws {
        for id in ids { harness.register(id) }
        var plan = try harness.plan(path, .int(1))
        (plan.steps, plan.isHanded) = (steps, isHanded)
        plan.lease = try await harness.fleet().grant(seconds: DriveService.patience)
        _ = try await harness.fleet().begin(plan)
        report()
    }

    /// Lets the processes report that they have applied all.
    private func report() {
        let revision = harness.etcd.revision
        for id in ids { harness.register(id) { $0.revision = revision } }
    }

    /// Lets time pass at etcd, in which live services renew their leases.
    private func pass(seconds: Int64) async throws {
        for _ in 0..<(seconds / 10) {
            for key in [harness.keys.leader, harness.keys.rollout("r1")] {
                guard let lease = harness.etcd.value(key)?.lease, lease != 0 else { continue }
                _ = try await harness.etcd.keepAlive(lease)
            }
            harness.etcd.advance(seconds: 10)
        }
    }

    private func driver() async throws -> FleetDriver? { try await harness.fleet().drivers()["r1"] }

    @Test func `A rollout whose operator has left is driven to its end`() async throws {
        let service = Service(harness, host: "a")
        await service.waitUntilLeading()
        #expect(try await harness.fleet().leader()?.host == "a")
        let half = try #require(Share(hundredths: 5_000))
        try await handOver(steps: [half, .all])
        await service.waitUntilDriving()
        #expect(try await driver()?.by == "service")
        try await pass(seconds: 300)
        await service.wait { $0 == .rollout("r1", .stepped(to: .all)) }
        report()
        try await pass(seconds: 300)
        await service.wait { if case .rollout(_, .ended(.finished)) = $0 { true } else { false } }
        #expect(try await harness.value("A/B/C") == .int(1))
        #expect(try await harness.fleet().history().entries.map(\.by) == ["alice", "service", "service"])
        await service.waitUntilLooked()
        #expect(try await driver() == nil)
        #expect(try await harness.rollout() == nil)
        await service.stop()
    }

    @Test func `A refusal by a member reverts it`() async throws {
        let service = Service(harness, host: "a")
        try await handOver()
        await service.waitUntilDriving()
        harness.register("i2") { $0.refused = [.init(rollout: "r1", path: "A/B/C", reason: "too big")] }
        await service.wait {
            if case .rollout(_, .ended(.aborted(let reason, _))) = $0 { reason.contains("too big") } else { false }
        }
        #expect(try await harness.rollout() == nil)
        await service.stop()
    }

    @Test(arguments: [true, false])
    func `Only what is handed over and has no driver is driven`(_ isHanded: Bool) async throws {
        try await handOver(isHanded: isHanded)
        if isHanded { _ = try await harness.fleet().claim("r1", host: "terminal", pid: 7) }
        let service = Service(harness, host: "a")
        await service.waitUntilLeading()
        await service.waitUntilLooked()
        #expect(try await driver()?.host == (isHanded ? "terminal" : nil))
        #expect(!service.events.all.contains { if case .drives = $0 { true } else { false } })
        await service.stop()
    }

    @Test func `A service that stops lets another one lead at once, which goes on`() async throws {
        let first = Service(harness, host: "a")
        await first.waitUntilLeading()
        try await handOver()
        await first.waitUntilDriving()
        let second = Service(harness, host: "b")
        await second.wait { if case .waits(let leader) = $0 { leader.host == "a" } else { false } }
        await first.stop()
        await second.waitUntilDriving()
        #expect(try await harness.fleet().leader()?.host == "b")
        #expect(try await driver()?.host == "b")
        #expect(try await harness.rollout()?.value.state == .open)
        await second.stop()
        #expect(try await harness.fleet().leader() == nil)
        #expect(try await driver() == nil)
    }

    @Test func `When the leader is dead, another one takes over after its lease`() async throws {
        let first = Service(harness, host: "a")
        await first.waitUntilLeading()
        try await handOver()
        await first.waitUntilDriving()
        let second = Service(harness, host: "b")
        await second.waitUntilLooked()
        first.network.isCut = true
        harness.etcd.advance(seconds: FleetLeadership.seconds)
        await second.waitUntilDriving()
        // What the first one still writes is refused.
        first.network.isCut = false
        await first.wait { $0 == .lostLead }
        #expect(try await driver()?.host == "b")
        await first.stop()
        #expect(try await harness.fleet().leader()?.host == "b")
        await second.stop()
    }

    @Test func `Without any service a rollout is reverted after a while, and one keeps it`() async throws {
        try await handOver(steps: [try #require(Share(hundredths: 5_000)), .all])
        harness.etcd.advance(seconds: DriveService.patience - 10)
        let service = Service(harness, host: "a")
        await service.waitUntilDriving()
        await service.waitUntilLooked()
        harness.etcd.advance(seconds: 15)
        #expect(try await harness.rollout() != nil)
        await service.stop()
        harness.etcd.advance(seconds: DriveService.patience)
        #expect(try await harness.rollout() == nil)
    }

    @Test func `A rollout that becomes unreadable is not tried again until it is changed`() async throws {
        let service = Service(harness, host: "a")
        try await handOver()
        await service.waitUntilDriving()
        let readable = try #require(harness.etcd.value(harness.keys.rollout("r1")))
        harness.etcd.put(readable.key, utf8("{}"), lease: readable.lease)
        await service.wait { if case .rollout(_, .ended(.lost)) = $0 { true } else { false } }
        await service.waitUntilLooked()
        #expect(service.events.all.count { if case .drives = $0 { true } else { false } } == 1)
        harness.etcd.put(readable.key, readable.value, lease: readable.lease)
        await service.wait(for: 2) { if case .drives = $0 { true } else { false } }
        await service.stop()
    }

    @Test func `A claim whose reply was lost is taken up`() async throws {
        try await handOver()
        let lost = Box(false)
        let etcd = InterposedEtcd(
            etcd: harness.etcd,
            beforeCommit: { [harness] transaction throws(EtcdError) in
                let isClaim = transaction.compares.contains { $0.key == harness.keys.driver("r1") }
                if !isClaim || lost.value { return }
                lost.value = true
                _ = try await harness.etcd.commit(transaction)
                throw .unreachable("the reply is lost")
            })
        let service = Service(harness, host: "a", etcd: etcd)
        await service.waitUntilDriving()
        #expect(lost.value)
        #expect(try await driver()?.host == "a")
        await service.stop()
    }

    @Test func `An outage and its end are reported once`() async throws {
        // On a busy machine the outage outlasts a short lease, and without the lead another one is reported.
        let service = Service(harness, host: "a", lease: 3_600)
        await service.waitUntilLeading()
        service.network.isCut = true
        await service.wait { if case .outage = $0 { true } else { false } }
        await service.waitUntilLooked()
        service.network.isCut = false
        await service.wait { $0 == .contact }
        #expect(service.events.all.count { if case .outage = $0 { true } else { false } } == 1)
        await service.stop()
    }
}

/// Tests scheduled rollouts.
@Suite struct FleetScheduleTests {
    private let harness = OperatorHarness()

    private func schedule(_ path: String = "A/B/C", inSeconds seconds: Int64 = 60) async throws -> FleetReceipt {
        harness.register("i1")
        return try await harness.fleet().schedule(
            harness.plan(path, .int(1)), at: 1_000_000 + seconds * 1_000, reverts: true)
    }

    private func begin() async throws {
        let scheduled = try #require(try await harness.fleet().scheduled().rollouts.first)
        _ = try await harness.fleet(by: "service").begin(scheduled)
    }

    @Test func `It is due when etcd's clock says so, and begins as it was planned`() async throws {
        #expect(try await schedule().sequence == 1)
        #expect(try await harness.fleet().scheduled().rollouts.map(\.isDue) == [false])
        #expect(try await harness.rollout() == nil)
        harness.etcd.advance(seconds: 60)
        #expect(try await harness.fleet().scheduled().rollouts.map(\.isDue) == [false])
        harness.etcd.advance(seconds: 1)
        #expect(try await harness.fleet().scheduled().rollouts.map(\.isDue) == [true])
        try await begin()
        let record = try #require(try await harness.rollout())
        #expect(record.lease != 0 && record.value.isHanded && record.value.lifetime == DriveService.patience)
        #expect(record.value.changes.map(\.value) == [.int(1)])
        #expect(try await harness.fleet().scheduled().rollouts.isEmpty)
        #expect(try await harness.fleet().history().entries.map(\.verb) == ["schedule", "rollout"])
    }

    @Test func `It begins once, whoever tries`() async throws {
        _ = try await schedule()
        harness.etcd.advance(seconds: 61)
        let scheduled = try #require(try await harness.fleet().scheduled().rollouts.first)
        _ = try await harness.fleet().begin(scheduled)
        _ = try await harness.fleet().abort("r1")
        await #expect(throws: FleetRefusal.self) { _ = try await harness.fleet().begin(scheduled) }
        #expect(try await harness.rollout() == nil)
    }

    @Test func `abort cancels it on a full etcd, too`() async throws {
        _ = try await schedule()
        harness.etcd.setFaults { $0.isFull = true }
        let receipt = try await harness.fleet().abort("r1")
        #expect(receipt.notes.first?.contains("out of space") == true)
        harness.etcd.setFaults { $0.isFull = false }
        #expect(try await harness.fleet().scheduled().rollouts.isEmpty)
    }

    @Test(arguments: [true, false]) func `What a service cancels is never a rollout that has begun`(
        _ isFull: Bool
    ) async throws {
        _ = try await schedule()
        harness.etcd.advance(seconds: 61)
        let scheduled = try #require(try await harness.fleet().scheduled().rollouts.first)
        try await begin()
        harness.etcd.setFaults { $0.isFull = isFull }
        try await harness.fleet().cancel(scheduled, because: "it was held")
        #expect(try await harness.rollout() != nil)
    }

    @Test func `An abort at the moment of its begin ends the rollout`() async throws {
        _ = try await schedule()
        harness.etcd.advance(seconds: 61)
        let scheduled = try #require(try await harness.fleet().scheduled().rollouts.first)
        let begun = Box(false)
        // Begins it after the abort has read the state.
        let etcd = SlowRange(etcd: harness.etcd, key: harness.keys.scheduled("r1")) { [harness] in
            if begun.value { return }
            begun.value = true
            _ = try? await harness.fleet(by: "service").begin(scheduled)
        }
        _ = try await harness.fleet(on: etcd).abort("r1")
        #expect(begun.value)
        #expect(try await harness.rollout() == nil)
    }

    @Test func `More than an hour after its moment it is canceled, and does not begin`() async throws {
        _ = try await schedule()
        harness.etcd.advance(seconds: 61)
        let events = Recorder<DriveServiceEvent>()
        let late: Int64 = 1_060_000 + 3_600_001
        let fleet = FleetOperator(harness.etcd, harness.keys, by: "service", now: { late })
        let service = DriveService(fleet, host: "a", pid: 1) { events.note($0) }
        let task = Task { await service.run() }
        await events.wait { if case .couldNotBegin("r1", _, triesAgain: false) = $0 { true } else { false } }
        try await harness.etcd.wait(harness.keys.schedule) { $0.kind == .delete }
        task.cancel()
        await task.value
        #expect(try await harness.rollout() == nil)
        let reason = try await harness.fleet().history().entries.last?.why ?? ""
        #expect(reason.contains("its moment is over for more than an hour"), "\(reason)")
    }

    @Test func `The history derives no end from a schedule`() async throws {
        _ = try await schedule()
        #expect(try await harness.run("history").lines.allSatisfy { !$0.contains("ended") })
        harness.etcd.advance(seconds: 61)
        try await begin()
        #expect(try await harness.run("history").lines.allSatisfy { !$0.contains("ended") })
    }

    @Test func `abort cancels it, also when it cannot be read`() async throws {
        _ = try await schedule()
        _ = try await harness.fleet().abort("r1")
        #expect(try await harness.fleet().scheduled().rollouts.isEmpty)
        #expect(harness.etcd.value(harness.keys.timer("r1")) == nil)
        let text = await refusal { try await harness.fleet().abort("r1") }
        #expect(text.hasPrefix("there is no rollout “r1”"), "\(text)")
        harness.etcd.put(harness.keys.scheduled("r1"), utf8("?"))
        #expect(try await harness.fleet().scheduled().unreadable.count == 1)
        _ = try await harness.fleet().abort("r1")
        #expect(harness.etcd.value(harness.keys.scheduled("r1")) == nil)
    }

    @Test(arguments: [0, -60, DriverSeconds.year + 60] as [Int64])
    func `A moment that is over, or more than a year ahead, is refused`(_ seconds: Int64) async throws {
        #expect(await refusal { try await schedule(inSeconds: seconds - 1) }.contains("within a year from now"))
        #expect(harness.etcd.value(harness.keys.scheduled("r1")) == nil)
    }

    @Test func `A frozen fleet delays it; what holds its path cancels it, with the reason in the history`() async throws
    {
        _ = try await schedule()
        _ = try await harness.fleet().freeze("night", because: "release")
        harness.etcd.advance(seconds: 61)
        var limits = DriveService.Limits()
        limits.look = .milliseconds(20)
        let events = Recorder<DriveServiceEvent>()
        let fleet = FleetOperator(harness.etcd, harness.keys, by: "service", now: { 1_062_000 }, makeID: { "r2" })
        let service = DriveService(fleet, host: "a", pid: 1, limits: limits) { events.note($0) }
        let task = Task { await service.run() }
        await events.wait { if case .couldNotBegin("r1", _, triesAgain: true) = $0 { true } else { false } }
        _ = try await harness.fleet().unfreeze("night")
        await events.wait { if case .began = $0 { true } else { false } }
        // Another one of the same path.
        let other = FleetOperator(harness.etcd, harness.keys, by: "bob", now: { 1_000_000 }, makeID: { "r2" })
        var plan = try harness.plan("A/B/C", .int(2))
        plan.id = "r2"
        _ = try await other.schedule(plan, at: 1_001_000, reverts: true)
        harness.etcd.advance(seconds: 3)
        await events.wait { if case .couldNotBegin("r2", _, triesAgain: false) = $0 { true } else { false } }
        await events.wait { [harness] _ in harness.etcd.value(harness.keys.scheduled("r2")) == nil }
        task.cancel()
        await task.value
        let last = try #require(try await harness.fleet().history().entries.last { $0.rollout == "r2" })
        #expect(last.verb == "abort" && last.why?.contains("it could not begin: A/B/C: rollout r1") == true)
    }
}

/// An etcd that runs an action before it reads a key.
private struct SlowRange: Etcd {
    let etcd: MemoryEtcd
    let key: [UInt8]
    let action: @Sendable () async -> Void

    var isSignedIn: Bool { etcd.isSignedIn }

    func range(_ range: EtcdRange) async throws(EtcdError) -> EtcdRangeResult {
        if case .key(key) = range.keys { await action() }
        return try await etcd.range(range)
    }
    func commit(_ transaction: EtcdTransaction) async throws(EtcdError) -> EtcdTransactionResult {
        try await etcd.commit(transaction)
    }
    func grantLease(seconds: Int64) async throws(EtcdError) -> EtcdLease { try await etcd.grantLease(seconds: seconds) }
    func keepAlive(_ lease: Int64) async throws(EtcdError) -> EtcdLease? { try await etcd.keepAlive(lease) }
    func revokeLease(_ lease: Int64) async throws(EtcdError) { try await etcd.revokeLease(lease) }
    func status() async throws(EtcdError) -> EtcdStatus { try await etcd.status() }
    func watch(_ range: EtcdKeys, from revision: Int64) -> AsyncThrowingStream<EtcdWatchMessage, any Error> {
        etcd.watch(range, from: revision)
    }
}

private enum DriverSeconds {
    static let year = FleetOperator.longestSchedule
}
