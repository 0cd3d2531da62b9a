// Operators and drivers on real etcd in bad weather: no space, a member that dies in a write, leases that end.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered) struct OperatorWeatherTests {
    private let keys = FleetKeys(name: "api")

    private func fleet(_ server: EtcdServer) throws -> FleetOperator {
        let configuration = try EtcdConfiguration(endpoints: server.endpoints.joined(separator: ","))
        return FleetOperator(EtcdClient(configuration), keys, by: "alice", now: { 1_000_000 }, makeID: { "r1" })
    }

    private func plan(_ path: String = "A/B/C") throws -> RolloutPlan {
        RolloutPlan(id: "r1", assignments: [FleetAssignment(try TweakPath(path), .int(1))])
    }

    @Test func `Abort deletes on an etcd that is out of space, where all else is refused`() async throws {
        let server = try await EtcdServer.start(flags: ["--quota-backend-bytes=300000"])
        defer { server.close() }
        let fleet = try fleet(server)
        _ = try await fleet.begin(try plan())
        let filler = EtcdTransaction(then: [
            .put(key: Array("/filler".utf8), value: [UInt8](repeating: 0x78, count: 60_000))
        ])
        var isFull = false
        for _ in 0..<50 where !isFull {
            do throws(EtcdError) {
                _ = try await fleet.etcd.commit(filler)
            } catch {
                if case .noSpace = error { isFull = true }
            }
        }
        #expect(isFull)
        let refusal = await #expect(throws: FleetRefusal.self) { try await fleet.pause("r1") }
        #expect(refusal?.description.contains("abort works meanwhile") == true, "\(String(describing: refusal))")
        let receipt = try await fleet.abort("r1")
        #expect(receipt.sequence == nil && receipt.notes.contains { $0.contains("not in the log") })
        #expect(try await fleet.look().rollouts.isEmpty)
    }

    @Test func `A full log, 100 changes and a driver's fence are one transaction that etcd takes`() async throws {
        let server = try await EtcdServer.start()
        defer { server.close() }
        let fleet = try fleet(server)
        var assignments: [FleetAssignment] = []
        for number in 1...100 { assignments.append(FleetAssignment(try TweakPath("A/B/C\(number)"), .int(1))) }
        for number in 1...201 {
            _ = try await fleet.set([FleetAssignment(try TweakPath("A/B/C1"), .int(Int64(1_000 + number)))])
        }
        let claim = try await fleet.claim("r1", host: "h", pid: 1)
        var plan = RolloutPlan(id: "r1", assignments: assignments)
        plan.driver = claim.fence
        _ = try await fleet.begin(plan)
        _ = try await fleet.finish("r1", fence: claim.fence)
        let history = try await fleet.history().entries
        #expect(history.count == 200 && history.last?.verb == "finish" && history.last?.changes.count == 100)
        _ = try await fleet.reset(assignments.map(\.path))
        #expect(try await fleet.look().values.isEmpty)
    }

    @Test func `A rollout under a lease keeps it through every rewrite, and ends with it`() async throws {
        let server = try await EtcdServer.start()
        defer { server.close() }
        let fleet = try fleet(server)
        let claim = try await fleet.claim("r1", host: "h", pid: 1)
        var plan = try plan()
        (plan.driver, plan.lease, plan.steps) = (claim.fence, claim.lease, [Share(hundredths: 100) ?? .all, .all])
        _ = try await fleet.begin(plan)
        _ = try await fleet.step("r1", from: plan.steps[0], to: .all, fence: claim.fence)
        _ = try await fleet.pause("r1", fence: claim.fence)
        _ = try await fleet.resume("r1", fence: claim.fence)
        #expect(try await fleet.look().rollouts["r1"]?.lease == claim.lease.id)
        await fleet.release(claim)
        #expect(try await fleet.look().rollouts.isEmpty)
        let next = try await fleet.claim("r1", host: "h2", pid: 2)
        #expect(next.fence != claim.fence)
    }

    @Test func `A leader that dies while operators write loses no write and doubles none`() async throws {
        let server = try await EtcdServer.start(members: 3)
        defer { server.close() }
        let fleet = try fleet(server)
        let leader = try #require(try await server.leader())
        _ = try await fleet.set([FleetAssignment(try TweakPath("A/B/C"), .int(0))])
        let killing = Task { server.kill(leader) }
        var done = 0
        while done < 20 {
            do throws(FleetRefusal) {
                let path = try? TweakPath("A/B/C")
                guard let path else { return }
                let receipt = try await fleet.set([FleetAssignment(path, .int(Int64(done + 1)))])
                if receipt.sequence != nil || receipt.notes == ["there is nothing to change"] { done += 1 }
            } catch {
                // Between two leaders nothing can be written.
                #expect(error.kind == .unreachable, "\(error)")
            }
        }
        await killing.value
        let entries = try await fleet.history().entries.filter { $0.changes.first?.new != .int(0) }
        #expect(entries.map { $0.changes.first?.new } == (1...20).map { .int($0) })
    }
}
