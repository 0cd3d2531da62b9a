// Tests followers of stores that are emptied, restored, full, or contain unknown keys.

import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered, .tags(.process)) struct StoreFaultTests {
    enum Loss: CaseIterable { case wiped, restored, deleted }

    @Test(arguments: Loss.allCases)
    func `A store that has lost data changes nothing until it is adopted`(loss: Loss) async throws {
        let cluster = try await ClusterFixture.start()
        try await cluster.set("A/B/Size", .number(60))
        if loss == .restored { try await cluster.server.saveData() }
        try await cluster.set("A/B/Size", .number(70))
        let directory = try TemporaryDirectory()
        let process = try cluster.process(directory: directory)
        await process.wait(process.size, 70)
        switch loss {
        case .wiped: try await cluster.server.wipe()
        case .restored: try await cluster.server.restoreData()
        case .deleted: try await cluster.delete(.prefix(cluster.keys.desired))
        }
        await process.log.wait(for: "tweakctl fleet api adopt")
        await cluster.wait { $0.first?.status.trouble != nil }
        // A write by an operator who has not noticed is refused, and what is put by hand is not applied.
        let refusal = await #expect(throws: FleetRefusal.self) { try await cluster.set("A/B/Count", .int(5)) }
        #expect(refusal?.description.contains("1 process holds writes that this etcd does not have") == true)
        try await cluster.put(
            cluster.keys.value(try TweakPath("A/B/Count")), DesiredValue(value: .int(5), by: "ana", at: 0).bytes)
        // A restarted process reports the same.
        await process.stop()
        let second = try cluster.process(directory: directory)
        await second.log.wait(for: "tweakctl fleet api adopt")
        await cluster.wait { $0.first?.status.trouble != nil }
        #expect(second.size.value == 70 && second.count.value == 1)
        _ = try await cluster.fleet().adopt()
        await second.wait(second.count, 5)
        #expect(second.size.value == (loss == .restored ? 60 : 50))
        await cluster.wait { $0.first.map { $0.status.trouble == nil } ?? false }
        await second.stop()
    }

    @Test func `A store that was restored unseen, and has caught up, is not followed until it is adopted`() async throws
    {
        let cluster = try await ClusterFixture.start()
        try await cluster.set("A/B/Size", .number(60))
        try await cluster.server.saveData()
        for value in [61, 62] as [Double] { try await cluster.set("A/B/Size", .number(value)) }
        let partition = Partition()
        let process = try FollowingProcess(
            InterposedEtcd.behind(partition, try cluster.client(of: 0)), cluster.keys, time: SystemTime(),
            timings: ClusterFixture.timings)
        process.start()
        await process.wait(process.size, 62)
        let applied = try await cluster.headRevision()
        await cluster.wait { $0.first?.status.head == 3 }
        // The process is stopped while the store is restored, and written to until its revision is higher than before.
        partition.isCut = true
        try await cluster.server.restoreData()
        await process.log.wait(for: "the last good values stay")
        var value = 70.0
        while try await cluster.headRevision() <= applied {
            try await cluster.set("A/B/Size", .number(value))
            value += 1
        }
        partition.isCut = false
        await process.log.wait(for: "other past: ")
        await cluster.wait { $0.first?.status.isApart == true }
        #expect(process.size.value == 62)
        let refusal = await #expect(throws: FleetRefusal.self) { try await cluster.set("A/B/Size", .number(99)) }
        #expect(refusal?.description.contains("adopt makes it the one to follow") == true)
        _ = try await cluster.fleet().adopt()
        await process.wait(process.size, value - 1)
        await process.stop()
    }

    @Test func `A full store can be followed, and a rollout aborted; writes work again with space`() async throws {
        let cluster = try await ClusterFixture.start(flags: ["--quota-backend-bytes=1048576"])
        try await cluster.set("A/B/Size", .number(60))
        let process = try cluster.process()
        await process.wait(process.size, 60)
        _ = try await cluster.fleet().begin(cluster.plan("A/B/Size", .number(80)))
        await process.wait(process.size, 80)
        await cluster.wait { $0.count == 1 }
        let junk = [UInt8](repeating: 0x41, count: 100_000)
        let full = await etcdFailure {
            for number in 0..<100 { try await cluster.put(Array("/junk/\(number)".utf8), junk) }
        }
        #expect(full?.kind == "noSpace")
        let refusal = await #expect(throws: FleetRefusal.self) {
            _ = try await cluster.fleet().set([FleetAssignment(try TweakPath("A/B/Count"), .int(2))])
        }
        #expect(refusal?.etcd?.kind == "noSpace", "\(String(describing: refusal))")
        #expect(refusal?.description.contains("abort works meanwhile") == true)
        let receipt = try await cluster.fleet().abort("r1")
        #expect(receipt.sequence == nil && receipt.notes.count == 1)
        #expect(receipt.notes.contains { $0.contains("not in the log") })
        #expect(try await cluster.fleet().readState().rollouts.isEmpty)
        await process.wait(process.size, 60)
        #expect(try await cluster.statusKeys().count == 1, "the follower keeps its lease")
        try await makeRoom(cluster, receipt.header.revision)
        try await cluster.set("A/B/Count", .int(3))
        await process.wait(process.count, 3)
        let revision = try await cluster.headRevision()
        await cluster.wait { $0.first.map { $0.status.revision >= revision } ?? false }
        await process.stop()
    }

    private func makeRoom(_ cluster: ClusterFixture, _ revision: Int64) async throws {
        try await cluster.delete(.prefix(Array("/junk/".utf8)))
        let now = try await cluster.fleet().readState().header.revision
        try await cluster.server.post("kv/compaction", "{\"revision\":\"\(now)\",\"physical\":true}")
        try await cluster.server.post("maintenance/defragment", "{}")
        // For each member, as `etcdctl alarm disarm` does.
        let list = try await cluster.server.post("maintenance/alarm", "{\"action\":\"GET\"}").body
        for alarm in list["alarms"]?.elements ?? [] {
            let member = alarm["memberID"]?.string ?? "0"
            try await cluster.server.post(
                "maintenance/alarm",
                "{\"action\":\"DEACTIVATE\",\"memberID\":\"\(member)\",\"alarm\":\"NOSPACE\"}")
        }
    }

    @Test func `Malformed, unknown and huge keys affect no others`() async throws {
        let cluster = try await ClusterFixture.start()
        try await cluster.set("A/B/Size", .number(60))
        let process = try cluster.process()
        await process.wait(process.size, 60)
        let keys = cluster.keys
        let huge = [UInt8](repeating: 0x20, count: 1_400_000)
        let longName = String(repeating: "n", count: 30_000)
        try await cluster.put(keys.value(try TweakPath("A/B/Size")), Array("{\"kind\":".utf8))
        try await cluster.put(keys.desired + [0xFF, 0x00, 0x0A], [0xFF, 0x00])
        try await cluster.put(keys.desired + Array("other/program".utf8), huge)
        try await cluster.put(keys.values + Array("X/Y/Huge".utf8), huge)
        try await cluster.put(keys.values + Array(longName.utf8), [])
        try await cluster.put(keys.rollouts + Array("bad".utf8), huge)
        try await cluster.put(keys.instances + Array("i9/not-a-time".utf8), huge)
        try await cluster.put(keys.builds + Array("beef".utf8), huge)
        try await cluster.put(keys.log + Array("garbage".utf8), [0x00])
        try await cluster.set("A/B/Count", .int(2))
        await process.wait(process.count, 2)
        #expect(process.size.value == 60)
        // A process that starts now reads all of them.
        let second = try cluster.process("i2")
        await second.wait(second.count, 2)
        await process.log.wait(for: "/tweaks/api/desired/other/program: it is not a key of a fleet")
        await process.log.wait(for: "/tweaks/api/desired/values/A/B/Size: ")
        #expect(try await cluster.fleet().instanceStatuses().unreadable.count == 1)
        _ = try await cluster.fleet().abort("bad")
        await [process, second].stop()
    }

    @Test(.tags(.quantity), .enabled(if: isQuantityFull, "TWEAKS_TEST_QUANTITY=full writes ten thousand keys"))
    func `A store with more than 10,000 keys is not followed until it has fewer`() async throws {
        let cluster = try await ClusterFixture.start()
        try await cluster.set("A/B/Size", .number(60))
        let process = try cluster.process()
        await process.wait(process.size, 60)
        let value = DesiredValue(value: .int(1), by: "script", at: 0).bytes
        for batch in 0..<101 {
            let prefix = String(decoding: cluster.keys.values, as: UTF8.self)
            _ = try await cluster.etcd.commit(.put((0..<100).map { "\(prefix)Many/B\(batch)/V\($0)" }, value))
        }
        await process.log.wait(for: "more than 10000 keys")
        try await cluster.set("A/B/Size", .number(61))
        await cluster.wait { $0.first?.status.trouble != nil }
        #expect(process.size.value == 60)
        for batch in ["B7", "B8"] { try await cluster.delete(.prefix(cluster.keys.values + utf8("Many/\(batch)"))) }
        await process.wait(process.size, 61)
        await process.stop()
    }
}
