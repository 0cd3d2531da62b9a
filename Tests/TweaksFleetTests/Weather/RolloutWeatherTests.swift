// Operators and drivers that meet, and processes that cannot take what is rolled out, or die of it.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered, .serialized, .tags(.process)) struct RolloutWeatherTests {
    // MARK: Several hands

    @Test func `Operators who write at the same moment lose nothing`() async throws {
        let weather = try await Weather.start()
        try await withThrowingTaskGroup { group in
            for (number, who) in ["alice", "bob"].enumerated() {
                group.addTask {
                    for round in 0..<10 { try await weather.set("A/B\(number)/V\(round)", .int(Int64(round)), by: who) }
                }
            }
            try await group.waitForAll()
        }
        let view = try await weather.fleet().look()
        #expect(view.values.count == 20 && view.head?.value.counter == 20)
        let entries = try await weather.fleet().history().entries
        #expect(entries.map(\.sequence) == Array(1...20) && entries.count { $0.by == "bob" } == 10)
    }

    @Test func `Of drivers that want a rollout at the same moment one has it, and another one when that is gone`()
        async throws
    {
        let weather = try await Weather.start()
        let process = try weather.process()
        await weather.wait { $0.count == 1 }
        _ = try await weather.fleet().begin(weather.plan("A/B/Size", .number(70)))
        let claims = await withTaskGroup(of: DriverClaim?.self, returning: [DriverClaim].self) { group in
            for name in ["alice", "bob", "carol", "dave"] {
                group.addTask { try? await weather.fleet(by: name).claim("r1", host: name, pid: 1) }
            }
            return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
        }
        #expect(claims.count == 1)
        // The driver's lease ends: who drove it may no longer write, and somebody else may.
        let first = try #require(claims.first)
        await weather.fleet().release(first)
        let second = try await weather.fleet(by: "erin").claim("r1", host: "there", pid: 2)
        await #expect(throws: FleetRefusal.self) { _ = try await weather.fleet().finish("r1", fence: first.fence) }
        guard case .ended(.finished)? = await weather.drive(second).last else {
            Issue.record("the second driver did not finish it")
            return
        }
        await process.stop()
    }

    // MARK: Processes that cannot

    @Test func `A build that cannot take a value stops a rollout, and one that lacks it does not`() async throws {
        let weather = try await Weather.start()
        let processes = [try weather.process("i1"), try weather.process("i2")]
        _ = try processes[1].registry.register("A", "B", "New", 5, in: 0...9)
        await weather.wait { $0.count == 2 }
        let lacking = try await weather.begin(weather.plan("A/B/New", .int(7), id: "new"))
        guard case .ended(.finished)? = await weather.drive(lacking).last else {
            Issue.record("a path that a build lacks has stopped a rollout")
            return
        }
        var plan = try weather.plan("A/B/New", .int(70), id: "bad")
        plan.assignments.append(FleetAssignment(try TweakPath("A/B/Size"), .number(70)))
        let claim = try await weather.begin(plan)
        guard case .ended(.aborted(let reason, _))? = await weather.drive(claim).last else {
            Issue.record("a refusal has not stopped a rollout")
            return
        }
        #expect(reason.hasPrefix("i2 refuses it: A/B/New: "))
        await processes[0].wait(processes[0].size, 50)
        #expect(processes[1].registry[try TweakPath("A/B/New")]?.value == .int(7))
        for process in processes { await process.stop() }
    }

    @Test func `A canary that crashes at start again and again stops the rollout, and starts well after that`()
        async throws
    {
        let weather = try await Weather.start()
        let (first, rest) = (1..<1_000).map { "i\($0)" }.reduce(into: ([String](), [String]())) { names, name in
            let isIn = FleetHash.isBelow(.tenth, instance: name, rollout: "r1")
            if isIn { names.0.append(name) } else { names.1.append(name) }
        }
        let id = try #require(first.first)
        let others = try rest.prefix(7).map { try weather.process($0) }
        let canary = try weather.process(id)
        await weather.wait { $0.count == 8 }
        var plan = try weather.plan("A/B/Size", .number(70), steps: [10, 100])
        plan.every = 600
        let claim = try await weather.begin(plan)
        let driving = Task { await weather.drive(claim) }
        // Whatever runs it starts it anew each time.
        let crashing = Task {
            var canary = canary
            while !Task.isCancelled {
                await canary.wait(canary.size, 70)
                await canary.kill()
                if Task.isCancelled { return }
                canary = try weather.process(id)
            }
            await canary.stop()
        }
        guard case .ended(.aborted(let reason, _))? = await driving.value.last else {
            Issue.record("\(await driving.value)")
            return
        }
        #expect(reason.contains("silent or crash at start (\(id)"), "\(reason)")
        crashing.cancel()
        #expect(others.allSatisfy { $0.size.value == 50 })
        let well = try weather.process(id)
        await well.log.wait(for: "follows the fleet api")
        #expect(well.size.value == 50)
        for process in others + [well] { await process.stop() }
    }

    @Test func `Pods with random names that restart in the middle of a rollout are others, and do not stop it`()
        async throws
    {
        let weather = try await Weather.start()
        var pods = try (0..<6).map { _ in try weather.process(nil) }
        let live = await weather.wait { $0.count == 6 }
        #expect(live.allSatisfy { $0.status.isUnstable })
        var plan = try weather.plan("A/B/Size", .number(70), steps: [90, 100])
        plan.every = 2
        let claim = try await weather.begin(plan)
        let driving = Task { await weather.drive(claim) }
        let old = pods.removeFirst()
        await old.kill()
        let fresh = try weather.process(nil)
        #expect(fresh.identity.instance.id != old.identity.instance.id)
        pods.append(fresh)
        for pod in pods { await pod.wait(pod.size, 70) }
        guard case .ended(.finished)? = await driving.value.last else {
            Issue.record("\(await driving.value)")
            return
        }
        for pod in pods { await pod.stop() }
    }
}

extension Share {
    fileprivate static let tenth = Share(percent: "10") ?? .all
}
