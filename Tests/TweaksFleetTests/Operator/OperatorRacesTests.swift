// Two operators and two drivers at once: who is slower judges anew, or is refused.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct OperatorRacesTests {
    private let bench = OperatorBench()
    private let size = "Service/Pool/Size"

    private func description(_ body: () async throws -> Void) async -> String {
        do {
            try await body()
            return "it was not refused"
        } catch {
            return (error as? FleetRefusal)?.description ?? "\(error)"
        }
    }

    /// Somebody sets another path, or the same, just before.
    private func raced(times: Int, _ path: String) -> InterposedEtcd {
        let other = bench.fleet(by: "bob")
        return .raced(bench.etcd, times: times) { number throws(EtcdError) in
            guard let path = try? TweakPath(path) else { return }
            _ = try? await other.set([FleetAssignment(path, .int(Int64(100 + number)))])
        }
    }

    @Test func `A lost race is judged anew, with the value that it finds then`() async throws {
        let fleet = bench.fleet(on: raced(times: 2, size))
        let receipt = try await fleet.set([try bench.assignment(size, .int(1))])
        #expect(receipt.sequence == 3 && receipt.changes.first?.old == .int(100))
        #expect(
            try await bench.state() == [
                "head 3 alice: set Service/Pool/Size", "Service/Pool/Size = 1",
                "log 1 bob: set Service/Pool/Size (none)→101", "log 2 bob: set Service/Pool/Size 101→100",
                "log 3 alice: set Service/Pool/Size 100→1",
            ])
    }

    @Test func `Who always loses is told so`() async throws {
        let fleet = bench.fleet(on: raced(times: 1_000, "A/B/C"))
        let text = await description { _ = try await fleet.set([try bench.assignment(size, .int(1))]) }
        #expect(text == "api: others write all the time; try again")
    }

    @Test func `A rollout that begins meanwhile holds its path`() async throws {
        let other = bench.fleet(by: "bob")
        let plan = RolloutPlan(id: "r1", assignments: [try bench.assignment(size, .int(80))])
        let etcd = InterposedEtcd.raced(bench.etcd) { _ in _ = try? await other.begin(plan) }
        let text = await description {
            _ = try await bench.fleet(on: etcd).set([try bench.assignment(size, .int(1))])
        }
        #expect(text.hasPrefix("Service/Pool/Size: rollout r1 by bob holds it"))
    }

    @Test func `A value that is put by hand meanwhile is seen`() async throws {
        let path = try TweakPath(size)
        let byHand = DesiredValue(value: .int(7), by: "etcdctl", at: 0).bytes
        let etcd = InterposedEtcd.raced(bench.etcd) { [bench] _ in
            try? await bench.put(bench.keys.value(path), byHand)
        }
        let receipt = try await bench.fleet(on: etcd).set([FleetAssignment(path, .int(1))])
        #expect(receipt.changes.first?.old == .int(7))
    }

    @Test func `A rollout whose lease ends meanwhile is not written again`() async throws {
        let fleet = bench.fleet()
        _ = try await fleet.set([try bench.assignment(size, .int(80))], seconds: 60)
        let lease = try #require(try await fleet.look().rollouts["r1"]?.lease)
        let etcd = InterposedEtcd.raced(bench.etcd) { [bench] _ in try? await bench.etcd.revokeLease(lease) }
        let text = await description { _ = try await bench.fleet(on: etcd).finish("r1") }
        #expect(text.hasPrefix("there is no rollout “r1”"))
        let view = try await fleet.look()
        #expect(view.rollouts.isEmpty && view.values.isEmpty)
    }

    @Test func `A write that was done though its answer was lost is not taken for somebody else's`() async throws {
        let fleet = bench.fleet(on: InterposedEtcd.forgetful(bench.etcd))
        let half = Share(hundredths: 5_000) ?? .all
        #expect(try await fleet.set([try bench.assignment("A/B/C", .int(1))]).sequence == 1)
        let claim = try await fleet.claim("r1", host: "h", pid: 1)
        var plan = RolloutPlan(id: "r1", assignments: [try bench.assignment(size, .int(80))])
        (plan.steps, plan.driver) = ([half, .all], claim.fence)
        #expect(try await fleet.begin(plan).sequence == 2)
        let step = try await fleet.step("r1", from: half, to: .all, fence: claim.fence)
        let revision = try await fleet.look().header.revision
        #expect(step.sequence == 3 && step.header.revision == revision)
        #expect(try await fleet.abort("r1", fence: claim.fence).sequence == 4)
        #expect(try await fleet.undo(1).sequence == 5)
        #expect(try await fleet.history().entries.map(\.verb) == ["set", "rollout", "step", "abort", "undo"])
    }

    // MARK: Drivers

    @Test func `Two drivers cannot be, until the first one's lease is gone`() async throws {
        let fleet = bench.fleet()
        _ = try await fleet.begin(RolloutPlan(id: "r1", assignments: [try bench.assignment(size, .int(80))]))
        let first = try await fleet.claim("r1", host: "h1", pid: 7)
        let text = await description { _ = try await bench.fleet(by: "bob").claim("r1", host: "h2", pid: 8) }
        #expect(text.hasPrefix("rollout r1 is driven by alice (process 7 on h1)"))
        try await bench.etcd.revokeLease(first.lease.id)
        let second = try await bench.fleet(by: "bob").claim("r1", host: "h2", pid: 8)
        #expect(second.fence != first.fence)
    }

    @Test func `A driver whose claim is gone writes nothing more`() async throws {
        let fleet = bench.fleet()
        _ = try await fleet.begin(RolloutPlan(id: "r1", assignments: [try bench.assignment(size, .int(80))]))
        let first = try await fleet.claim("r1", host: "h1", pid: 7)
        try await bench.etcd.revokeLease(first.lease.id)
        _ = try await bench.fleet(by: "bob").claim("r1", host: "h2", pid: 8)
        let before = try await bench.state()
        for verb in 0..<4 {
            let text = await description {
                switch verb {
                case 0: _ = try await fleet.pause("r1", fence: first.fence)
                case 1: _ = try await fleet.step("r1", from: .all, to: .all, fence: first.fence)
                case 2: _ = try await fleet.finish("r1", fence: first.fence)
                default: _ = try await fleet.abort("r1", fence: first.fence)
                }
            }
            #expect(text.contains("this driver's claim is gone"), "\(text)")
        }
        #expect(try await bench.state() == before)
    }
}
