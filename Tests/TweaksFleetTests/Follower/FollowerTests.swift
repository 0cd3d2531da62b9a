// Checks a follower against an etcd in memory: what it applies, keeps, reports, and when it trusts what it is told.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.prompt) struct FollowerTests {
    private let etcd = MemoryEtcd()
    private let time = ManualFleetTime()
    private let keys = FleetKeys(name: "api")

    private func process(
        _ directory: TemporaryDirectory? = nil, id: String = "i1", labels: Labels = [:]
    ) throws
        -> FollowingProcess
    {
        let process = try FollowingProcess(etcd, keys, id: id, labels: labels, directory: directory?.path, time: time)
        process.start()
        return process
    }

    @Test func `It applies what there is as one commit, and each revision after it as one more`() async throws {
        try await etcd.set(["A/B/Size": .number(60), "A/B/Count": .int(2)], keys, counter: 1)
        let process = try process()
        await process.wait(process.count, 2)
        #expect(process.size.value == 60 && process.registry.revision == 1)
        try await etcd.set(["A/B/Size": .number(70), "A/B/Count": .int(3)], keys, counter: 2)
        await process.wait(process.count, 3)
        #expect(process.size.value == 70 && process.registry.revision == 2)
        let origin = try #require(process.size.erased.layers.last?.origin.description)
        #expect(origin == "fleet: ana, etcd revision 3")
        await process.stop()
    }

    @Test func `A rollout is all or nothing, and goes when it is deleted`() async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        let process = try process()
        await process.wait(process.size, 60)
        try await etcd.roll(
            Rollout("good", ["A/B/Size": .number(70), "A/B/Count": .int(4), "A/B/New": .int(1)]), keys, counter: 2)
        await process.wait(process.count, 4)
        #expect(process.size.value == 70)
        try await etcd.roll(Rollout("bad", ["A/B/Size": .number(80), "A/B/Count": .int(400)]), keys, counter: 3)
        await process.log.wait(for: "rollout bad is refused here: A/B/Count")
        #expect(process.size.value == 70 && process.count.value == 4)
        etcd.delete(.key(keys.rollout("good")))
        await process.wait(process.size, 60)
        #expect(process.count.value == 1)
        await process.stop()
    }

    @Test func `A status says what was applied, refused and covered, and goes with the process`() async throws {
        try await etcd.set(["A/B/Size": .number(60), "A/B/Count": .int(400)], keys, counter: 1)
        let process = try process(labels: ["zone": "eu"])
        await process.wait(process.size, 60)
        try process.size.set(65)
        try await time.pass { [etcd, keys] in
            try await etcd.wait(keys.instances) { (try? FleetStatus($0.pair.value))?.covered == ["A/B/Size"] }
        }
        let pair = try #require(etcd.all(keys.instances).first)
        let status = try FleetStatus(pair.value)
        #expect(status.refused.map(\.path) == ["A/B/Count"] && status.labels == ["zone": "eu"] && status.head == 1)
        #expect(pair.lease != 0 && pair.value.count <= FleetStatus.maxBytes)
        let build = try #require(etcd.value(keys.build(status.build)))
        #expect(try FleetBuild(build.value).definition(of: TweakPath("A/B/Size"))?.rangeText == "10...100")
        await process.stop()
        #expect(etcd.all(keys.instances).isEmpty)
    }

    @Test func `Garbage and foreign keys harm themselves alone`() async throws {
        try await etcd.set(["A/B/Size": .number(60), "A/B/Count": .int(2)], keys, counter: 1)
        let process = try process()
        await process.wait(process.count, 2)
        etcd.put(keys.value(try TweakPath("A/B/Size")), Array("garbage".utf8))
        etcd.put(Array("/tweaks/api/desired/other".utf8), [0xFF, 0])
        try await etcd.set(["A/B/Count": .int(3)], keys, counter: 2)
        await process.wait(process.count, 3)
        #expect(process.size.value == 60)
        await process.log.wait(for: "/tweaks/api/desired/other: it is not a key of a fleet")
        await process.stop()
    }

    // MARK: Away

    @Test func `The last good state is in effect while etcd is away, without open rollouts`() async throws {
        let directory = try TemporaryDirectory()
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        var standing = try Rollout("rule", ["A/B/Count": .int(5)])
        standing.state = .done
        try await etcd.roll(standing, keys, counter: 2)
        let first = try process(directory)
        await first.wait(first.count, 5)
        try await etcd.roll(Rollout("open", ["A/B/Size": .number(99)]), keys, counter: 3)
        await first.wait(first.size, 99)
        await first.stop()
        etcd.weather { $0.isUnreachable = true }
        let second = try process(directory)
        #expect(second.size.value == 60 && second.count.value == 5)
        await second.log.wait(for: "the last good values stay")
        etcd.weather { $0.isUnreachable = false }
        try await time.pass { await second.wait(second.size, 99) }
        await second.stop()
    }

    @Test func `Without contact a leased rollout is left after its time, and an open one is not`() async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        try await etcd.roll(Rollout("open", ["A/B/Count": .int(3)]), keys, counter: 2)
        var timed = try Rollout("timed", ["A/B/Size": .number(99)])
        timed.lifetime = 600
        let lease = try await etcd.grantLease(seconds: 600)
        try await etcd.roll(timed, keys, counter: 3, lease: lease.id)
        let process = try process()
        await process.wait(process.size, 99)
        etcd.weather { $0.isUnreachable = true }
        await process.log.wait(for: "the last good values stay")
        time.advance(by: .seconds(599))
        #expect(process.size.value == 99)
        try await time.pass { await process.wait(process.size, 60) }
        #expect(process.count.value == 3)
        etcd.weather { $0.isUnreachable = false }
        try await time.pass { await process.wait(process.size, 99) }
        await process.stop()
    }

    // MARK: Stores that are not what they were

    enum Change: CaseIterable { case emptied, restored, exchanged }

    @Test(arguments: Change.allCases) func `A store that is not what it was changes nothing until it is adopted`(
        change: Change
    ) async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        let snapshot = etcd.snapshot
        try await etcd.set(["A/B/Size": .number(70)], keys, counter: 2)
        let process = try process()
        await process.wait(process.size, 70)
        switch change {
        case .emptied: etcd.delete(.prefix(keys.desired))
        case .restored: etcd.restore(snapshot)
        case .exchanged: etcd.restore(etcd.snapshot, clusterID: 0xDEF)
        }
        try await time.pass { await process.log.wait(for: "tweakctl fleet api adopt") }
        #expect(process.size.value == 70)
        // A process may look only after the next write.
        try await etcd.set(["A/B/Size": .number(79)], keys, counter: 3, what: "adopt", adopted: 3)
        try await etcd.set(["A/B/Size": .number(80)], keys, counter: 4, adopted: 3)
        try await time.pass { await process.wait(process.size, 80) }
        await process.stop()
    }

    // MARK: Watches that say nothing

    @Test func `A watch that says nothing is opened anew when the head is newer`() async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        let process = try process()
        await process.wait(process.size, 60)
        etcd.weather { $0.isSilent = true }
        try await etcd.set(["A/B/Size": .number(70)], keys, counter: 2)
        #expect(process.size.value == 60)
        // The heartbeat sees the head; two seconds later the watch is opened anew. This one speaks.
        let watches = etcd.watchesMade
        try await time.pass { [etcd] in while etcd.watchesMade == watches { await Task.yield() } }
        etcd.weather { $0.isSilent = false }
        await process.wait(process.size, 70)
        await process.stop()
    }

    @Test func `After a compaction everything is read anew`() async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        let process = try process()
        await process.wait(process.size, 60)
        etcd.weather { $0.isUnreachable = true }
        await process.log.wait(for: "the last good values stay")
        etcd.weather { $0.isUnreachable = false }
        try await etcd.set(["A/B/Size": .number(70)], keys, counter: 2)
        try await etcd.set(["A/B/Count": .int(7)], keys, counter: 3)
        etcd.compact()
        try await time.pass { await process.wait(process.count, 7) }
        #expect(process.size.value == 70)
        await process.stop()
    }

    @Test func `What is too much for one message of a watch is read anew`() async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        let process = try process()
        await process.wait(process.size, 60)
        etcd.weather { $0.isUnreachable = true }
        await process.log.wait(for: "the last good values stay")
        etcd.put(keys.value(try TweakPath("A/B/Size")), DesiredValue(value: .number(70), by: "ana", at: 0).bytes)
        etcd.weather { ($0.isUnreachable, $0.breakage) = (false, .tooLarge("more than 16777216 bytes")) }
        try await time.pass { await process.wait(process.size, 70) }
        await process.stop()
    }

    @Test func `Where no watch stands it is asked for ever more rarely, and nothing is said to be followed`()
        async throws
    {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        etcd.weather { $0.refusal = .forbidden("etcdserver: permission denied") }
        let process = try process()
        await process.wait(process.size, 60)
        let end = time.now.advanced(by: .seconds(300))
        try await time.pass { [time] in while time.now < end { await Task.yield() } }
        #expect((10...60).contains(etcd.watchesAsked), "\(etcd.watchesAsked)")
        #expect(!process.log.lines.contains { $0.contains("follows the fleet") }, "\(process.log.lines)")
        etcd.weather { $0.refusal = nil }
        try await time.pass { await process.log.wait(for: "follows the fleet api") }
        await process.stop()
    }

    @Test func `An answer that the watch has overtaken is not taken for a restored store`() async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        let process = try process()
        await process.wait(process.size, 60)
        await process.log.wait(for: "follows the fleet api")
        etcd.weather { $0.isStalled = true }
        try await time.pass { [etcd] in while etcd.stalled == 0 { await Task.yield() } }
        try await etcd.set(["A/B/Size": .number(70)], keys, counter: 2)
        await process.wait(process.size, 70)
        etcd.weather { $0.isStalled = false }
        let end = time.now.advanced(by: .seconds(60))
        try await time.pass { [time] in while time.now < end { await Task.yield() } }
        #expect(!process.log.lines.contains { $0.contains("restored") }, "\(process.log.lines)")
        await process.stop()
    }

    @Test func `A leased rollout is left in time though a request is not answered`() async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        var timed = try Rollout("timed", ["A/B/Size": .number(99)])
        timed.lifetime = 600
        try await etcd.roll(timed, keys, counter: 2, lease: try await etcd.grantLease(seconds: 600).id)
        let process = try process()
        await process.wait(process.size, 99)
        etcd.weather { $0.isStalled = true }
        try await time.pass { [etcd] in while etcd.stalled == 0 { await Task.yield() } }
        time.advance(by: .seconds(601))
        await process.wait(process.size, 60)
        etcd.weather { $0.isStalled = false }
        await process.stop()
    }

    @Test func `A value that is refused under a former path comes to rest`() async throws {
        let process = try FollowingProcess(etcd, keys, time: time)
        _ = try process.registry.register("A", "B", "New", 5, in: 0...9, formerly: "A/B/Old")
        try await etcd.set(["A/B/Old": .int(500), "A/B/Size": .number(60)], keys, counter: 1)
        process.start()
        await process.wait(process.size, 60)
        await process.log.wait(for: "follows the fleet api")
        await process.follower.recompose()
        let revision = process.registry.revision
        for _ in 0..<3 { await process.follower.recompose() }
        #expect(process.registry.revision == revision)
        await process.stop()
    }

    @Test func `A status that cannot be written is logged once, and written when there is room`() async throws {
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        etcd.weather { $0.isFull = true }
        let process = try process()
        try await time.pass { await process.log.wait(for: "its status cannot be written") }
        let end = time.now.advanced(by: .seconds(60))
        try await time.pass { [time] in while time.now < end { await Task.yield() } }
        #expect(process.log.lines.count { $0.contains("its status cannot be written") } == 1)
        #expect(etcd.all(keys.instances).isEmpty && process.size.value == 60)
        etcd.weather { $0.isFull = false }
        try await time.pass { [etcd, keys] in while etcd.all(keys.instances).isEmpty { await Task.yield() } }
        await process.stop()
    }

    @Test func `Declarations that a store has lost are written again with the status`() async throws {
        let process = try process()
        try await etcd.set(["A/B/Size": .number(60)], keys, counter: 1)
        await process.wait(process.size, 60)
        try await time.pass { [etcd, keys] in while etcd.all(keys.builds).isEmpty { await Task.yield() } }
        etcd.delete(.prefix(keys.builds))
        etcd.advance(seconds: 61)
        try await time.pass { [etcd, keys] in while etcd.all(keys.builds).isEmpty { await Task.yield() } }
        await process.stop()
    }

    @Test func `A tweak that registers late and does not fit takes its rollout's other values back`() async throws {
        try await etcd.roll(Rollout("r", ["A/B/Size": .number(70), "A/B/Late": .int(500)]), keys, counter: 1)
        let process = try process()
        await process.wait(process.size, 70)
        _ = try process.registry.register("A", "B", "Late", 1, in: 0...9)
        await process.wait(process.size, 50)
        await process.stop()
    }

    @Test func `Members of a rollout with a condition sample its figure`() async throws {
        let process = try FollowingProcess(etcd, keys, time: time)
        let rate = try process.registry.register("Service", "Errors", "Rate", 7.5, flags: .readOnly)
        _ = rate
        var rollout = try Rollout("r", ["A/B/Size": .number(70)])
        rollout.abortIf = [try #require(FigureCondition(parsing: "Service/Errors/Rate > 5"))]
        try await etcd.roll(rollout, keys, counter: 1)
        process.start()
        await process.wait(process.size, 70)
        try await time.pass { [etcd, keys] in
            try await etcd.wait(keys.instances) {
                (try? FleetStatus($0.pair.value))?.figures == ["Service/Errors/Rate": 7.5]
            }
        }
        await process.stop()
    }
}
