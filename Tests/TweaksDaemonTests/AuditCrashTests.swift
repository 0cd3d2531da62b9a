// Kills a process at a reply: acknowledged sets have a value, an audit line and a history entry.

import Foundation
import Synchronization
import Testing
import TweaksTestSupport

@Suite(.blocking) struct AuditCrashTests {
    /// With one client nothing is pending after its last reply; with three the others continue.
    @Test(.enabled(if: Child.exists), .tags(.quantity, .process), arguments: [1, 3], [[], ["required"]])
    func acknowledgedSetsAreRecorded(clients: Int, words: [String]) throws {
        var run = try AuditCrashRun(clients, words, seed: UInt64(20_261_124 + clients))
        for _ in 0..<quantity(100, few: 6) { try run.runOnce() }
        try run.runOnce(isLast: true)
    }

    /// A client spends its budget, sets a value and sets it back, and changes it 2,600 times under two names.
    @Test(.enabled(if: Child.exists), .tags(.process)) func aBuriedChangeSurvivesAKill() throws {
        let directory = try TemporaryDirectory()
        let child = try Child(in: directory.path, [], ["TWEAKS_AUDIT": directory.file("audit.log")])
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        let client = try child.connect()
        let ask = { (lines: [String]) in
            for start in stride(from: 0, to: lines.count, by: 100) {
                let part = lines[start..<min(start + 100, lines.count)]
                try client.send(part.map { $0 + "\n" }.joined())
                for _ in part { #expect(try client.reply().last?.hasPrefix("ok") == true) }
            }
        }
        let letters = ["a", "b"].map { String(repeating: $0, count: 1_500) }
        try ask((0..<360).map { "Probe/String/T0 = \(letters[$0 % 2])" })
        try ask(["Load/Count/C0 = 666", "Load/Count/C0 = 0"])
        try ask((0..<2_600).flatMap { ["as \($0 % 2 == 0 ? "A" : "B")", "Load/Count/C0 = \(1 + $0 % 2)"] })
        child.signal(SIGKILL)
        #expect(try child.waitForEnd() == -SIGKILL)
        let lines = try String(contentsOfFile: directory.file("audit.log"), encoding: .utf8).splitLines()
        let evil = lines.filter { $0.contains(#""path":"Load/Count/C0","old":0,"new":666"#) }
        #expect(evil.count == 1 && lines.count { $0.contains(#""path":"Load/Count/C0""#) } < 20, "\(lines.count)")
    }
}

/// A set with the reply `ok`.
private struct AcknowledgedSet {
    let path: String
    let value: Int
    let revision: UInt64
}

/// The acknowledged sets of several clients.
private final class AcknowledgedSets: Sendable {
    private let list = Mutex<(sets: [AcknowledgedSet], isLate: Bool)>(([], false))

    var all: [AcknowledgedSet] { list.withLock { $0.sets } }
    /// Whether a reply took so long that it may have come before its audit line, as later ones may.
    var isLate: Bool { list.withLock { $0.isLate } }

    /// - Returns: The number of sets.
    func add(_ set: AcknowledgedSet, after time: Duration) -> Int {
        list.withLock { list in
            list.sets.append(set)
            list.isLate = list.isLate || time >= .milliseconds(200)
            return list.sets.count
        }
    }
}

/// One state directory and one audit, one daemon after another, each of them killed.
private struct AuditCrashRun {
    private let directory: TemporaryDirectory
    private let clients: Int
    private let words: [String]
    private var generator: SeededGenerator
    /// Unique for each set.
    private var value = 0
    private var acknowledged = AcknowledgedSets()

    init(_ clients: Int, _ words: [String], seed: UInt64) throws {
        directory = try TemporaryDirectory()
        (self.clients, self.words, generator) = (clients, words, SeededGenerator(seed: seed))
    }

    /// Checks the files of the previous run, and is killed during the next sets.
    mutating func runOnce(isLast: Bool = false) throws {
        let child = try Child(in: directory.path, words, ["TWEAKS_AUDIT": directory.file("audit.log")])
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        try check(try child.connect())
        if isLast { return try child.stop() }
        acknowledged = try drive(child)
        #expect(try child.waitForEnd() == -SIGKILL)
    }

    /// Each client sets its own tweaks once, so the history merges no entries.
    private mutating func drive(_ child: Child) throws -> AcknowledgedSets {
        let deadline = Int.random(in: 1...12, using: &generator)
        let connections = try (0..<clients).map { _ in SendableClient(try child.connect()) }
        let (clients, start, list) = (clients, value, AcknowledgedSets())
        value += 48
        concurrently(clients) { number in
            for index in stride(from: number, to: 48, by: clients) {
                let (path, value) = ("Load/Count/C\(index)", start + index + 1)
                let begin = ContinuousClock.now
                guard let status = try? connections[number].client.ask("\(path) = \(value)").last else { return }
                // On a busy machine the audit can be late, which the reply says.
                if status.contains(" unaudited: ") { continue }
                guard let revision = UInt64(status.dropFirst("ok rev ".count)) else {
                    Issue.record("\(path): \(status)")
                    return
                }
                let set = AcknowledgedSet(path: path, value: value, revision: revision)
                if list.add(set, after: .now - begin) == deadline { return child.signal(SIGKILL) }
            }
        }
        child.signal(SIGKILL)
        return list
    }

    private func check(_ client: TestClient) throws {
        let audit = try String(contentsOfFile: directory.file("audit.log"), encoding: .utf8).splitLines()
            .map(\.withoutLink)
        let history = try client.ask("history 1000")
        let values = Set(try client.ask("export Load"))
        for set in acknowledged.all {
            let (path, end) = (set.path, #","path":"\#(set.path)","old":"#)
            let lines = audit.filter { $0.contains(end) && $0.hasSuffix(#","new":\#(set.value)}"#) }
            // Once, and not restored from the history.
            #expect(
                lines.count == 1 && lines[0].contains(#","revision":\#(set.revision),"by":"uid "#), "\(set) \(lines)")
            #expect(acknowledged.isLate || lines.first?.contains(#""from":"unix socket""#) == true, "\(lines)")
            #expect(
                history.contains {
                    $0.hasPrefix("  rev \(set.revision)  ") && $0.hasSuffix("\(path) \(old(lines)) → \(set.value)")
                },
                "\(set) \(history)")
            #expect(values.contains("\(path) = \(set.value)"), "\(set)")
        }
        if clients == 1, let last = acknowledged.all.last {
            let reply = try client.ask("undo")
            #expect(reply.last?.contains(" undid \(last.revision) by uid ") == true, "\(last) \(reply)")
        }
    }

    private func old(_ lines: [String]) -> Substring {
        lines.first?.firstMatch(of: #/"old":(\d+)/#)?.1 ?? "?"
    }
}
