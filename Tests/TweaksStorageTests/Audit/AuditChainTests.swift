// Tests the links of audit lines: over rotation, restarts and two processes, and what is shipped of them.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct AuditChainTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private var path: String { home.file("audit.log") }

    /// Follows the links through files, oldest first, and returns the last; nil where one does not follow.
    private func head(_ names: [String]) -> String? {
        var head: [UInt8]?
        for line in names.flatMap({ home.lines($0) }) {
            guard let linked = AuditChain.Line(Array(line.utf8)[...]) else { continue }
            guard linked.follows(head ?? AuditChain.start), linked.after.map({ $0 == head ?? AuditChain.start }) ?? true
            else { return nil }
            head = linked.link
        }
        return head.map { String(decoding: $0, as: UTF8.self) }
    }

    @Test func theLinkIsTheDigestThatTheGuideDefines() throws {
        let run = try AuditedRun(path)
        try run.set(2)
        run.trail.close()
        let line = try #require(home.lines("audit.log").first)
        let body = try #require(line.firstMatch(of: /(.*),"chain":"([0-9a-f]{64})"}$/))
        let zeros = String(repeating: "0", count: 64)
        #expect(body.1.hasSuffix(#","new":2,"after":"\#(zeros)""#))
        let digest = SHA256.digest((zeros + body.1).utf8).map { String(format: "%02x", $0) }.joined()
        #expect(digest == body.2 && run.trail.info.head == digest)
    }

    @Test func theChainContinuesOverRotationsAndRestarts() throws {
        for start in 0..<3 {
            let run = try AuditedRun(path, maximumSize: 1_500, keep: 50)
            for value in 0..<12 { try run.setAndWrite(Double(100 * start + value + 2)) }
            run.trail.close()
        }
        let older = home.names().filter { $0.hasPrefix("audit.log.") }.compactMap { Int($0.dropFirst(10)) }.sorted()
        #expect(older.count > 5)
        let names = older.reversed().map { "audit.log.\($0)" } + ["audit.log"]
        #expect(names.flatMap { home.lines($0) }.count == 36)
        // Each file begins with the link before it, so that it can be verified alone.
        for name in names { #expect(home.lines(name).first?.contains(#","after":""#) == true) }
        let run = try AuditedRun(path)
        run.time.waitUntilIdle()
        #expect(head(names) == run.trail.info.head && head(names) != nil)
        run.trail.close()
    }

    @Test func twoProcessesShareOneChain() throws {
        let runs = [try AuditedRun(path, maximumSize: 3_000), try AuditedRun(path, maximumSize: 3_000)]
        for value in 2...21 { for run in runs { try run.setAndWrite(Double(value)) } }
        for run in runs { run.trail.close() }
        let older = home.names().filter { $0.hasPrefix("audit.log.") }.count
        let names = (0..<older).map { "audit.log.\(older - $0)" } + ["audit.log"]
        #expect(older > 1 && names.flatMap { home.lines($0) }.count == 40 && head(names) != nil)
    }

    @Test func tornAndEarlierLinesAreNoPartOfTheChain() throws {
        try home.write("{\"time\":\"2026-11-20T00:00:00.000Z\"}\n", to: "audit.log")
        let first = try AuditedRun(path)
        try first.set(2)
        first.trail.close()
        let torn = try #require(home.read("audit.log")) + "{\"time\":\"2026-11-21"
        try home.write(torn, to: "audit.log")
        let second = try AuditedRun(path)
        try second.set(3)
        second.trail.close()
        #expect(home.lines("audit.log").count == 4 && head(["audit.log"]) == second.trail.info.head)
        #expect(home.lines("audit.log").count { $0.contains(#""after":"#) } == 1)
    }

    // MARK: A write that hangs

    @Test func aWriteThatHangsIsReportedAsBehind() throws {
        let files = FailingFileSystem()
        let run = try AuditedRun(path, files: files)
        run.time.waitUntilIdle()
        let (reached, goOn) = (Gate(), Gate())
        files.plan { $0.kind == .write && $0.numberOfKind == 1 ? .waits(reached: reached, goOn: goOn) : nil }
        try run.set(2)
        reached.waitBlocking()
        try run.set(3)
        run.note("authenticated")
        #expect(run.trail.info.state == "written" && run.trail.info.waiting == 3)
        run.time.advance(by: .milliseconds(200))
        let behind = "behind since 2026-11-21T09:30:00.123Z: a write has not returned, 3 lines wait"
        #expect(run.trail.info.state == behind && run.trail.status.saved == 0)
        goOn.open()
        run.trail.close()
        #expect(run.trail.info.state == "written" && run.trail.info.waiting == 0 && home.lines("audit.log").count == 3)
    }

    // MARK: Shipping

    @Test func linesAreShippedAsSyslogAndJournaldExpectThem() throws {
        let sockets = try ["log", "journal"].map { try BoundSocket(home.file($0), for: .datagrams) }
        let run = try AuditedRun(path, destinations: [.syslog(home.file("log")), .journald(home.file("journal"))])
        run.time.waitUntilIdle()
        try run.setAndWrite(2)
        run.note("denied", isRefusal: true)
        run.trail.close()
        let lines = try #require(home.lines("audit.log").first)
        let process = ProcessInfo.processInfo.processIdentifier
        let syslog = try sockets[0].next()
        #expect(syslog.wholeMatch(of: /<86>[A-Z][a-z]{2} [ 0-9]\d \d\d:\d\d:\d\d probe\[\d+\]: (.*)/)?.1 ?? "" == lines)
        #expect(syslog.contains(" probe[\(process)]: "))
        let fields = "PRIORITY=6\nSYSLOG_FACILITY=10\nSYSLOG_IDENTIFIER=probe\nMESSAGE="
        #expect(try sockets[1].next() == fields + lines + "\n")
        #expect(try sockets[0].next().hasPrefix("<85>"))
        #expect(try sockets[1].next().hasPrefix("PRIORITY=5\n"))
        #expect(run.trail.info.shipped == 4 && run.trail.info.shipLost == 0)
    }

    @Test func linesThatAreNotTakenAreCountedAndALaterLineSaysSo() throws {
        let place = home.file("log")
        let run = try AuditedRun(path, destinations: [.syslog(place)])
        run.time.waitUntilIdle()
        for value in 2...4 { try run.setAndWrite(Double(value)) }
        #expect(run.trail.info.shipLost == 3 && run.trail.info.shipped == 0 && run.trail.info.state == "written")
        let socket = try BoundSocket(place, for: .datagrams)
        for value in 5...6 { try run.setAndWrite(Double(value)) }
        run.trail.close()
        let report = try #require(home.auditLines("audit.log").first { $0.contains("not shipped") })
        #expect(
            report.hasSuffix(#""kind":"not shipped","to":"syslog:\#(place)","lines":3}"#)
                && home.lines("audit.log").count == 6)
        for _ in 1...3 { _ = try socket.next() }
        #expect(head(["audit.log"]) != nil && run.trail.info.shipped == 3)
    }

    /// What one destination loses is no matter of another that is alive.
    @Test func theLossOfOneDestinationIsReportedOnceItIsBack() throws {
        let (alive, dead) = (home.file("log"), home.file("journal"))
        let socket = try BoundSocket(alive, for: .datagrams)
        let run = try AuditedRun(path, destinations: [.syslog(alive), .journald(dead)])
        run.time.waitUntilIdle()
        for value in 2...6 { try run.setAndWrite(Double(value)) }
        #expect(home.lines("audit.log").count == 5 && !home.auditLines("audit.log").contains { $0.contains("shipped") })
        for line in home.lines("audit.log") { #expect(try socket.next().hasSuffix(line)) }
        #expect(run.trail.info.shipped == 5 && run.trail.info.shipLost == 5)
        let back = try BoundSocket(dead, for: .datagrams)
        for value in 7...8 { try run.setAndWrite(Double(value)) }
        run.trail.close()
        let reports = home.auditLines("audit.log").filter { $0.contains("not shipped") }
        #expect(reports.count == 1 && reports[0].hasSuffix(#""to":"journald:\#(dead)","lines":5}"#), "\(reports)")
        for _ in 1...3 { #expect(try back.next().contains("MESSAGE={")) }
    }

    /// Receivers cut long messages, and the link is at the end.
    @Test func aLongLineIsShippedAsItsLink() throws {
        let socket = try BoundSocket(home.file("log"), for: .datagrams)
        let run = try AuditedRun(path, destinations: [.syslog(home.file("log"))])
        let text = try run.registry.register("A", "B", "Word", "")
        text.value = String(repeating: "x", count: 20_000)
        run.trail.close()
        let link = try #require(run.trail.info.head)
        #expect(try socket.next().hasSuffix(#","chain":"\#(link)"}"#))
    }
}
