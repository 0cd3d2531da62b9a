// Tests the export of a fleet's log: its lines, restarts, cut lines, restores, and a history that reads it.

import Testing
import Tweaks

@testable import TweaksFleet

@Suite struct FleetAuditTests {
    private let harness = OperatorHarness()
    private var fleet: FleetOperator { harness.fleet() }

    private func set(_ value: Int64) async throws {
        _ = try await fleet.set([try harness.assignment("A/B/C", .int(value))])
    }

    /// The numbers of entries, and of gaps in parentheses.
    private func numbers(_ lines: [[UInt8]]) -> [String] {
        lines.map { line in
            if let gap = FleetAudit.missing(line[...]) { return "(\(gap.after)–\(gap.before))" }
            return (try? FleetLogEntry(line)).map { "\($0.sequence)" } ?? "?"
        }
    }

    @Test func `Each entry is exported once, over restarts`() async throws {
        for value in 1...3 as ClosedRange<Int64> { try await set(value) }
        var audit = FleetAudit([])
        var file = audit.append(try await fleet.readLog().keys)
        #expect(numbers(file) == ["1", "2", "3"])
        #expect(audit.append(try await fleet.readLog().keys).isEmpty)
        try await set(4)
        // A restart reads what the file has; a line that was cut is none.
        var again = FleetAudit((file + [utf8(#"{"sequence":4,"ve"#)]).map { $0[...] })
        file += again.append(try await fleet.readLog().keys)
        #expect(numbers(file) == ["1", "2", "3", "4"])
    }

    @Test func `Entries that the log has dropped meanwhile are named`() async throws {
        try await set(1)
        var audit = FleetAudit([])
        let file = audit.append(try await fleet.readLog().keys)
        for value in 2...204 as ClosedRange<Int64> { try await set(value) }
        var again = FleetAudit(file.map { $0[...] })
        let new = numbers(again.append(try await fleet.readLog().keys))
        #expect(new.prefix(2) == ["(1–5)", "5"] && new.last == "204" && new.count == 201)
        // An adopted store goes on with another number, and nothing is missing.
        _ = try await fleet.adopt(atLeast: 1_000)
        #expect(numbers(again.append(try await fleet.readLog().keys)) == ["1000"])
    }

    @Test func `After a restore the entries of the other past are exported, too`() async throws {
        try await set(1)
        let snapshot = harness.etcd.snapshot
        try await set(2)
        var audit = FleetAudit([])
        var file = audit.append(try await fleet.readLog().keys)
        harness.etcd.restore(snapshot)
        _ = try await harness.fleet(by: "bob").set([try harness.assignment("A/B/C", .int(7))])
        file += audit.append(try await fleet.readLog().keys)
        #expect(numbers(file) == ["1", "2", "2"])
        let (history, missing) = try await fleet.history(after: Array(file.joined(separator: [0x0A])))
        #expect(history.entries.map(\.by) == ["alice", "alice", "bob"] && missing.isEmpty)
    }

    @Test func `A history has the entries of the export, then those of the log that it lacks`() async throws {
        for value in 1...3 as ClosedRange<Int64> { try await set(value) }
        var audit = FleetAudit([])
        let file = audit.append(try await fleet.readLog().keys)
        for value in 4...210 as ClosedRange<Int64> { try await set(value) }
        let (history, missing) = try await fleet.history(after: Array(file.joined(separator: [0x0A])))
        #expect(history.entries.count == 203 && history.entries.first?.sequence == 1)
        #expect(missing.map { [$0.after, $0.before] } == [[3, 11]])
    }
}
