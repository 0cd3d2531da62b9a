// Tests followers and drivers while members of their cluster are killed, frozen and restarted.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered, .tags(.process)) struct ClusterFaultTests {
    @Test func `A rollout finishes although the leader is killed during it`() async throws {
        let cluster = try await ClusterFixture.start(members: 3)
        let processes = try (0..<6).map { try cluster.process("i\($0)", first: $0 % 3) }
        await cluster.wait { $0.count == 6 }
        let claim = try await cluster.begin(cluster.plan("A/B/Size", .number(70), steps: [50, 100]))
        let driving = Task { await cluster.drive(claim) }
        let members = processes.filter { FleetHash.isBelow(.half, instance: $0.identity.instance.id, rollout: "r1") }
        await members.wait(size: 70)
        let leader = try await cluster.server.leader()
        cluster.server.kill(leader)
        await processes.wait(size: 70)
        let events = await driving.value
        try #require(events.last?.finishReceipt != nil, "\(events)")
        // The rollout's value is permanent, and the restarted member receives it.
        try await cluster.server.restart(leader)
        let view = try await FleetOperator(
            cluster.client(of: leader, only: true), cluster.keys, by: "bob", now: { 0 }
        ).readState()
        #expect(try view.rollouts.isEmpty && view.value(TweakPath("A/B/Size")) == .number(70))
        await processes.stop()
    }

    @Test func `Without any member the values stay, and after a restart processes follow again`() async throws {
        let cluster = try await ClusterFixture.start(members: 3)
        try await cluster.set("A/B/Size", .number(60))
        let process = try cluster.process()
        await process.wait(process.size, 60)
        await process.log.wait(for: "follows the fleet api")
        for index in 0..<3 { cluster.server.kill(index) }
        await process.log.wait(for: "the last good values stay")
        #expect(process.size.value == 60)
        async let first: Void = cluster.server.restart(0)
        async let second: Void = cluster.server.restart(1)
        _ = try await (first, second)
        try await cluster.set("A/B/Size", .number(61))
        await process.wait(process.size, 61)
        await process.log.wait(for: "follows the fleet api again")
        await process.stop()
    }

    @Test func `A frozen member does not hold up its followers`() async throws {
        let cluster = try await ClusterFixture.start(members: 3)
        let leader = try await cluster.server.leader()
        let follower = (leader + 1) % 3
        let processes = [try cluster.process("i1", first: leader), try cluster.process("i2", first: follower)]
        await cluster.wait { $0.count == 2 }
        cluster.server.stop(follower)
        try await cluster.set("A/B/Size", .number(62))
        await processes.wait(size: 62)
        cluster.server.resume(follower)
        cluster.server.stop(leader)
        try await cluster.set("A/B/Size", .number(63))
        await processes.wait(size: 63)
        cluster.server.resume(leader)
        await processes.stop()
    }

    @Test func `A follower reads again after a compaction during the outage of its member`() async throws {
        let cluster = try await ClusterFixture.start(members: 3)
        try await cluster.set("A/B/Size", .number(60))
        let process = try cluster.process(first: 0, only: true)
        await process.wait(process.size, 60)
        cluster.server.kill(0)
        for size in 61...64 { try await cluster.set("A/B/Size", .number(Double(size))) }
        try await cluster.set("A/B/Count", .int(7))
        let revision = try await cluster.fleet().readState().header.revision
        try await cluster.server.post("kv/compaction", "{\"revision\":\"\(revision)\",\"physical\":true}", member: 1)
        try await cluster.server.restart(0)
        await process.wait(process.count, 7)
        #expect(process.size.value == 64)
        // After that it watches again.
        try await cluster.set("A/B/Size", .number(65))
        await process.wait(process.size, 65)
        await process.stop()
    }

    @Test func `A status survives an election, or is written again`() async throws {
        let cluster = try await ClusterFixture.start(members: 3)
        let process = try cluster.process()
        await cluster.wait { $0.count == 1 }
        for size in 61...62 {
            let leader = try await cluster.server.leader()
            cluster.server.kill(leader)
            try await cluster.set("A/B/Size", .number(Double(size)))
            let revision = try await cluster.headRevision()
            await cluster.wait { $0.count == 1 && $0[0].status.revision >= revision }
            try await cluster.server.restart(leader)
        }
        let pairs = try await cluster.statusKeys()
        #expect(pairs.count == 1 && pairs[0].lease != 0)
        await process.stop()
        #expect(try await cluster.fleet().instanceStatuses().live.isEmpty)
    }

    @Test func `A member that lags behind does not look like a restored store`() async throws {
        let cluster = try await ClusterFixture.start(members: 3)
        let leader = try await cluster.server.leader()
        let late = (leader + 1) % 3
        let process = try cluster.process(first: leader)
        await cluster.wait { $0.count == 1 }
        // It is frozen while others write, and asked as soon as it is resumed.
        cluster.server.stop(late)
        for size in 61...80 { try await cluster.set("A/B/Size", .number(Double(size))) }
        await process.wait(process.size, 80)
        let second = try cluster.process("i2", first: late)
        cluster.server.resume(late)
        await second.wait(second.size, 80)
        #expect(!second.log.contains("restored"), "\(second.log.all)")
        await [process, second].stop()
    }
}

extension Share {
    fileprivate static let half = Share(percent: "50") ?? .all
}
