// Tests rollouts with concurrent operators and drivers, and with processes that refuse the values or crash.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered, .tags(.process)) struct RolloutFaultTests {
    @Test func `Concurrent writes of operators are not lost`() async throws {
        let cluster = try await ClusterFixture.start()
        try await withThrowingTaskGroup { group in
            for (number, who) in ["alice", "bob"].enumerated() {
                group.addTask {
                    for round in 0..<10 { try await cluster.set("A/B\(number)/V\(round)", .int(Int64(round)), by: who) }
                }
            }
            try await group.waitForAll()
        }
        let view = try await cluster.fleet().readState()
        #expect(view.values.count == 20 && view.head?.value.counter == 20)
        let entries = try await cluster.fleet().history().entries
        #expect(entries.map(\.sequence) == Array(1...20) && entries.count { $0.by == "bob" } == 10)
    }

    @Test func `Of concurrent drivers one gets the rollout, and another one after it`()
        async throws
    {
        let cluster = try await ClusterFixture.start()
        let process = try cluster.process()
        await cluster.wait { $0.count == 1 }
        _ = try await cluster.fleet().begin(cluster.plan("A/B/Size", .number(70)))
        let claims = await withTaskGroup(of: DriverClaim?.self, returning: [DriverClaim].self) { group in
            for name in ["alice", "bob", "carol", "dave"] {
                group.addTask {
                    try? await cluster.fleet(by: name).claim(
                        "r1", host: name, pid: 1, seconds: ClusterFixture.patience)
                }
            }
            return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        #expect(claims.count == 1)
        // After the end of its lease the first driver may no longer write, and another one may.
        let first = try #require(claims.first)
        await cluster.fleet().release(first)
        let second = try await cluster.fleet(by: "erin").claim(
            "r1", host: "there", pid: 2, seconds: ClusterFixture.patience)
        await #expect(throws: FleetRefusal.self) { _ = try await cluster.fleet().fenced(by: first.fence).finish("r1") }
        #expect(await cluster.drive(second).last?.finishReceipt != nil)
        await process.stop()
    }

    @Test func `A build that refuses a value aborts the rollout, and one that lacks the path does not`() async throws {
        let cluster = try await ClusterFixture.start()
        let processes = [try cluster.process("i1"), try cluster.process("i2")]
        _ = try processes[1].registry.register("A", "B", "New", 5, in: 0...9)
        await cluster.wait { $0.count == 2 }
        let lacking = try await cluster.begin(cluster.plan("A/B/New", .int(7), id: "new"))
        try #require(await cluster.drive(lacking).last?.finishReceipt != nil)
        var plan = try cluster.plan("A/B/New", .int(70), id: "bad")
        plan.assignments.append(FleetAssignment(try TweakPath("A/B/Size"), .number(70)))
        let claim = try await cluster.begin(plan)
        #expect(await cluster.drive(claim).last?.abortReason?.hasPrefix("i2 refuses it: A/B/New: ") == true)
        await processes[0].wait(processes[0].size, 50)
        #expect(processes[1].registry[try TweakPath("A/B/New")]?.value == .int(7))
        await processes.stop()
    }

    @Test func `A canary that crashes at each start aborts the rollout, and starts without problems afterwards`()
        async throws
    {
        let cluster = try await ClusterFixture.start()
        let (first, rest) = (1..<1_000).map { "i\($0)" }.reduce(into: ([String](), [String]())) { names, name in
            let isIn = FleetHash.isBelow(.tenth, instance: name, rollout: "r1")
            if isIn { names.0.append(name) } else { names.1.append(name) }
        }
        let id = try #require(first.first)
        let others = try rest.prefix(7).map { try cluster.process($0) }
        var timing = ClusterFixture.driverTiming
        (timing.outageGrace, timing.silenceTimeout) = (.milliseconds(2_500), .seconds(1))
        let canary = try cluster.process(id)
        await cluster.wait { $0.count == 8 }
        var plan = try cluster.plan("A/B/Size", .number(70), steps: [10, 100])
        plan.every = 600
        let claim = try await cluster.begin(plan)
        let driving = Task { [timing] in await cluster.drive(claim, timing: timing) }
        // A service manager restarts it each time.
        let crashing = Task {
            var canary = canary
            while !Task.isCancelled {
                await canary.wait(canary.size, 70)
                try await cluster.kill(canary)
                if Task.isCancelled { return }
                canary = try cluster.process(id)
            }
            await canary.stop()
        }
        let events = await driving.value
        #expect(events.last?.abortReason?.contains("silent or crash at start (\(id)") == true, "\(events)")
        crashing.cancel()
        #expect(others.allSatisfy { $0.size.value == 50 })
        let restarted = try cluster.process(id)
        await restarted.log.wait(for: "follows the fleet api")
        #expect(restarted.size.value == 50)
        await (others + [restarted]).stop()
    }

    @Test func `Orderly exits and restarts, and a pod that another replaces, do not stop a rollout`() async throws {
        let cluster = try await ClusterFixture.start()
        var processes = try (1...5).map { try cluster.process("i\($0)") }
        await cluster.wait { $0.count == 5 }
        var plan = try cluster.plan("A/B/Size", .number(70))
        plan.every = 3
        let claim = try await cluster.begin(plan)
        let started = Gate()
        let driving = Task { await cluster.drive(claim, started: started) }
        await started.wait()
        await processes.removeFirst().stop()
        await processes.removeFirst().stop()
        processes.append(try cluster.process("i6"))
        for _ in 1...2 {
            await processes[0].stop()
            processes[0] = try cluster.process("i3")
            await cluster.wait { live in live.contains { $0.id == "i3" } }
        }
        let events = await driving.value
        #expect(events.last?.finishReceipt != nil, "\(events)")
        await processes.wait(size: 70)
        await processes.stop()
    }

    @Test func `A restart of a pod with a random ID does not stop a rollout`() async throws {
        let cluster = try await ClusterFixture.start()
        var pods = try (0..<6).map { _ in try cluster.process(nil) }
        let live = await cluster.wait { $0.count == 6 }
        #expect(live.allSatisfy { $0.status.isUnstable })
        var plan = try cluster.plan("A/B/Size", .number(70), steps: [90, 100])
        plan.every = 2
        let claim = try await cluster.begin(plan)
        let started = Gate()
        let driving = Task { await cluster.drive(claim, started: started) }
        await started.wait()
        let old = pods.removeFirst()
        try await cluster.kill(old)
        let fresh = try cluster.process(nil)
        #expect(fresh.identity.instance.id != old.identity.instance.id)
        pods.append(fresh)
        await pods.wait(size: 70)
        let events = await driving.value
        #expect(events.last?.finishReceipt != nil, "\(events)")
        await pods.stop()
    }
}

extension Share {
    fileprivate static let tenth = Share(percent: "10") ?? .all
}
