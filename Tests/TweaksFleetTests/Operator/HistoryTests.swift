// Tests the history: ends of rollouts that are not in the log, between which times they were, and the JSON.

import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import TweaksFleet

@Suite struct HistoryTests {
    private let harness = OperatorHarness()
    private let clock = ManualClock(wall: 1_000_000)

    /// An operator by the clock.
    private var fleet: FleetOperator {
        FleetOperator(harness.etcd, harness.keys, by: "alice", now: { [clock] in clock.wall }, makeID: { "r1" })
    }

    private func pass(_ seconds: Int64) {
        clock.advance(by: .seconds(seconds))
        harness.etcd.advance(seconds: seconds)
    }

    private func set(_ value: Int64, seconds: Int64? = nil) async throws {
        let assignments = [try harness.assignment("A/B/C", .int(value))]
        guard let seconds else { return _ = try await fleet.set(assignments) }
        _ = try await fleet.set(assignments, seconds: seconds)
    }

    /// Begins a rollout under a lease of 60 seconds; returns the lease.
    private func beginLeased() async throws -> Int64 {
        var plan = try harness.plan("A/B/C", .int(80))
        plan.lease = try await harness.etcd.grantLease(seconds: 60)
        _ = try await fleet.begin(plan)
        return try #require(plan.lease?.id)
    }

    /// The lines in short: `1 set`, or `r1 ended by time 1060000–`.
    private func lines() async throws -> [String] {
        try await fleet.history().lines.map { line in
            switch line {
            case .entry(let entry): return "\(entry.sequence) \(entry.verb)"
            case .end(let end):
                return "\(end.rollout) ended by \(end.cause) \(end.after)–\(end.before.map(String.init) ?? "")"
            }
        }
    }

    @Test func `The end of a temporary value is derived, with the time after which it was`() async throws {
        try await set(80, seconds: 60)
        #expect(try await lines() == ["1 set"])
        pass(70)
        #expect(try await lines() == ["1 set", "r1 ended by time 1060000–"])
        let text = try await harness.run("history", as: fleet).lines
        #expect(text.last == "- rollout r1 ended: its time was over, after 1970-01-01T00:17:40Z", "\(text)")
        #expect(try await harness.run("history A/B/C", as: fleet).lines.count == 3)
        #expect(try await harness.run("history X/Y/Z", as: fleet).lines.isEmpty)
    }

    @Test func `A later write of the path limits the time, and the line is before it`() async throws {
        try await set(80, seconds: 60)
        pass(10)
        _ = try await fleet.set([try harness.assignment("X/Y/Z", .int(1))])
        pass(90)
        try await set(64)
        pass(10)
        #expect(try await lines() == ["1 set", "2 set", "r1 ended by time 1060000–1100000", "3 set"])
        let text = try await harness.run("history", as: fleet).text
        #expect(text.contains("over, between 1970-01-01T00:17:40Z and 1970-01-01T00:18:20Z"), "\(text)")
    }

    @Test func `A rollout that was reverted with its driver is derived, after its last entry`() async throws {
        let lease = try await beginLeased()
        pass(20)
        _ = try await fleet.pause("r1")
        #expect(try await lines() == ["1 rollout", "2 pause"])
        try await harness.etcd.revokeLease(lease)
        pass(5)
        #expect(try await lines() == ["1 rollout", "2 pause", "r1 ended by driver 1020000–"])
    }

    @Test func `A begin with the ID of a rollout that is gone is later than its end`() async throws {
        try await set(80, seconds: 60)
        pass(100)
        try await set(81, seconds: 600)
        #expect(try await lines() == ["1 set", "r1 ended by time 1060000–1100000", "2 set"])
    }

    @Test func `Rollouts that are logged to their end have no other line`() async throws {
        _ = try await beginLeased()
        _ = try await fleet.abort("r1")
        _ = try await beginLeased()
        _ = try await fleet.finish("r1")
        try await set(80, seconds: 60)
        #expect(try await lines() == ["1 rollout", "2 abort", "3 rollout", "4 finish", "5 set"])
    }

    @Test func `A deletion without an entry is told as that`() async throws {
        var plan = try harness.plan("A/B/C", .int(80))
        plan.selector = ["zone": "eu"]
        _ = try await fleet.begin(plan)
        _ = try await fleet.finish("r1")
        pass(5)
        #expect(try await lines() == ["1 rollout", "2 finish"], "a standing rule")
        harness.etcd.setFaults { $0.isFull = true }
        _ = try await fleet.abort("r1")
        harness.etcd.setFaults { $0.isFull = false }
        #expect(try await lines().last == "r1 ended by deletion 1000000–")
        // A temporary value whose time is not over.
        try await set(80, seconds: 600)
        harness.etcd.delete(.key(harness.keys.rollout("r1")))
        pass(100)
        #expect(try await lines().last == "r1 ended by deletion 1005000–")
    }

    @Test func `The JSON has the reason of an entry, and marks what is derived`() async throws {
        _ = try await fleet.begin(harness.plan("A/B/C", .int(80)))
        _ = try await fleet.abort("r1", because: "i1 refuses it")
        try await set(80, seconds: 60)
        pass(70)
        let json = try #require(try await harness.run("history --json", as: fleet).json).elements
        #expect(json.map { $0["why"]?.string } == [nil, "i1 refuses it", nil, "its time was over"])
        #expect(json.map { $0["derived"] } == [.bool(false), .bool(false), .bool(false), .bool(true)])
        #expect(json.last?["rollout"]?.string == "r1" && json.last?["after"]?.wholeNumber == 1_060_000)
    }
}
