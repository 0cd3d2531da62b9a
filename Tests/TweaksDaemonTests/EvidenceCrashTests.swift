// kill -9 at the moment of an ok: what was answered has its value, its line in the audit and its entry in the history.

import Foundation
import Synchronization
import Testing
import TweaksTestSupport

@Suite(.blocking) struct EvidenceCrashTests {
    /// One client alone, after whose last answer nothing is under way; or three, while the others go on.
    @Test(.enabled(if: Child.exists), .tags(.quantity, .process), arguments: [1, 3], [[], ["required"]])
    func whatWasAnsweredIsOnRecord(clients: Int, words: [String]) throws {
        var run = try EvidenceRun(clients, words, seed: UInt64(20_261_124 + clients))
        for _ in 0..<quantity(100, few: 6) { try run.live() }
        try run.live(isLast: true)
    }
}

/// A set that was answered `ok`.
private struct AnsweredSet {
    let path: String
    let value: Int
    let revision: UInt64
}

/// What several clients were answered.
private final class AnsweredList: Sendable {
    private let list = Mutex<(sets: [AnsweredSet], isLate: Bool)>(([], false))

    var all: [AnsweredSet] { list.withLock { $0.sets } }
    /// A reply has taken so long that it may have gone on without the audit, and so may those behind it.
    var isLate: Bool { list.withLock { $0.isLate } }

    /// - Returns: How many there are now.
    func add(_ set: AnsweredSet, after time: Duration) -> Int {
        list.withLock { list in
            list.sets.append(set)
            list.isLate = list.isLate || time >= .milliseconds(200)
            return list.sets.count
        }
    }
}

/// One state directory and one audit, one daemon after another, each of them killed.
private struct EvidenceRun {
    private let directory: TemporaryDirectory
    private let clients: Int
    private let words: [String]
    private var generator: SeededGenerator
    /// No two sets of a run have the same.
    private var value = 0
    private var answered = AnsweredList()

    init(_ clients: Int, _ words: [String], seed: UInt64) throws {
        directory = try TemporaryDirectory()
        (self.clients, self.words, generator) = (clients, words, SeededGenerator(seed: seed))
    }

    /// One life: checks what the one before has left, and ends in the middle of the next sets.
    mutating func live(isLast: Bool = false) throws {
        let child = try Child(in: directory.path, words, ["TWEAKS_AUDIT": directory.file("audit.log")])
        try #require(try child.waitUntilReady(), "\(child.log.all)")
        try check(try child.connect())
        if isLast { return try child.stop() }
        answered = try drive(child)
        #expect(try child.waitForEnd() == -SIGKILL)
    }

    /// Each client has tweaks of its own, and sets each once: the history merges nothing of it.
    private mutating func drive(_ child: Child) throws -> AnsweredList {
        let deadline = Int.random(in: 1...12, using: &generator)
        let connections = try (0..<clients).map { _ in SentOver(try child.connect()) }
        let (clients, start, list) = (clients, value, AnsweredList())
        value += 48
        concurrently(clients) { number in
            for index in stride(from: number, to: 48, by: clients) {
                let (path, value) = ("Load/Count/C\(index)", start + index + 1)
                let begin = ContinuousClock.now
                guard let status = try? connections[number].client.ask("\(path) = \(value)").last else { return }
                guard let revision = UInt64(status.dropFirst("ok rev ".count)) else {
                    Issue.record("\(path): \(status)")
                    return
                }
                let set = AnsweredSet(path: path, value: value, revision: revision)
                if list.add(set, after: .now - begin) == deadline { return child.signal(SIGKILL) }
            }
        }
        return list
    }

    private func check(_ client: TestClient) throws {
        let audit = try String(contentsOfFile: directory.file("audit.log"), encoding: .utf8).splitLines()
        let history = try client.ask("history 1000")
        let values = Set(try client.ask("export Load"))
        for set in answered.all {
            let (path, end) = (set.path, #","path":"\#(set.path)","old":"#)
            let lines = audit.filter { $0.contains(end) && $0.hasSuffix(#","new":\#(set.value)}"#) }
            // Once, and not from the history: the kernel had it.
            #expect(
                lines.count == 1 && lines[0].contains(#","revision":\#(set.revision),"by":"uid "#), "\(set) \(lines)")
            #expect(answered.isLate || lines.first?.contains(#""from":"unix socket""#) == true, "\(lines)")
            #expect(
                history.contains {
                    $0.hasPrefix("  rev \(set.revision)  ") && $0.hasSuffix("\(path) \(old(lines)) → \(set.value)")
                },
                "\(set) \(history)")
            #expect(values.contains("\(path) = \(set.value)"), "\(set)")
        }
        if clients == 1, let last = answered.all.last {
            let reply = try client.ask("undo")
            #expect(reply.last?.contains(" undid \(last.revision) by uid ") == true, "\(last) \(reply)")
        }
    }

    private func old(_ lines: [String]) -> Substring {
        lines.first?.firstMatch(of: #/"old":(\d+)/#)?.1 ?? "?"
    }
}
