// Tests the effect of each verb on the keys.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct OperatorVerbsTests {
    private let harness = OperatorHarness()
    private let size = "Service/Pool/Size"
    private var fleet: FleetOperator { harness.fleet() }

    @discardableResult private func set(
        _ value: TweakValue, by: String = "alice", seconds: Int64? = nil
    ) async throws -> FleetReceipt {
        let assignments = [try harness.assignment(size, value)]
        guard let seconds else { return try await harness.fleet(by: by).set(assignments) }
        return try await harness.fleet(by: by).set(assignments, seconds: seconds)
    }

    private func set(_ numbers: ClosedRange<Int64>) async throws {
        for number in numbers { try await set(.int(number)) }
    }

    private func begin(
        _ value: TweakValue = .int(80), selector: Labels = [:], steps: [Share] = [.all], lease: Bool = false
    ) async throws {
        var plan = try harness.plan(size, value)
        (plan.selector, plan.steps) = (selector, steps)
        if lease { plan.lease = try await harness.etcd.grantLease(seconds: 60) }
        _ = try await fleet.begin(plan)
    }

    private func assignments(_ count: Int, _ value: TweakValue = .int(1)) throws -> [FleetAssignment] {
        try (1...count).map { try harness.assignment("A/B/C\($0)", value) }
    }

    // MARK: Values

    @Test func `Set writes value, head and log in one revision`() async throws {
        let first = try await set(.int(64))
        #expect(first.sequence == 1 && first.notes.contains { $0.hasPrefix("the first write") })
        let second = try await set(.int(80), by: "bob")
        #expect(second.header.revision == first.header.revision + 1 && second.notes.isEmpty)
        #expect(
            try await harness.state() == [
                "head 2 bob: set Service/Pool/Size", "Service/Pool/Size = 80",
                "log 1 alice: set Service/Pool/Size (none)→64", "log 2 bob: set Service/Pool/Size 64→80",
            ])
        let same = try await set(.int(80))
        #expect(same.sequence == nil && same.header.revision == second.header.revision, "it is set already")
    }

    @Test func `A dry run returns the changes and writes nothing`() async throws {
        var fleet = fleet
        fleet.isDryRun = true
        let receipt = try await fleet.set([try harness.assignment(size, .int(64))])
        #expect(receipt.sequence == nil && receipt.changes.count == 1)
        #expect(try await harness.state() == ["no head"])
    }

    @Test func `Reset deletes the value, even a malformed one`() async throws {
        try await set(.int(64))
        let other = try TweakPath("Service/Pool/Other")
        harness.etcd.put(harness.keys.value(other), utf8("garbage"))
        _ = try await fleet.reset([try TweakPath(size), other, try TweakPath("Not/There/Yet")])
        #expect(
            try await harness.state() == [
                "head 2 alice: reset Service/Pool/Size and 1 more", "log 1 alice: set Service/Pool/Size (none)→64",
                "log 2 alice: reset Service/Pool/Size 64→(none), Service/Pool/Other (none)→(none)",
            ])
    }

    @Test func `A path of an open or paused rollout is refused; the refusal names the rollout`() async throws {
        try await begin()
        let text = "Service/Pool/Size: rollout r1 by alice holds it at"
        #expect(await refusal { try await set(.int(1)) }.hasPrefix(text))
        #expect(await refusal { try await fleet.reset([try TweakPath(size)]) }.hasPrefix(text))
        let other = RolloutPlan(id: "r2", assignments: [try harness.assignment(size, .int(1))])
        #expect(await refusal { try await fleet.begin(other) }.hasPrefix(text))
        _ = try await fleet.pause("r1")
        #expect(await refusal { try await set(.int(1)) }.hasPrefix(text))
    }

    @Test func `A path of a standing rule can be set, with a note`() async throws {
        try await begin(selector: ["zone": "eu"])
        _ = try await fleet.finish("r1")
        let notes = try await set(.int(1)).notes
        #expect(notes.contains("Service/Pool/Size: the standing rule r1 still covers it where it applies"))
    }

    @Test func `100 changes are one write; more changes, 256 KiB and duplicate paths are refused`() async throws {
        let many = try assignments(101)
        #expect(await refusal { try await fleet.set(many) }.contains("101 changes are too many"))
        _ = try await fleet.set(Array(many.dropLast()))
        _ = try await fleet.reset(many.dropLast().map(\.path))
        #expect(try await fleet.readState().values.isEmpty)
        let large = try assignments(5, .string(String(repeating: "x", count: 60_000)))
        #expect(await refusal { try await fleet.set(large) }.contains("bytes are too many"))
        let twice = [try harness.assignment(size, .int(1)), try harness.assignment(size, .int(2))]
        #expect(await refusal { try await fleet.set(twice) }.contains("is there twice"))
    }

    @Test func `A temporary value is a rollout of 100 % under a lease, and ends with it`() async throws {
        try await set(.int(64))
        #expect(try await set(.int(80), seconds: 600).rollout == "r1")
        #expect(
            try await harness.state().prefix(3) == [
                "head 2 alice: set Service/Pool/Size", "Service/Pool/Size = 64",
                "rollout r1 open 10000 leased: Service/Pool/Size 64→80",
            ])
        let record = try #require(try await harness.rollout())
        #expect(try #require(record.value.lifetime) >= 600)
        try await harness.etcd.revokeLease(record.lease)
        #expect(try await harness.rollout() == nil)
    }

    @Test func `A temporary value cannot be paused or resumed, but finished`() async throws {
        try await set(.int(80), seconds: 600)
        let before = try await harness.state()
        #expect(await refusal { try await fleet.pause("r1") }.contains("is for a while and has no steps"))
        #expect(await refusal { try await fleet.resume("r1") }.contains("finish r1 makes it permanent"))
        #expect(try await harness.state() == before)
        _ = try await fleet.finish("r1")
        #expect(try await harness.value(size) == .int(80))
    }

    @Test func `Set removes the lease of a value that etcdctl put under one`() async throws {
        let lease = try await harness.etcd.grantLease(seconds: 600)
        try harness.put(size, .int(64), lease: lease.id)
        try await set(.int(64))
        try await harness.etcd.revokeLease(lease.id)
        #expect(try await harness.value(size) == .int(64))
    }

    // MARK: The log

    @Test func `The log keeps the last 200 entries, also after a jump of the counter`() async throws {
        try await set(1...203)
        #expect(try await fleet.history().entries.map(\.sequence) == Array(4...203))
        _ = try await fleet.adopt(atLeast: 5_000)
        try await set(1...3)
        let entries = try await fleet.history().entries
        #expect(entries.count == 200 && entries.last?.sequence == 5_003 && entries.first?.sequence == 8)
    }

    // MARK: Undo

    @Test func `Undo reverts the newest write, and a second undo restores it`() async throws {
        try await set(.int(64))
        try await set(.int(80))
        _ = try await harness.fleet(by: "bob").undo()
        #expect(try await harness.value(size) == .int(64))
        _ = try await fleet.undo()
        #expect(
            try await harness.state().suffix(2) == [
                "log 3 bob: undo Service/Pool/Size 80→64", "log 4 alice: undo Service/Pool/Size 64→80",
            ])
    }

    @Test func `Undo of a numbered entry is refused if its value has changed since`() async throws {
        try await set(.int(64))
        _ = try await fleet.set([try harness.assignment("A/B/C", .bool(true))])
        _ = try await fleet.undo(1)
        #expect(try await harness.value(size) == nil)
        try await set(.int(70))
        let text = await refusal { try await fleet.undo(1) }
        #expect(text == "Service/Pool/Size is 70 now, and entry 1 left 64; set it by hand")
    }

    @Test func `Undo of an entry without values is refused with a remedy`() async throws {
        #expect(await refusal { try await fleet.undo() }.hasPrefix("there is nothing to undo"))
        try await begin()
        #expect(await refusal { try await fleet.undo() }.hasSuffix("abort r1 reverts the rollout"))
        _ = try await fleet.abort("r1")
        #expect(await refusal { try await fleet.undo() }.hasSuffix("start rollout r1 again instead"))
        #expect(await refusal { try await fleet.undo(9) }.hasPrefix("the log has no entry 9"))
    }

    // MARK: Rollouts

    @Test(arguments: [true, false])
    func `Each verb that rewrites a rollout keeps its lease`(_ isLeased: Bool) async throws {
        let steps = [Share(hundredths: 1_000) ?? .all, .all]
        try await begin(steps: steps, lease: isLeased)
        let end = (isLeased ? " leased" : "") + ": Service/Pool/Size (none)→80"
        func expect(_ text: String, _ location: SourceLocation = #_sourceLocation) async throws {
            #expect(try await harness.state()[1] == "rollout r1 \(text)\(end)", sourceLocation: location)
        }
        try await expect("open 1000 next 1300000")
        _ = try await fleet.step("r1", from: steps[0], to: .all)
        try await expect("open 10000 next 1300000")
        _ = try await fleet.pause("r1")
        try await expect("paused 10000")
        _ = try await fleet.resume("r1")
        try await expect("open 10000 next 1300000")
        _ = try await fleet.awaitConfirmation("r1", within: 1_000)
        try await expect("open 10000 next 1300000 confirm 2000000")
        #expect(try await fleet.history().entries.map(\.verb) == ["rollout", "step", "pause", "resume", "step"])
    }

    @Test func `The resume of a new driver moves a rollout to its lease, unless it has none`() async throws {
        for isLeased in [true, false] {
            try await begin(lease: isLeased)
            let old = try #require(try await harness.rollout()).lease
            let lease = try await harness.etcd.grantLease(seconds: 90)
            let fence = EtcdTransaction.Compare.modRevision(harness.keys.driver("r1"), equals: 0)
            _ = try await fleet.fenced(by: fence).resume("r1", under: lease)
            let record = try #require(try await harness.rollout())
            #expect(record.lease == (isLeased ? lease.id : 0) && record.value.lifetime == (isLeased ? 90 : nil))
            if isLeased { try await harness.etcd.revokeLease(old) }
            #expect(try await harness.rollout() != nil)
            _ = try await fleet.abort("r1")
        }
    }

    @Test func `A step starts a timer, a pause keeps it, and the end of the rollout deletes it`() async throws {
        func lease() -> Int64? { harness.etcd.value(harness.keys.timer("r1"))?.lease }
        let steps = [Share(hundredths: 1_000) ?? .all, .all]
        try await begin(steps: steps)
        let first = try #require(lease())
        #expect(try await harness.etcd.keepAlive(first)?.seconds == 300)
        _ = try await fleet.step("r1", from: steps[0], to: .all)
        let second = try #require(lease())
        #expect(first != second)
        _ = try await fleet.pause("r1")
        #expect(lease() == second)
        _ = try await fleet.resume("r1")
        let third = try #require(lease())
        #expect(third != second)
        _ = try await fleet.awaitConfirmation("r1", within: 1_000)
        let fourth = try #require(lease())
        #expect(try await harness.etcd.keepAlive(fourth)?.seconds == 1_000)
        _ = try await fleet.pause("r1")
        _ = try await fleet.resume("r1")
        #expect(lease() == fourth)
        _ = try await fleet.finish("r1")
        #expect(lease() == nil)
        try await begin(selector: ["zone": "eu"], steps: steps)
        _ = try await fleet.finish("r1", force: true)
        #expect(try await harness.rollout()?.value.isTimed == false && lease() == nil)
        _ = try await fleet.abort("r1")
        try await set(.int(1), seconds: 600)
        #expect(lease() == nil)
    }

    @Test func `Finish without a selector writes the values and deletes the rollout`() async throws {
        try await set(.int(64))
        try await begin(lease: true)
        _ = try await harness.fleet(by: "bob").finish("r1")
        #expect(
            try await harness.state() == [
                "head 3 bob: finish r1", "Service/Pool/Size = 80", "log 1 alice: set Service/Pool/Size (none)→64",
                "log 2 alice: rollout r1 Service/Pool/Size 64→80", "log 3 bob: finish r1 Service/Pool/Size 64→80",
            ])
        _ = try await fleet.undo()
        #expect(try await harness.value(size) == .int(64))
    }

    @Test func `Finish with a selector leaves a standing rule of 100 % without a lease`() async throws {
        try await begin(selector: ["zone": "eu"], lease: true)
        _ = try await fleet.finish("r1")
        #expect(try await harness.state()[1] == "rollout r1 done 10000: Service/Pool/Size (none)→80")
        #expect(await refusal { try await fleet.pause("r1") }.contains("is a standing rule"))
        #expect(await refusal { try await fleet.finish("r1") }.contains("is a standing rule already"))
        _ = try await fleet.abort("r1")
        #expect(try await harness.rollout() == nil)
    }

    @Test func `Finish is refused below 100 %, and if the original value has changed`() async throws {
        let half = Share(hundredths: 5_000) ?? .all
        try await begin(steps: [half, .all])
        #expect(await refusal { try await fleet.finish("r1") }.hasPrefix("rollout r1 is at 50"))
        _ = try await fleet.step("r1", from: half, to: .all)
        try harness.put(size, .int(70))
        #expect(await refusal { try await fleet.finish("r1") }.contains("is 70 now, and rollout r1 found (none)"))
        _ = try await fleet.finish("r1", force: true)
        #expect(try await harness.value(size) == .int(80))
    }

    @Test func `Abort deletes the rollout, even a malformed one`() async throws {
        try await begin()
        _ = try await fleet.abort("r1")
        #expect(
            try await harness.state() == [
                "head 2 alice: abort r1", "log 1 alice: rollout r1 Service/Pool/Size (none)→80",
                "log 2 alice: abort r1 Service/Pool/Size 80→(none)",
            ])
        harness.etcd.put(harness.keys.rollout("r2"), utf8("{"))
        #expect(await refusal { try await fleet.pause("r2") }.contains("abort r2 deletes it"))
        _ = try await fleet.abort("r2")
        #expect(try await fleet.readState().unreadable.isEmpty)
        #expect(await refusal { try await fleet.abort("r3") }.hasPrefix("there is no rollout “r3”"))
    }

    @Test func `Abort works on a full etcd, without a log entry`() async throws {
        try await begin()
        harness.etcd.setFaults { $0.isFull = true }
        #expect(await refusal { try await fleet.pause("r1") }.contains("abort works meanwhile"))
        let receipt = try await fleet.abort("r1")
        #expect(receipt.sequence == nil && receipt.notes.contains { $0.contains("not in the log") })
        #expect(
            try await harness.state() == [
                "head 1 alice: rollout Service/Pool/Size", "log 1 alice: rollout r1 Service/Pool/Size (none)→80",
            ])
    }

    // MARK: Adopt

    @Test func `Adopt writes a head above all that processes have applied`() async throws {
        try await set(.int(64))
        harness.register("i1") { $0.head = 41 }
        _ = try await fleet.adopt()
        #expect(try await harness.state().first == "head 42 alice: adopt")
        _ = try await fleet.adopt(atLeast: 100)
        #expect(try await harness.state().first == "head 100 alice: adopt")
    }

    @Test func `A malformed head stops writes until adopt`() async throws {
        harness.etcd.put(harness.keys.head, utf8("{"))
        #expect(await refusal { try await set(.int(1)) }.contains("adopt writes a new one"))
        _ = try await fleet.adopt(atLeast: 9)
        try await set(.int(1))
        #expect(try await harness.state().first == "head 10 alice: set Service/Pool/Size")
    }
}
