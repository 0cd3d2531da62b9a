// Members of a cluster that die, stop, sleep and come back, below processes that follow and a driver that drives.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered, .serialized, .tags(.process)) struct ClusterWeatherTests {
    @Test func `A rollout goes on to its end when the leader is killed in the middle of it`() async throws {
        let weather = try await Weather.start(members: 3)
        let processes = try (0..<6).map { try weather.process("i\($0)", first: $0 % 3) }
        await weather.wait { $0.count == 6 }
        var plan = try weather.plan("A/B/Size", .number(70), steps: [50, 100])
        plan.every = 1
        let claim = try await weather.begin(plan)
        let driving = Task { await weather.drive(claim) }
        let members = processes.filter { FleetHash.isBelow(.half, instance: $0.identity.instance.id, rollout: "r1") }
        for member in members { await member.wait(member.size, 70) }
        let leader = try #require(try await weather.server.leader())
        weather.server.kill(leader)
        for process in processes { await process.wait(process.size, 70) }
        guard case .ended(.finished)? = await driving.value.last else {
            Issue.record("\(await driving.value)")
            return
        }
        // What the rollout did is everybody's value now, and the dead member learns of it.
        try await weather.server.restart(leader)
        let view = try await FleetOperator(
            weather.client(of: leader, only: true), weather.keys, by: "bob", now: { 0 }
        ).look()
        #expect(try view.rollouts.isEmpty && view.value(TweakPath("A/B/Size")) == .number(70))
        for process in processes { await process.stop() }
    }

    @Test func `When all members are away values stay, and when they are back processes follow`() async throws {
        let weather = try await Weather.start(members: 3)
        try await weather.set("A/B/Size", .number(60))
        let process = try weather.process()
        await process.wait(process.size, 60)
        await process.log.wait(for: "follows the fleet api")
        for index in 0..<3 { weather.server.kill(index) }
        await process.log.wait(for: "the last good values stay")
        #expect(process.size.value == 60)
        async let first: Void = weather.server.restart(0)
        async let second: Void = weather.server.restart(1)
        _ = try await (first, second)
        try await weather.set("A/B/Size", .number(61))
        await process.wait(process.size, 61)
        await process.log.wait(for: "follows the fleet api again")
        await process.stop()
    }

    @Test func `A member that is stopped, and says nothing, does not hold its followers`() async throws {
        let weather = try await Weather.start(members: 3)
        let leader = try #require(try await weather.server.leader())
        let follower = (leader + 1) % 3
        let processes = [try weather.process("i1", first: leader), try weather.process("i2", first: follower)]
        await weather.wait { $0.count == 2 }
        weather.server.stop(follower)
        try await weather.set("A/B/Size", .number(62))
        for process in processes { await process.wait(process.size, 62) }
        weather.server.resume(follower)
        weather.server.stop(leader)
        try await weather.set("A/B/Size", .number(63))
        for process in processes { await process.wait(process.size, 63) }
        weather.server.resume(leader)
        for process in processes { await process.stop() }
    }

    @Test func `What was compacted while a follower's member slept is read anew`() async throws {
        let weather = try await Weather.start(members: 3)
        try await weather.set("A/B/Size", .number(60))
        let process = try weather.process(first: 0, only: true)
        await process.wait(process.size, 60)
        weather.server.kill(0)
        for size in 61...64 { try await weather.set("A/B/Size", .number(Double(size))) }
        try await weather.set("A/B/Count", .int(7))
        let revision = try await weather.fleet().look().header.revision
        try await weather.server.post(
            "kv/compaction", "{\"revision\":\"\(revision)\",\"physical\":true}", member: 1)
        try await weather.server.restart(0)
        await process.wait(process.count, 7)
        #expect(process.size.value == 64)
        // From there on it watches again.
        try await weather.set("A/B/Size", .number(65))
        await process.wait(process.size, 65)
        await process.stop()
    }

    @Test func `A status lives on over an election, or is written again`() async throws {
        let weather = try await Weather.start(members: 3)
        let process = try weather.process()
        await weather.wait { $0.count == 1 }
        for size in 61...62 {
            let leader = try #require(try await weather.server.leader())
            weather.server.kill(leader)
            try await weather.set("A/B/Size", .number(Double(size)))
            let revision = try await weather.insist { () throws(FleetRefusal) in
                try await weather.fleet().look().head?.modRevision ?? 0
            }
            await weather.wait { $0.count == 1 && $0[0].status.revision >= revision }
            try await weather.server.restart(leader)
        }
        // One key, under a lease that goes with the process.
        let pairs = try await weather.etcd.range(EtcdRange(.prefix(weather.keys.instances))).keys
        #expect(pairs.count == 1 && pairs[0].lease != 0)
        await process.stop()
        #expect(try await weather.etcd.range(EtcdRange(.prefix(weather.keys.instances))).keys.isEmpty)
    }

    @Test func `A member that lags behind what was applied is no restored store`() async throws {
        let weather = try await Weather.start(members: 3)
        let leader = try #require(try await weather.server.leader())
        let late = (leader + 1) % 3
        let process = try weather.process(first: leader)
        await weather.wait { $0.count == 1 }
        // It sleeps while others write, and is asked as soon as it wakes up.
        weather.server.stop(late)
        for size in 61...80 { try await weather.set("A/B/Size", .number(Double(size))) }
        await process.wait(process.size, 80)
        let second = try weather.process("i2", first: late)
        weather.server.resume(late)
        await second.wait(second.size, 80)
        #expect(!second.log.lines.contains { $0.contains("restored") }, "\(second.log.lines)")
        for process in [process, second] { await process.stop() }
    }
}

extension Share {
    fileprivate static let half = Share(percent: "50") ?? .all
}
