// Tests operators and drivers on a real etcd with faults: a member that dies during a write, expired leases.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksFleet

@Suite(.needsEtcd, .clustered) struct OperatorFaultTests {
    private let harness = OperatorHarness()

    private func fleet(_ server: EtcdServer) throws -> FleetOperator { harness.fleet(on: try server.client()) }

    @Test func `A full log, 100 changes and a driver's fence fit in one transaction`() async throws {
        let server = try await EtcdServer.start()
        let fleet = try fleet(server)
        let assignments = try (1...100).map { try harness.assignment("A/B/C\($0)", .int(1)) }
        for number in 1_001...1_201 { _ = try await fleet.set([try harness.assignment("A/B/C1", .int(Int64(number)))]) }
        let claim = try await fleet.claim("r1", host: "h", pid: 1)
        var plan = RolloutPlan(id: "r1", assignments: assignments)
        plan.driver = claim.fence
        _ = try await fleet.begin(plan)
        _ = try await fleet.fenced(by: claim.fence).finish("r1")
        let history = try await fleet.history().entries
        #expect(history.count == 200 && history.last?.verb == "finish" && history.last?.changes.count == 100)
        _ = try await fleet.reset(assignments.map(\.path))
        #expect(try await fleet.readState().values.isEmpty)
    }

    @Test func `A rollout keeps its lease through every rewrite, and ends with it`() async throws {
        let server = try await EtcdServer.start()
        let fleet = try fleet(server)
        let claim = try await fleet.claim("r1", host: "h", pid: 1)
        var plan = try harness.plan("A/B/C", .int(1))
        (plan.driver, plan.lease, plan.steps) = (claim.fence, claim.lease, [Share(hundredths: 100) ?? .all, .all])
        _ = try await fleet.begin(plan)
        _ = try await fleet.fenced(by: claim.fence).step("r1", from: plan.steps[0], to: .all)
        _ = try await fleet.fenced(by: claim.fence).pause("r1")
        _ = try await fleet.fenced(by: claim.fence).resume("r1")
        #expect(try await fleet.readState().rollouts["r1"]?.lease == claim.lease.id)
        await fleet.release(claim)
        #expect(try await fleet.readState().rollouts.isEmpty)
        let next = try await fleet.claim("r1", host: "h2", pid: 2)
        #expect(next.fence != claim.fence)
    }

    @Test func `A leader that dies during writes neither loses nor repeats a write`() async throws {
        let server = try await EtcdServer.start(members: 3)
        let fleet = try fleet(server)
        let leader = try await server.leader()
        let path = try TweakPath("A/B/C")
        _ = try await fleet.set([FleetAssignment(path, .int(0))])
        let killing = Task { server.kill(leader) }
        var done = 0
        while done < 20 {
            do throws(FleetRefusal) {
                let receipt = try await fleet.set([FleetAssignment(path, .int(Int64(done + 1)))])
                if receipt.sequence != nil || receipt.notes == ["there is nothing to change"] { done += 1 }
            } catch {
                // Writes fail while there is no leader.
                #expect(error.kind == .unreachable, "\(error)")
            }
        }
        await killing.value
        let entries = try await fleet.history().entries.filter { $0.changes.first?.new != .int(0) }
        #expect(entries.map { $0.changes.first?.new } == (1...20).map { .int($0) })
    }
}
