// What each verb makes of the keys: before, verb, after.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct OperatorVerbsTests {
    private let bench = OperatorBench()
    private let size = "Service/Pool/Size"

    private func set(_ value: TweakValue, by: String = "alice") async throws -> FleetReceipt {
        try await bench.fleet(by: by).set([try bench.assignment(size, value)])
    }

    private func begin(
        _ value: TweakValue, selector: Labels = [:], steps: [Share] = [.all], lease: Bool = false
    ) async throws -> FleetReceipt {
        var plan = RolloutPlan(id: "r1", assignments: [try bench.assignment(size, value)])
        (plan.selector, plan.steps) = (selector, steps)
        if lease { plan.lease = try await bench.etcd.grantLease(seconds: 60) }
        return try await bench.fleet().begin(plan)
    }

    /// The refusal of something.
    private func refusal<Result>(_ body: () async throws -> Result) async -> String {
        do {
            _ = try await body()
            return "it was not refused"
        } catch {
            return (error as? FleetRefusal)?.description ?? "\(error)"
        }
    }

    // MARK: Values

    @Test func `Set writes value, head and log in one revision`() async throws {
        let first = try await set(.int(64))
        #expect(first.sequence == 1 && first.notes.contains { $0.hasPrefix("the first write") })
        let second = try await set(.int(80), by: "bob")
        #expect(second.header.revision == first.header.revision + 1 && second.notes.isEmpty)
        #expect(
            try await bench.state() == [
                "head 2 bob: set Service/Pool/Size", "Service/Pool/Size = 80",
                "log 1 alice: set Service/Pool/Size (none)→64", "log 2 bob: set Service/Pool/Size 64→80",
            ])
    }

    @Test func `Setting what is set already writes nothing`() async throws {
        let first = try await set(.int(64))
        let second = try await set(.int(64))
        #expect(second.sequence == nil && second.header.revision == first.header.revision)
    }

    @Test func `A dry run says what it would do, and writes nothing`() async throws {
        var fleet = bench.fleet()
        fleet.isDryRun = true
        let receipt = try await fleet.set([try bench.assignment(size, .int(64))])
        #expect(receipt.sequence == nil && receipt.changes.count == 1)
        #expect(try await bench.state() == ["no head"])
    }

    @Test func `Reset deletes the value, also one that cannot be read`() async throws {
        _ = try await set(.int(64))
        let other = try TweakPath("Service/Pool/Other")
        try await bench.put(bench.keys.value(other), Array("garbage".utf8))
        _ = try await bench.fleet().reset([try TweakPath(size), other, try TweakPath("Not/There/Yet")])
        #expect(
            try await bench.state() == [
                "head 2 alice: reset Service/Pool/Size and 1 more", "log 1 alice: set Service/Pool/Size (none)→64",
                "log 2 alice: reset Service/Pool/Size 64→(none), Service/Pool/Other (none)→(none)",
            ])
    }

    @Test func `A path that an open rollout holds is refused, naming it`() async throws {
        _ = try await begin(.int(80))
        let text = "Service/Pool/Size: rollout r1 by alice holds it at"
        #expect(await refusal { try await set(.int(1)) }.hasPrefix(text))
        #expect(await refusal { try await bench.fleet().reset([try TweakPath(size)]) }.hasPrefix(text))
        let other = RolloutPlan(id: "r2", assignments: [try bench.assignment(size, .int(1))])
        #expect(await refusal { try await bench.fleet().begin(other) }.hasPrefix(text))
        _ = try await bench.fleet().pause("r1")
        #expect(await refusal { try await set(.int(1)) }.hasPrefix(text))
    }

    @Test func `A standing rule holds nothing, and is mentioned`() async throws {
        _ = try await begin(.int(80), selector: ["zone": "eu"])
        _ = try await bench.fleet().finish("r1")
        let receipt = try await set(.int(1))
        #expect(receipt.notes.contains("Service/Pool/Size: the standing rule r1 still covers it where it applies"))
    }

    @Test func `More than 100 changes are refused with their number, and 100 are one write`() async throws {
        var assignments: [FleetAssignment] = []
        for number in 1...101 { assignments.append(try bench.assignment("A/B/C\(number)", .int(1))) }
        #expect(await refusal { try await bench.fleet().set(assignments) }.contains("101 changes are too many"))
        _ = try await bench.fleet().set(Array(assignments.dropLast()))
        _ = try await bench.fleet().reset(assignments.dropLast().map(\.path))
        #expect(try await bench.fleet().look().values.isEmpty)
    }

    @Test func `More than 256 KiB are refused, and so is a path that comes twice`() async throws {
        let text = TweakValue.string(String(repeating: "x", count: 60_000))
        var assignments: [FleetAssignment] = []
        for number in 1...5 { assignments.append(try bench.assignment("A/B/C\(number)", text)) }
        #expect(await refusal { try await bench.fleet().set(assignments) }.contains("bytes are too many"))
        let twice = [try bench.assignment(size, .int(1)), try bench.assignment(size, .int(2))]
        #expect(await refusal { try await bench.fleet().set(twice) }.contains("is there twice"))
    }

    @Test func `For a while is a rollout of 100 % under a lease, which ends with it`() async throws {
        _ = try await set(.int(64))
        let receipt = try await bench.fleet().set([try bench.assignment(size, .int(80))], seconds: 600)
        #expect(receipt.rollout == "r1")
        #expect(
            try await bench.state().prefix(3) == [
                "head 2 alice: set Service/Pool/Size", "Service/Pool/Size = 64",
                "rollout r1 open 10000 leased: Service/Pool/Size 64→80",
            ])
        let held = try #require(try await bench.fleet().look().rollouts["r1"])
        #expect(try #require(held.value.lifetime) >= 600)
        try await bench.etcd.revokeLease(held.lease)
        #expect(try await bench.fleet().look().rollouts.isEmpty)
    }

    @Test func `What is for a while is not paused, resumed or stepped, and can be finished`() async throws {
        _ = try await bench.fleet().set([try bench.assignment(size, .int(80))], seconds: 600)
        let before = try await bench.state()
        #expect(await refusal { try await bench.fleet().pause("r1") }.contains("is for a while and has no steps"))
        #expect(await refusal { try await bench.fleet().resume("r1") }.contains("finish r1 makes it permanent"))
        #expect(try await bench.state() == before)
        _ = try await bench.fleet().finish("r1")
        #expect(try await bench.fleet().look().value(try TweakPath(size)) == .int(80))
    }

    @Test func `A value under a lease, put by hand, is written again without one`() async throws {
        let lease = try await bench.etcd.grantLease(seconds: 600)
        let record = DesiredValue(value: .int(64), by: "cron", at: 0)
        _ = try await bench.etcd.commit(
            EtcdTransaction(then: [
                .put(key: bench.keys.value(try TweakPath(size)), value: record.bytes, lease: lease.id)
            ]))
        _ = try await set(.int(64))
        try await bench.etcd.revokeLease(lease.id)
        #expect(try await bench.fleet().look().value(try TweakPath(size)) == .int(64))
    }

    // MARK: The log

    @Test func `The log keeps the last 200`() async throws {
        for number in 1...203 { _ = try await set(.int(Int64(number))) }
        let entries = try await bench.fleet().history().entries
        #expect(entries.map(\.sequence) == Array(4...203))
    }

    @Test func `A log that a jump of the counter left too long becomes shorter again`() async throws {
        for number in 1...199 { _ = try await set(.int(Int64(number))) }
        _ = try await bench.fleet().adopt(atLeast: 5_000)
        for number in 1...3 { _ = try await set(.int(Int64(number))) }
        let entries = try await bench.fleet().history().entries
        #expect(entries.count == 200 && entries.last?.sequence == 5_003 && entries.first?.sequence == 4)
    }

    // MARK: Undo

    @Test func `Undo takes back the newest write, and undo again redoes it`() async throws {
        _ = try await set(.int(64))
        _ = try await set(.int(80))
        _ = try await bench.fleet(by: "bob").undo()
        #expect(try await bench.fleet().look().value(try TweakPath(size)) == .int(64))
        _ = try await bench.fleet().undo()
        #expect(
            try await bench.state().suffix(2) == [
                "log 3 bob: undo Service/Pool/Size 80→64", "log 4 alice: undo Service/Pool/Size 64→80",
            ])
    }

    @Test func `Undo of a numbered entry is refused when its value has changed since`() async throws {
        _ = try await set(.int(64))
        _ = try await bench.fleet().set([try bench.assignment("A/B/C", .bool(true))])
        _ = try await bench.fleet().undo(1)
        #expect(try await bench.fleet().look().value(try TweakPath(size)) == nil)
        _ = try await set(.int(70))
        #expect(
            await refusal { try await bench.fleet().undo(1) }
                == "Service/Pool/Size is 70 now, and entry 1 left 64; set it by hand")
    }

    @Test func `What changed no values cannot be undone, and says what to do`() async throws {
        #expect(await refusal { try await bench.fleet().undo() }.hasPrefix("there is nothing to undo"))
        _ = try await begin(.int(80))
        #expect(await refusal { try await bench.fleet().undo() }.hasSuffix("abort r1 takes the rollout back"))
        _ = try await bench.fleet().abort("r1")
        #expect(await refusal { try await bench.fleet().undo() }.hasSuffix("start rollout r1 again instead"))
        #expect(await refusal { try await bench.fleet().undo(9) }.hasPrefix("the log has no entry 9"))
    }

    // MARK: Rollouts

    /// Each rewrite of a rollout, what it leaves, and that its lease stays.
    @Test(arguments: [true, false])
    func `Every verb that rewrites a rollout keeps its lease`(_ isLeased: Bool) async throws {
        let steps = [Share(hundredths: 1_000) ?? .all, .all]
        _ = try await begin(.int(80), steps: steps, lease: isLeased)
        let lease = isLeased ? " leased" : ""
        let changes = ": Service/Pool/Size (none)→80"
        func rollout() async throws -> String { try await bench.state()[1] }
        #expect(try await rollout() == "rollout r1 open 1000 next 1300000\(lease)\(changes)")
        _ = try await bench.fleet().step("r1", from: steps[0], to: .all)
        #expect(try await rollout() == "rollout r1 open 10000 next 1300000\(lease)\(changes)")
        _ = try await bench.fleet().pause("r1")
        #expect(try await rollout() == "rollout r1 paused 10000\(lease)\(changes)")
        _ = try await bench.fleet().resume("r1")
        #expect(try await rollout() == "rollout r1 open 10000 next 1300000\(lease)\(changes)")
        _ = try await bench.fleet().awaitConfirmation("r1", until: 2_000_000)
        #expect(try await rollout() == "rollout r1 open 10000 next 1300000 confirm 2000000\(lease)\(changes)")
        let verbs = try await bench.fleet().history().entries.map(\.verb)
        #expect(verbs == ["rollout", "step", "pause", "resume", "step"])
    }

    @Test func `Finish without a selector makes values, and the rollout is gone`() async throws {
        _ = try await set(.int(64))
        _ = try await begin(.int(80), lease: true)
        _ = try await bench.fleet(by: "bob").finish("r1")
        #expect(
            try await bench.state() == [
                "head 3 bob: finish r1", "Service/Pool/Size = 80", "log 1 alice: set Service/Pool/Size (none)→64",
                "log 2 alice: rollout r1 Service/Pool/Size 64→80", "log 3 bob: finish r1 Service/Pool/Size 64→80",
            ])
        _ = try await bench.fleet().undo()
        #expect(try await bench.fleet().look().value(try TweakPath(size)) == .int(64))
    }

    @Test func `Finish with a selector leaves a standing rule of 100 % without a lease`() async throws {
        _ = try await begin(.int(80), selector: ["zone": "eu"], lease: true)
        _ = try await bench.fleet().finish("r1")
        #expect(try await bench.state()[1] == "rollout r1 done 10000: Service/Pool/Size (none)→80")
        #expect(await refusal { try await bench.fleet().pause("r1") }.contains("is a standing rule"))
        #expect(await refusal { try await bench.fleet().finish("r1") }.contains("is a standing rule already"))
        _ = try await bench.fleet().abort("r1")
        #expect(try await bench.fleet().look().rollouts.isEmpty)
    }

    @Test func `Finish is refused below 100 %, and where the value found is another one now`() async throws {
        let half = Share(hundredths: 5_000) ?? .all
        _ = try await begin(.int(80), steps: [half, .all])
        #expect(await refusal { try await bench.fleet().finish("r1") }.hasPrefix("rollout r1 is at 50"))
        _ = try await bench.fleet().step("r1", from: half, to: .all)
        let byHand = DesiredValue(value: .int(70), by: "etcdctl", at: 0)
        try await bench.put(bench.keys.value(try TweakPath(size)), byHand.bytes)
        #expect(
            await refusal { try await bench.fleet().finish("r1") }.contains("is 70 now, and rollout r1 found (none)"))
        _ = try await bench.fleet().finish("r1", force: true)
        #expect(try await bench.fleet().look().value(try TweakPath(size)) == .int(80))
    }

    @Test func `Abort deletes, also what cannot be read`() async throws {
        _ = try await begin(.int(80))
        _ = try await bench.fleet().abort("r1")
        #expect(
            try await bench.state() == [
                "head 2 alice: abort r1", "log 1 alice: rollout r1 Service/Pool/Size (none)→80",
                "log 2 alice: abort r1 Service/Pool/Size 80→(none)",
            ])
        try await bench.put(bench.keys.rollout("r2"), Array("{".utf8))
        #expect(await refusal { try await bench.fleet().pause("r2") }.contains("abort r2 deletes it"))
        _ = try await bench.fleet().abort("r2")
        #expect(try await bench.fleet().look().garbage.isEmpty)
        #expect(await refusal { try await bench.fleet().abort("r3") }.hasPrefix("there is no rollout “r3”"))
    }

    @Test func `Abort works on an etcd that is out of space, and says that it is not in the log`() async throws {
        _ = try await begin(.int(80))
        let full = bench.fleet()
        bench.etcd.set(.full)
        #expect(await refusal { try await full.pause("r1") }.contains("abort works meanwhile"))
        let receipt = try await full.abort("r1")
        #expect(receipt.sequence == nil && receipt.notes.contains { $0.contains("not in the log") })
        #expect(
            try await bench.state() == [
                "head 1 alice: rollout Service/Pool/Size", "log 1 alice: rollout r1 Service/Pool/Size (none)→80",
            ])
    }

    // MARK: Adopt

    @Test func `Adopt writes a head above all that is known to be applied`() async throws {
        _ = try await set(.int(64))
        try await bench.register("i1") { $0.head = 41 }
        _ = try await bench.fleet().adopt()
        #expect(try await bench.state().first == "head 42 alice: adopt")
        _ = try await bench.fleet().adopt(atLeast: 100)
        #expect(try await bench.state().first == "head 100 alice: adopt")
    }

    @Test func `A head that cannot be read stops writes until adopt`() async throws {
        try await bench.put(bench.keys.head, Array("{".utf8))
        #expect(await refusal { try await set(.int(1)) }.contains("adopt writes a new one"))
        _ = try await bench.fleet().adopt(atLeast: 9)
        _ = try await set(.int(1))
        #expect(try await bench.state().first == "head 10 alice: set Service/Pool/Size")
    }
}
