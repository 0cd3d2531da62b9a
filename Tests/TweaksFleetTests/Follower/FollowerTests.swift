// Tests a follower with an etcd in memory: what it applies, keeps and reports, and which stores it trusts.

import Synchronization
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.prompt) struct FollowerTests {
    private let etcd = MemoryEtcd()
    private let time = ManualClock(wall: 1_700_000_000_000)
    private let keys = FleetKeys(name: "api")

    private func start(_ directory: TemporaryDirectory? = nil, labels: Labels = [:]) throws -> FollowingProcess {
        let process = try FollowingProcess(etcd, keys, labels: labels, directory: directory?.path, time: time)
        process.start()
        return process
    }

    private func set(_ values: [String: TweakValue], _ counter: UInt64) async throws {
        try await etcd.set(values, keys, counter: counter)
    }

    /// Starts a process that has applied the value 60 of Size.
    private func startWithSize60() async throws -> FollowingProcess {
        try await set(["A/B/Size": .number(60)], 1)
        let process = try start()
        await process.wait(process.size, 60)
        return process
    }

    /// Writes a rollout under a lease of 600 seconds.
    private func rollLeased(_ changes: [String: TweakValue], _ counter: UInt64) async throws {
        var rollout = try Rollout("timed", changes)
        rollout.lifetime = 600
        try await etcd.roll(rollout, keys, counter: counter, lease: try await etcd.grantLease(seconds: 600).id)
    }

    @Test func `The status tells the machine and all overrides, without the value of a secret`() async throws {
        try await set(["A/B/Size": .number(60)], 1)
        let process = try FollowingProcess(etcd, keys, time: time)
        let token = Tweak("A", "B", "Token", "none", flags: .secret, registry: process.registry)
        (process.count.value, token.value) = (7, "hunter2")
        process.start()
        try await passUntilStatus { status in
            let expected = [
                FleetStatus.Override(path: "A/B/Count", value: "7"), .init(path: "A/B/Token", value: nil),
            ]
            return status.overrides == expected && status.covered.isEmpty && status.host == FleetIdentity.host
        }
        // Without a change of the fleet, the next heartbeat tells it.
        process.count.reset()
        try await passUntilStatus { $0.overrides.map(\.path) == ["A/B/Token"] }
        #expect(etcd.all(keys.instances).allSatisfy { !String(decoding: $0.value, as: UTF8.self).contains("hunter2") })
        await process.stop()
    }

    /// Advances the time until a condition holds.
    private func pass(until isMet: @escaping @Sendable () -> Bool) async throws {
        try await time.pass { while !isMet() { await Task.yield() } }
    }

    /// Advances the time until a status meets a condition.
    private func passUntilStatus(_ isMatch: @escaping @Sendable (FleetStatus) -> Bool) async throws {
        try await time.pass { [etcd, keys] in
            try await etcd.wait(keys.instances) { (try? FleetStatus($0.pair.value)).map(isMatch) ?? false }
        }
    }

    @Test func `The values are applied in one commit, and each later revision in one more`() async throws {
        try await set(["A/B/Size": .number(60), "A/B/Count": .int(2)], 1)
        let process = try start()
        await process.wait(process.count, 2)
        #expect(process.size.value == 60 && process.registry.revision == 1)
        try await set(["A/B/Size": .number(70), "A/B/Count": .int(3)], 2)
        await process.wait(process.count, 3)
        #expect(process.size.value == 70 && process.registry.revision == 2)
        #expect(process.size.erased.layers.last?.origin.description == "fleet: ana, etcd revision 3")
    }

    @Test func `A rollout is applied as a whole or not at all, and removed when it is deleted`() async throws {
        let process = try await startWithSize60()
        try await etcd.roll(
            Rollout("good", ["A/B/Size": .number(70), "A/B/Count": .int(4), "A/B/New": .int(1)]), keys, counter: 2)
        await process.wait(process.count, 4)
        #expect(process.size.value == 70)
        #expect(process.size.erased.layers.map(\.origin.rollout) == [nil, "good"])
        try await etcd.roll(Rollout("bad", ["A/B/Size": .number(80), "A/B/Count": .int(400)]), keys, counter: 3)
        await process.log.wait(for: "rollout bad is refused here: A/B/Count")
        #expect(process.size.value == 70 && process.count.value == 4)
        etcd.delete(.key(keys.rollout("good")))
        await process.wait(process.size, 60)
        #expect(process.count.value == 1)
        #expect(process.size.erased.layers.map(\.origin.rollout) == [nil, nil])
    }

    @Test func `The status reports applied, refused and overridden values, and ends with the process`() async throws {
        try await set(["A/B/Size": .number(60), "A/B/Count": .int(400)], 1)
        let process = try start(labels: ["zone": "eu"])
        await process.wait(process.size, 60)
        try process.size.set(65)
        try await passUntilStatus { $0.covered == ["A/B/Size"] }
        let pair = try #require(etcd.all(keys.instances).first)
        let status = try FleetStatus(pair.value)
        #expect(status.refused.map(\.path) == ["A/B/Count"] && status.labels == ["zone": "eu"] && status.head == 1)
        #expect(pair.lease != 0 && pair.value.count <= FleetStatus.maxBytes)
        let build = try #require(etcd.value(keys.build(status.build)))
        #expect(try FleetBuild(build.value).definition(of: TweakPath("A/B/Size"))?.rangeText == "10...100")
        await process.stop()
        let farewell = try #require(etcd.all(keys.instances).first)
        let last = try FleetStatus(farewell.value)
        #expect(last.left == time.wall && last.labels == ["zone": "eu"] && last.build == status.build)
        #expect(last.refused.isEmpty && last.covered.isEmpty && farewell.createRevision == pair.createRevision)
        #expect(try InstanceStatuses(await etcd.range(EtcdRange(.prefix(keys.instances))), keys).live.isEmpty)
        etcd.advance(seconds: 599)
        #expect(etcd.all(keys.instances).count == 1)
        etcd.advance(seconds: 1)
        #expect(etcd.all(keys.instances).isEmpty)
    }

    @Test func `A status is deleted if a farewell is refused or has no reply`() async throws {
        for isSilent in [false, true] {
            let etcd = MemoryEtcd()
            let isEnding = Atomic(false)
            let farewell = Gate()
            let interposed = InterposedEtcd(
                etcd: etcd,
                beforeCommit: { [time] _ throws(EtcdError) in
                    guard isEnding.load(ordering: .acquiring) else { return }
                    farewell.open()
                    if isSilent { try? await time.sleep(until: time.now.advanced(by: .seconds(3_600))) }
                    throw .noSpace("mvcc: database space exceeded")
                })
            let process = try FollowingProcess(interposed, keys, time: time)
            process.start()
            try await pass { [keys] in !etcd.all(keys.instances).isEmpty }
            await process.kill()
            isEnding.store(true, ordering: .releasing)
            let stopping = Task { await process.follower.withdrawStatus() }
            await farewell.wait()
            if isSilent { time.advance(by: .seconds(1)) }
            await stopping.value
            #expect(etcd.all(keys.instances).isEmpty)
        }
    }

    @Test func `Malformed and unknown keys affect no others`() async throws {
        try await set(["A/B/Size": .number(60), "A/B/Count": .int(2)], 1)
        let process = try start()
        await process.wait(process.count, 2)
        etcd.put(keys.value(try TweakPath("A/B/Size")), utf8("garbage"))
        etcd.put(utf8("/tweaks/api/desired/other"), [0xFF, 0])
        try await set(["A/B/Count": .int(3)], 2)
        await process.wait(process.count, 3)
        #expect(process.size.value == 60)
        await process.log.wait(for: "/tweaks/api/desired/other: it is not a key of a fleet")
    }

    // MARK: Outages

    @Test func `The last good state is in effect during an outage, without open rollouts`() async throws {
        let directory = try TemporaryDirectory()
        try await set(["A/B/Size": .number(60)], 1)
        var standing = try Rollout("rule", ["A/B/Count": .int(5)])
        standing.state = .done
        try await etcd.roll(standing, keys, counter: 2)
        let first = try start(directory)
        await first.wait(first.count, 5)
        try await etcd.roll(Rollout("open", ["A/B/Size": .number(99)]), keys, counter: 3)
        await first.wait(first.size, 99)
        await first.stop()
        etcd.setFaults { $0.isUnreachable = true }
        let second = try start(directory)
        #expect(second.size.value == 60 && second.count.value == 5)
        await second.log.wait(for: "the last good values stay")
        etcd.setFaults { $0.isUnreachable = false }
        try await time.pass { await second.wait(second.size, 99) }
    }

    @Test func `In an outage a leased rollout ends with its lease, and an open one stays`() async throws {
        try await set(["A/B/Size": .number(60)], 1)
        try await etcd.roll(Rollout("open", ["A/B/Count": .int(3)]), keys, counter: 2)
        try await rollLeased(["A/B/Size": .number(99)], 3)
        let process = try start()
        await process.wait(process.size, 99)
        etcd.setFaults { $0.isUnreachable = true }
        await process.log.wait(for: "the last good values stay")
        time.advance(by: .seconds(599))
        #expect(process.size.value == 99)
        try await time.pass { await process.wait(process.size, 60) }
        #expect(process.count.value == 3)
        etcd.setFaults { $0.isUnreachable = false }
        try await time.pass { await process.wait(process.size, 99) }
    }

    @Test func `A leased rollout ends with its lease while a request has no reply`() async throws {
        try await set(["A/B/Size": .number(60)], 1)
        try await rollLeased(["A/B/Size": .number(99)], 2)
        let process = try start()
        await process.wait(process.size, 99)
        etcd.setFaults { $0.isStalled = true }
        try await pass { [etcd] in etcd.stalled > 0 }
        time.advance(by: .seconds(601))
        await process.wait(process.size, 60)
        etcd.setFaults { $0.isStalled = false }
    }

    // MARK: Replaced stores

    enum Change: CaseIterable { case emptied, restored, exchanged }

    @Test(arguments: Change.allCases)
    func `A store that has lost data changes nothing until it is adopted`(change: Change) async throws {
        try await set(["A/B/Size": .number(60)], 1)
        let snapshot = etcd.snapshot
        try await set(["A/B/Size": .number(70)], 2)
        let process = try start()
        await process.wait(process.size, 70)
        switch change {
        case .emptied: etcd.delete(.prefix(keys.desired))
        case .restored: etcd.restore(snapshot)
        case .exchanged: etcd.restore(etcd.snapshot, clusterID: 0xDEF)
        }
        try await time.pass { await process.log.wait(for: "tweakctl fleet api adopt") }
        #expect(process.size.value == 70)
        // A process may read only after the next write.
        try await etcd.set(["A/B/Size": .number(79)], keys, counter: 3, what: "adopt", adopted: 3)
        try await etcd.set(["A/B/Size": .number(80)], keys, counter: 4, adopted: 3)
        try await time.pass { await process.wait(process.size, 80) }
    }

    // MARK: Failing watches

    @Test func `A silent watch is reopened when the head is newer`() async throws {
        let process = try await startWithSize60()
        etcd.setFaults { $0.isSilent = true }
        try await set(["A/B/Size": .number(70)], 2)
        #expect(process.size.value == 60)
        // The heartbeat reads the head; two seconds later the watch is reopened, and the new one delivers.
        let watches = etcd.watchesMade
        try await pass { [etcd] in etcd.watchesMade != watches }
        etcd.setFaults { $0.isSilent = false }
        await process.wait(process.size, 70)
    }

    @Test func `After a compaction all keys are read again`() async throws {
        let process = try await startWithSize60()
        etcd.setFaults { $0.isUnreachable = true }
        await process.log.wait(for: "the last good values stay")
        etcd.setFaults { $0.isUnreachable = false }
        try await set(["A/B/Size": .number(70)], 2)
        try await set(["A/B/Count": .int(7)], 3)
        etcd.compact()
        try await time.pass { await process.wait(process.count, 7) }
        #expect(process.size.value == 70)
    }

    @Test func `A process that reads what it has writes nothing`() async throws {
        let directory = try TemporaryDirectory()
        try await set(["A/B/Size": .number(60)], 1)
        let process = try start(directory)
        await process.wait(process.size, 60)
        try await passUntilStatus { $0.head == 1 }
        // Others write, and what they wrote is compacted before the watch is reopened.
        for number in 0..<10 { etcd.put(utf8("/tweaks/api/instances/other/\(number)"), utf8("{}")) }
        etcd.compact()
        let before = etcd.all(keys.instances).map(\.modRevision).max()
        let made = etcd.watchesMade
        etcd.setFaults { $0.isUnreachable = true }
        await process.log.wait(for: "the last good values stay")
        etcd.setFaults { $0.isUnreachable = false }
        try await pass { [etcd] in etcd.watchesMade > made }
        try await time.pass(.seconds(60))
        #expect(etcd.all(keys.instances).map(\.modRevision).max() == before)
        await process.stop()
    }

    @Test func `Changes that are too large for a watch message are read`() async throws {
        let process = try await startWithSize60()
        etcd.setFaults { $0.isUnreachable = true }
        await process.log.wait(for: "the last good values stay")
        etcd.put(keys.value(try TweakPath("A/B/Size")), DesiredValue(value: .number(70), by: "ana", at: 0).bytes)
        etcd.setFaults { ($0.isUnreachable, $0.breakage) = (false, .tooLarge("more than 16777216 bytes")) }
        try await time.pass { await process.wait(process.size, 70) }
    }

    @Test func `A rejected watch is retried with backoff, and not logged as following`() async throws {
        etcd.setFaults { $0.refusal = .forbidden("etcdserver: permission denied") }
        let process = try await startWithSize60()
        let begin = time.now
        try await pass { [etcd] in etcd.watchesAsked >= 20 }
        #expect(time.now - begin > .seconds(60))
        #expect(!process.log.contains("follows the fleet"), "\(process.log.all)")
        etcd.setFaults { $0.refusal = nil }
        try await time.pass { await process.log.wait(for: "follows the fleet api") }
    }

    @Test func `A reply that the watch has overtaken does not look like a restored store`() async throws {
        let process = try await startWithSize60()
        await process.log.wait(for: "follows the fleet api")
        etcd.setFaults { $0.isStalled = true }
        try await pass { [etcd] in etcd.stalled > 0 }
        try await set(["A/B/Size": .number(70)], 2)
        await process.wait(process.size, 70)
        etcd.setFaults { $0.isStalled = false }
        try await time.pass(.seconds(60))
        #expect(!process.log.contains("restored"), "\(process.log.all)")
    }

    // MARK: Registrations and statuses

    @Test func `A refused value under a former path does not cause endless commits`() async throws {
        let process = try FollowingProcess(etcd, keys, time: time)
        _ = try process.registry.register("A", "B", "New", 5, in: 0...9, formerly: "A/B/Old")
        try await set(["A/B/Old": .int(500), "A/B/Size": .number(60)], 1)
        process.start()
        await process.wait(process.size, 60)
        await process.log.wait(for: "follows the fleet api")
        await process.follower.recompose()
        let revision = process.registry.revision
        for _ in 0..<3 { await process.follower.recompose() }
        #expect(process.registry.revision == revision)
    }

    @Test func `A status that cannot be written is logged once, and written when there is space`() async throws {
        try await set(["A/B/Size": .number(60)], 1)
        etcd.setFaults { $0.isFull = true }
        let process = try start()
        try await time.pass { await process.log.wait(for: "its status cannot be written") }
        try await time.pass(.seconds(60))
        #expect(process.log.all.count { $0.contains("its status cannot be written") } == 1)
        #expect(etcd.all(keys.instances).isEmpty && process.size.value == 60)
        etcd.setFaults { $0.isFull = false }
        try await pass { [etcd, keys] in !etcd.all(keys.instances).isEmpty }
        await process.stop()
    }

    @Test func `Declarations that a store has lost are written again with the status`() async throws {
        let process = try await startWithSize60()
        try await pass { [etcd, keys] in !etcd.all(keys.builds).isEmpty }
        etcd.delete(.prefix(keys.builds))
        etcd.advance(seconds: 61)
        try await pass { [etcd, keys] in !etcd.all(keys.builds).isEmpty }
        await process.stop()
    }

    @Test func `Declarations of an emptied store are written again, also under a lease that survives`() async throws {
        let process = try await startWithSize60()
        try await passUntilStatus { $0.head == 1 }
        let build = try #require(etcd.all(keys.builds).first)
        etcd.delete(.prefix(keys.all))
        try await pass { [etcd, keys] in etcd.value(build.key) != nil && !etcd.all(keys.instances).isEmpty }
        await process.stop()
    }

    @Test func `A late registration that refuses its value removes the other values of the rollout`() async throws {
        try await etcd.roll(Rollout("r", ["A/B/Size": .number(70), "A/B/Late": .int(500)]), keys, counter: 1)
        let process = try start()
        await process.wait(process.size, 70)
        _ = try process.registry.register("A", "B", "Late", 1, in: 0...9)
        await process.wait(process.size, 50)
    }

    @Test func `Members of a rollout with a condition report samples of its metric`() async throws {
        let process = try FollowingProcess(etcd, keys, time: time)
        _ = try process.registry.register("Service", "Errors", "Rate", 7.5, flags: .readOnly)
        var rollout = try Rollout("r", ["A/B/Size": .number(70)])
        rollout.abortIf = [try #require(MetricCondition(parsing: "Service/Errors/Rate > 5"))]
        try await etcd.roll(rollout, keys, counter: 1)
        process.start()
        await process.wait(process.size, 70)
        try await passUntilStatus { $0.metrics == ["Service/Errors/Rate": 7.5] && $0.sampledAt != nil }
        let sampled = try #require(try etcd.all(keys.instances).first.map { try FleetStatus($0.value) })
        // Another operator's write makes the process report the same sample again.
        try await etcd.set(["A/B/Count": .int(3)], keys, counter: 2)
        try await passUntilStatus { $0.head == 2 && $0.metrics == sampled.metrics && $0.sampledAt == sampled.sampledAt }
        try await passUntilStatus { $0.head == 2 && $0.sampledAt != sampled.sampledAt }
        await process.stop()
    }
}
