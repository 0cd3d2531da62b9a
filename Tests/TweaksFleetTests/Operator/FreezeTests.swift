// Tests freezes, which every write compares with, and proposals, which another operator approves.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct FreezeTests {
    private let harness = OperatorHarness()
    private var fleet: FleetOperator { harness.fleet() }

    private func set(_ value: Int64, of fleet: FleetOperator? = nil) async throws {
        _ = try await (fleet ?? self.fleet).set([try harness.assignment("A/B/C", .int(value))])
    }

    @Test func `While a fleet is frozen only rollouts can be stopped`() async throws {
        try await set(1)
        var plan = try harness.plan("A/B/D", .int(2))
        plan.steps = [Share(hundredths: 5_000), .all].compactMap(\.self)
        _ = try await fleet.begin(plan)
        _ = try await fleet.freeze("launch", because: "the launch")
        let expected = "api is frozen: launch by alice: the launch; wait, or unfreeze launch"
        #expect(await refusal { try await set(2) } == expected)
        #expect(await refusal { try await fleet.reset([try TweakPath("A/B/C")]) } == expected)
        #expect(await refusal { try await fleet.undo() } != "no error")
        #expect(await refusal { try await fleet.finish("r1", force: true) } == expected)
        #expect(await refusal { try await fleet.adopt() } == expected)
        _ = try await fleet.pause("r1")
        #expect(await refusal { try await fleet.resume("r1") } == expected)
        _ = try await fleet.abort("r1")
        #expect(try await harness.value("A/B/C") == .int(1))
        _ = try await fleet.unfreeze("launch")
        try await set(2)
        let entries = try await fleet.history().entries
        #expect(entries.map(\.verb) == ["set", "rollout", "freeze", "pause", "abort", "unfreeze", "set"])
        #expect(entries[2].why == "launch: the launch" && entries[5].why == "launch")
    }

    @Test func `In a freeze a rollout that has reached all processes can be finished, and values be proposed`()
        async throws
    {
        _ = try await fleet.begin(try harness.plan("A/B/D", .int(2)))
        _ = try await fleet.freeze("launch", because: "the launch")
        _ = try await fleet.propose([try harness.assignment("A/B/E", .int(3))])
        _ = try await fleet.finish("r1")
        #expect(try await harness.value("A/B/D") == .int(2))
    }

    @Test func `An unreadable head of a frozen fleet is adopted, and then the freeze can end`() async throws {
        _ = try await fleet.freeze("launch", because: "the launch")
        harness.etcd.put(harness.keys.head, utf8("garbage"))
        #expect(await refusal { try await fleet.unfreeze("launch") }.contains("adopt writes a new one"))
        _ = try await fleet.adopt()
        _ = try await fleet.unfreeze("launch")
        try await set(1)
    }

    @Test func `A freeze between reading and writing refuses the write, by etcd's own comparison`() async throws {
        let (harness, other) = (harness, harness.fleet(by: "bob"))
        let raced = InterposedEtcd(
            etcd: harness.etcd,
            beforeCommit: { transaction throws(EtcdError) in
                // Only the write itself compares with it, and it is frozen just before.
                let compares = transaction.compares.contains(.absent(prefix: harness.keys.freezes))
                if compares, try await other.etcd.range(EtcdRange(.prefix(harness.keys.freezes))).keys.isEmpty {
                    _ = try? await other.freeze("now", because: "an outage")
                }
            })
        let text = await refusal { try await set(1, of: harness.fleet(on: raced)) }
        #expect(text == "api is frozen: now by bob: an outage; wait, or unfreeze now")
        #expect(try await harness.value("A/B/C") == nil)
    }

    @Test func `A freeze for a time ends with its lease, and an unreadable one counts`() async throws {
        _ = try await fleet.freeze("night", because: "all are asleep", seconds: 600)
        #expect(await refusal { try await set(1) }.contains("until about 1970-01-01T00:26:40Z: all are asleep"))
        harness.etcd.advance(seconds: 601)
        try await set(1)
        harness.etcd.put(harness.keys.freeze("x"), utf8("garbage"))
        #expect(await refusal { try await set(2) } == "api is frozen: x; wait, or unfreeze x")
        _ = try await fleet.unfreeze("x")
        try await set(2)
    }

    @Test func `Names that are taken, unknown or invalid are refused`() async throws {
        #expect(await refusal { try await fleet.unfreeze("x") } == "there is no freeze “x”; the fleet is not frozen")
        _ = try await fleet.freeze("a", because: "x")
        #expect(await refusal { try await fleet.freeze("a", because: "y") }.contains("already a freeze a"))
        #expect(await refusal { try await fleet.unfreeze("b") } == "there is no freeze “b”; there is a")
        #expect(await refusal { try await fleet.freeze("a b", because: "y") }.contains("name a freeze with letters"))
    }

    // MARK: Proposals

    private func fleet(_ user: String?) -> FleetOperator {
        var fleet = harness.fleet(by: user ?? "anonymous")
        fleet.user = user
        return fleet
    }

    private func propose(_ value: Int64, by user: String?) async throws {
        _ = try await fleet(user).propose([try harness.assignment("A/B/C", .int(value))])
    }

    @Test func `A proposal takes effect when another user approves it`() async throws {
        try await propose(5, by: "ana")
        #expect(try await harness.value("A/B/C") == nil)
        let found = try await fleet.proposals()
        #expect(found.map(\.id) == ["r1"] && found.first?.author == "ana")
        #expect(
            await refusal { try await fleet("ana").approve("r1") }
                == "approve r1: ana has proposed it; another operator approves it")
        #expect(await refusal { try await fleet(nil).approve("r1") }.contains("sign in with --user"))
        let receipt = try await fleet("bob").approve("r1")
        #expect(receipt.changes.map(\.new) == [.int(5)])
        #expect(try await harness.value("A/B/C") == .int(5))
        #expect(try await fleet.proposals().isEmpty)
        let last = try #require(try await fleet.history().entries.last)
        #expect(last.verb == "approve" && last.by == "bob" && last.why == "proposed by ana")
        #expect(await refusal { try await fleet("bob").approve("r1") } == "there is no proposal “r1”; there is none")
        // It can be undone as a set can.
        _ = try await fleet("bob").undo()
        #expect(try await harness.value("A/B/C") == nil)
    }

    @Test func `A proposal that no user proves, or whose values have changed, is not approved`() async throws {
        try await propose(5, by: nil)
        #expect(
            await refusal { try await fleet("bob").approve("r1") }.contains("no etcd user proves to have proposed it"))
        _ = try await fleet.reject("r1")
        try await propose(6, by: "ana")
        try await set(9)
        #expect(
            await refusal { try await fleet("bob").approve("r1") }.contains(
                "A/B/C is 9 now, and proposal r1 found (none)"))
        _ = try await fleet("bob").approve("r1", force: true)
        #expect(try await harness.value("A/B/C") == .int(6))
    }

    @Test func `An unreadable proposal can be rejected, not approved`() async throws {
        harness.etcd.put(harness.keys.proposal("x"), utf8("garbage"))
        #expect(await refusal { try await fleet("bob").approve("x") }.contains("proposal x cannot be read"))
        _ = try await fleet.reject("x")
        #expect(harness.etcd.all(harness.keys.proposals).isEmpty)
        #expect(await refusal { try await fleet.reject("x") } == "there is no proposal “x”; there is none")
    }
}
