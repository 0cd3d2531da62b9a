// Tests that clients cannot remove evidence from the audit: similar lines are combined and limited.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

@Suite(.blocking) struct AuditAttackTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func start(maximumSize: Int = 10_485_760, keep: Int = 5) throws -> AuditedRun {
        let run = try AuditedRun(home.file("audit.log"), maximumSize: maximumSize, keep: keep)
        run.time.waitUntilIdle()
        return run
    }

    /// Waits until every note is written and the second after that is over.
    private func settle(_ run: AuditedRun) {
        run.time.waitUntilAsleep(for: .seconds(1))
        run.advance(by: .seconds(1))
    }

    private func lines(_ name: String = "audit.log") -> [String] { home.auditLines(name) }

    /// All lines of a file and of its older versions.
    private func all(_ name: String = "audit.log") -> [String] {
        home.names().filter { $0 == name || $0.hasPrefix("\(name).") }.flatMap(lines)
    }

    private func refusal(_ kind: String, port: Int = 1, path: String? = nil) -> AuditNote {
        AuditNote(
            by: "127.0.0.\(port % 250):\(port)", from: "tcp", peer: "127.0.0.\(port % 250):\(port)",
            session: UInt64(port), kind: kind, isRefusal: true, path.map { [("path", .text($0))] } ?? [])
    }

    @Test(.tags(.quantity)) func aMonthOfRefusalsDoesNotRemoveAnEarlierChange() throws {
        let run = try start(maximumSize: 16_384, keep: 2)
        try run.set(42, by: 1, 0)
        settle(run)
        let evidence = try #require(lines().first { $0.contains(#""by":"uid 0""#) })
        let hours = quantity(24, few: 4)
        let attack = { (days: Int) in
            for _ in 0..<days * hours {
                for port in 1...30 { run.trail.note(refusal("authentication failed", port: port)) }
                for value in 1...15 { try run.set(Double(value)) }
                settle(run)
                run.advance(by: .seconds(86_400 / hours - 1))
            }
        }
        try attack(29)
        // The sets alone have filled the limit many times.
        #expect(all().contains(evidence) && run.reported.isEmpty && run.trail.info.rotations > 2 * hours)
        // Two lines each time: the first at once, and one with the number of the others.
        let refused = all("audit-refused.log")
        #expect(refused.count == 2 * 29 * hours)
        #expect(refused.count { $0.contains(#""kind":"authentication failed","count":30,"since":"#) } == 29 * hours)
        #expect(!all().contains { $0.contains("authentication failed") })
        try attack(3)
        #expect(!all().contains(evidence))
        #expect(run.reported.first?.contains("the audit has dropped the old file \(home.file("audit.log."))") == true)
        let first = try #require(all().first { $0.contains(#""kind":"dropped""#) })
        #expect(first.contains(#""from":"2026-1"#) && first.contains(#""bytes":1"#) && first.contains(#""to":"2026-"#))
        #expect(run.trail.info.dropped > 16_000)
        run.trail.close()
    }

    @Test func anOriginOverItsBudgetSharesLinesAndNoChangeIsMissing() throws {
        let run = try start()
        var count = 0
        let flood = {
            for _ in 0..<1_000 {
                count += 1
                try run.set(Double(count), by: 3)
            }
            settle(run)
            // The commits that were read then have another second.
            run.advance(by: .seconds(1))
        }
        for _ in 0..<20 { try flood() }
        let size = { (home.read("audit.log") ?? "").utf8.count }
        // Each ten seconds two lines, and the lines of the budget.
        #expect((1_000_001..<1_048_576 + 8_000 + 4_096).contains(size()))
        // Each origin has its own budget.
        try run.set(7, by: 1, 0)
        settle(run)
        #expect(lines().contains { $0.contains(#""by":"uid 0""#) })
        run.advance(by: .seconds(10))
        let folded = try #require(lines().first { $0.contains(#""count":"#) })
        #expect(folded.contains(#""kind":"change","count":"#) && folded.contains(#""from revision":"#))
        run.trail.close()
        let folds = lines().compactMap { $0.firstMatch(of: #/"count":(\d+)/#).flatMap { Int($0.1) } }
        // The first change of a fold has a line of its own, too.
        #expect(folds.reduce(lines().count - folds.count) { $0 + $1 - 1 } == count + 1)
        #expect(run.trail.info.folded == folds.reduce(0) { $0 + $1 - 2 } && run.trail.info.leftOut == 0)
    }

    @Test func similarRefusalsWithinAMinuteShareOneLine() throws {
        let run = try start()
        run.trail.note(refusal("authentication failed", port: 2))
        run.time.waitUntilAsleep(for: .seconds(1))
        #expect(lines("audit-refused.log").count == 1)
        for port in 3...9 { run.trail.note(refusal("authentication failed", port: port)) }
        for path in ["A/B/X", "A/B/Y"] { run.trail.note(refusal("denied", path: path)) }
        run.advance(by: .seconds(1))
        // The two denials have different paths.
        #expect(lines("audit-refused.log").count == 3)
        run.advance(by: .seconds(59))
        #expect(lines("audit-refused.log").count == 4)
        let combined = #""session":9,"kind":"authentication failed","count":8,"since":"2026-11-21T09:30:00.123Z""#
        #expect(lines("audit-refused.log").last?.contains(combined) == true)
        run.advance(by: .seconds(1))
        for port in [4, 5] { run.trail.note(refusal("authentication failed", port: port)) }
        run.trail.close()
        #expect(lines("audit-refused.log").count == 6 && lines().isEmpty)
    }

    @Test func refusalsAreLimitedAndChangesAreNot() throws {
        let run = try start(maximumSize: 1_000, keep: 1)
        for number in 0..<300 { run.trail.note(refusal("refused", path: "A/B/\(number)")) }
        settle(run)
        let names = home.names().filter { $0.hasPrefix("audit-refused.log") }
        let size = names.reduce(0) { $0 + (home.read($1) ?? "").utf8.count }
        #expect(size <= 20_000 && size > 12_000)
        let report = "audit-refused.log until its old files can be removed"
        #expect(run.reported.count == 1 && run.reported[0].contains(report))
        #expect(run.trail.info.leftOut > 100 && run.trail.info.state == "written")
        run.advance(by: .seconds(1))
        try run.set(2)
        settle(run)
        #expect(lines().count == 1)
        // A month later there is room again.
        run.advance(by: .seconds(31 * 86_400))
        for path in ["A/B/New"] + (0..<9).map({ "A/C/\($0)" }) { run.trail.note(refusal("refused", path: path)) }
        run.trail.close()
        #expect(all("audit-refused.log").contains { $0.contains("A/C/8") })
        #expect(run.reported.contains { $0.contains("the audit has dropped") })
    }

    /// 5,000 wrong tokens of 1,000 strangers, 2,000 notes of a session that may only read, and what others do meanwhile,
    /// all before the audit thread wakes.
    @Test func strangersAndReadersDisplaceNoRefusalAndNoKick() throws {
        let files = FailingFileSystem()
        let run = try AuditedRun(home.file("audit.log"), files: files)
        run.time.waitUntilIdle()
        let (reached, goOn) = (Gate(), Gate())
        files.plan { $0.kind == .write ? .waits(reached: reached, goOn: goOn) : nil }
        try run.set(2)
        reached.waitBlocking()
        let stranger = { (number: Int) in
            let address = "10.0.\(number % 1_000 / 250).\(number % 250):\(number)"
            run.trail.note(
                AuditNote(
                    by: address, from: "tcp", peer: address, session: UInt64(number), kind: "authentication failed",
                    isRefusal: true, hasRights: false))
        }
        for number in 0..<5_000 {
            stranger(number)
            if number % 250 == 0 { run.note("refused", isRefusal: true, [("path", .text("A/B/\(number / 250)"))]) }
            if number < 2_000 { run.note("dropped", by: "reader", [("scopes", .texts(["write:\(number)"]))]) }
            if number % 300 == 299 { run.note("kicked", by: "admin", [("of", .number(UInt64(number / 300)))]) }
        }
        files.plan(nil)
        goOn.open()
        run.trail.close()
        let (done, refused) = (lines(), lines("audit-refused.log"))
        for number in 0..<20 { #expect(refused.count { $0.hasSuffix(#""path":"A/B/\#(number)"}"#) } == 1, "\(number)") }
        for number in 0..<16 {
            #expect(done.count { $0.hasSuffix(#""kind":"kicked","of":\#(number)}"#) } == 1, "\(number)")
        }
        // Nothing is left out: what has no line of its own is counted.
        let counted = { (kind: String, lines: [String]) in
            let own = lines.filter { $0.contains(#""kind":"\#(kind)""#) }
            let counts = own.compactMap { $0.firstMatch(of: #/"count":(\d+)/#).flatMap { Int($0.1) } }
            return counts.reduce(own.count - counts.count) { $0 + $1 - 1 }
        }
        #expect(counted("authentication failed", refused) == 5_000 && counted("dropped", done) == 2_000)
        #expect(refused.count < 1_100 && run.trail.info.leftOut == 0 && run.trail.info.events == 7_036)
    }

    @Test(arguments: [false, true]) func aFastProgramOnASlowDiskDoesNotDisplaceOthers(hangs: Bool) throws {
        let files = FailingFileSystem()
        let run = try AuditedRun(home.file("audit.log"), files: files)
        run.time.waitUntilIdle()
        let (reached, goOn) = (Gate(), Gate())
        files.plan { $0.kind != .write ? nil : hangs ? .waits(reached: reached, goOn: goOn) : .fails(ENOSPC) }
        try run.set(2, by: 1, 1000)
        if hangs { reached.waitBlocking() } else { run.time.waitUntilAsleep(for: .milliseconds(100)) }
        let tweak = try run.registry.register("A", "B", "Y", 0)
        for round in 1...20 {
            for value in 1...1_500 { tweak.value = round * 10_000 + value }
            try run.set(Double(2 + round), by: 2, UInt32(1000 + round))
        }
        files.plan(nil)
        goOn.open()
        run.trail.close()
        let (all, info) = (lines(), run.trail.info)
        for user in 1000...1020 { #expect(all.count { $0.contains(#""by":"uid \#(user)","#) } == 1, "\(user)") }
        let program = all.filter { $0.contains(#""from":"program""#) }
        #expect(program.contains { $0.contains(#""new":201500"#) })
        #expect(info.leftOut > 10_000 && info.commits + info.leftOut == 30_021)
        let counts = all.compactMap { $0.firstMatch(of: #/"kind":"left out","commits":(\d+),/#).flatMap { Int($0.1) } }
        #expect(counts.reduce(0, +) == info.leftOut)
        // Each commit of the program has a line, shares one, or is counted.
        #expect(program.count + info.folded == 30_000 - info.leftOut)
    }

    @Test(arguments: [false, true]) func anAuditThatOthersCanWriteIsReportedOrRefused(isStrict: Bool) throws {
        chmod(home.path, 0o777)
        let run = try AuditedRun(home.file("audit.log"), isStrict: isStrict)
        try run.set(2)
        run.time.waitUntilAsleep(for: isStrict ? .milliseconds(100) : .seconds(1))
        let problem = "others can write \(home.path) (mode 777); chmod go-w it"
        #expect(run.reported.map { $0.contains(problem) } == [true])
        #expect(lines().count == (isStrict ? 0 : 1))
        #expect(run.trail.info.state.hasPrefix("unwritten: ") == isStrict)
        chmod(home.path, 0o700)
        run.trail.close()
        #expect(lines().count == 1 && run.reported.count == (isStrict ? 2 : 1))
    }
}
