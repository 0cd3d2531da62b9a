// Tests concurrent operators and drivers: the slower one validates again or is refused.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct OperatorRacesTests {
    private let harness = OperatorHarness()
    private let size = "Service/Pool/Size"

    private func set(_ value: TweakValue, on etcd: any Etcd) async throws -> FleetReceipt {
        try await harness.fleet(on: etcd).set([try harness.assignment(size, value)])
    }

    /// Another operator sets a path before each of the first transactions.
    private func raced(times: Int, _ path: String) -> InterposedEtcd {
        let other = harness.fleet(by: "bob")
        return .raced(harness.etcd, times: times) { number throws(EtcdError) in
            guard let path = try? TweakPath(path) else { return }
            _ = try? await other.set([FleetAssignment(path, .int(Int64(100 + number)))])
        }
    }

    @Test func `A write that lost a race is retried with the new state`() async throws {
        let receipt = try await set(.int(1), on: raced(times: 2, size))
        #expect(receipt.sequence == 3 && receipt.changes.first?.old == .int(100))
        #expect(
            try await harness.state() == [
                "head 3 alice: set Service/Pool/Size", "Service/Pool/Size = 1",
                "log 1 bob: set Service/Pool/Size (none)→101", "log 2 bob: set Service/Pool/Size 101→100",
                "log 3 alice: set Service/Pool/Size 100→1",
            ])
    }

    @Test(arguments: ["set", "reset", "rollout"])
    func `What a user has not seen is not written over, also where another operator is faster`(
        _ verb: String
    ) async throws {
        _ = try await set(.int(64), on: harness.etcd)
        var fleet = harness.fleet(on: raced(times: 1, size))
        fleet.seen = [try TweakPath(size): "64"]
        let plan = try harness.plan(size, .int(80))
        let text = await refusal {
            switch verb {
            case "set": try await fleet.set(plan.assignments)
            case "reset": try await fleet.reset([try TweakPath(size)])
            default: try await fleet.begin(plan)
            }
        }
        #expect(text == "Service/Pool/Size is 100 now, and not 64; look again")
        #expect(try await harness.value(size) == .int(100))
    }

    @Test func `A write that always loses is refused`() async throws {
        let text = await refusal { try await set(.int(1), on: raced(times: 1_000, "A/B/C")) }
        #expect(text == "api: too many concurrent writes; try again")
    }

    @Test func `A rollout that begins during a write holds its path`() async throws {
        let (other, plan) = (harness.fleet(by: "bob"), try harness.plan(size, .int(80)))
        let etcd = InterposedEtcd.raced(harness.etcd) { _ in _ = try? await other.begin(plan) }
        let text = await refusal { try await set(.int(1), on: etcd) }
        #expect(text.hasPrefix("Service/Pool/Size: rollout r1 by bob holds it"))
    }

    @Test func `A value that etcdctl puts during a write is the old value of the change`() async throws {
        let etcd = InterposedEtcd.raced(harness.etcd) { [harness, size] _ in try? harness.put(size, .int(7)) }
        #expect(try await set(.int(1), on: etcd).changes.first?.old == .int(7))
    }

    @Test func `A rollout whose lease expires during a write is not written again`() async throws {
        _ = try await harness.fleet().set([try harness.assignment(size, .int(80))], seconds: 60)
        let lease = try #require(try await harness.rollout()?.lease)
        let etcd = InterposedEtcd.raced(harness.etcd) { [harness] _ in try? await harness.etcd.revokeLease(lease) }
        let text = await refusal { try await harness.fleet(on: etcd).finish("r1") }
        #expect(text.hasPrefix("there is no rollout “r1”"))
        let view = try await harness.fleet().readState()
        #expect(view.rollouts.isEmpty && view.values.isEmpty)
    }

    @Test func `A write whose reply was lost is recognized as the operator's own`() async throws {
        let fleet = harness.fleet(on: InterposedEtcd.repeating(harness.etcd))
        let half = Share(hundredths: 5_000) ?? .all
        #expect(try await fleet.set([try harness.assignment("A/B/C", .int(1))]).sequence == 1)
        let claim = try await fleet.claim("r1", host: "h", pid: 1)
        var plan = try harness.plan(size, .int(80))
        (plan.steps, plan.driver) = ([half, .all], claim.fence)
        #expect(try await fleet.begin(plan).sequence == 2)
        let step = try await fleet.fenced(by: claim.fence).step("r1", from: half, to: .all)
        let revision = try await fleet.readState().header.revision
        #expect(step.sequence == 3 && step.header.revision == revision)
        #expect(try await fleet.fenced(by: claim.fence).abort("r1").sequence == 4)
        #expect(try await fleet.undo(1).sequence == 5)
        #expect(try await fleet.history().entries.map(\.verb) == ["set", "rollout", "step", "abort", "undo"])
    }

    @Test func `A second driver is refused until the first one's lease is gone; then the first writes no more`()
        async throws
    {
        let fleet = harness.fleet()
        _ = try await fleet.begin(harness.plan(size, .int(80)))
        let first = try await fleet.claim("r1", host: "h1", pid: 7)
        let text = await refusal { try await harness.fleet(by: "bob").claim("r1", host: "h2", pid: 8) }
        #expect(text.hasPrefix("rollout r1 is driven by alice (process 7 on h1)"))
        try await harness.etcd.revokeLease(first.lease.id)
        let second = try await harness.fleet(by: "bob").claim("r1", host: "h2", pid: 8)
        #expect(second.fence != first.fence)

        let before = try await harness.state()
        let refusals = [
            await refusal { try await fleet.fenced(by: first.fence).pause("r1") },
            await refusal { try await fleet.fenced(by: first.fence).step("r1", from: .all, to: .all) },
            await refusal { try await fleet.fenced(by: first.fence).finish("r1") },
            await refusal { try await fleet.fenced(by: first.fence).abort("r1") },
        ]
        for text in refusals { #expect(text.contains("this driver has lost its claim"), "\(text)") }
        #expect(try await harness.state() == before)
    }
}
