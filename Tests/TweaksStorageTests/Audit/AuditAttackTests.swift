// Clients that would like the audit to forget: what is alike shares a line, and what was done is not pushed out.

import Foundation
import Testing
import Tweaks
import TweaksStorage
import TweaksTestSupport

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

@Suite("Audit under attack", .blocking)
struct AuditAttackTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func life(maximumSize: Int = 10_485_760, keep: Int = 5) throws -> AuditedLife {
        let life = try AuditedLife(home.file("audit.log"), maximumSize: maximumSize, keep: keep)
        life.time.waitUntilIdle()
        return life
    }

    /// Everything that was noted is written, and the second that follows is over.
    private func settle(_ life: AuditedLife) {
        life.time.waitUntilAsleep(for: .seconds(1))
        life.time.advance(by: .seconds(1))
        life.time.waitUntilAsleep()
    }

    private func lines(_ name: String = "audit.log") -> [String] {
        (home.read(name) ?? "").split(separator: "\n").map { String($0) }
    }

    /// All lines of a file and the older ones behind it.
    private func all(_ name: String = "audit.log") -> [String] {
        home.names().filter { $0 == name || $0.hasPrefix("\(name).") }.flatMap(lines)
    }

    private func refusal(_ kind: String, port: Int = 1, path: String? = nil) -> AuditNote {
        AuditNote(
            by: "127.0.0.\(port % 250):\(port)", from: "tcp", peer: "127.0.0.\(port % 250):\(port)",
            session: UInt64(port), kind: kind, isRefusal: true, path.map { [("path", .text($0))] } ?? [])
    }

    @Test("a month of wrong tokens and of a limited token's sets does not remove an earlier change; what goes is said")
    func month() throws {
        let life = try life(maximumSize: 16_384, keep: 2)
        try life.set(42, by: 1, 0)
        settle(life)
        let evidence = try #require(lines().first { $0.contains(#""by":"uid 0""#) })
        let attack = { (hours: Int) in
            for _ in 0..<hours {
                for port in 1...30 { life.trail.note(refusal("authentication failed", port: port)) }
                for value in 1...15 { try life.set(Double(value)) }
                settle(life)
                life.time.advance(by: .seconds(3_599))
                life.time.waitUntilAsleep()
            }
        }
        try attack(29 * 24)
        #expect(all().contains(evidence))
        #expect(life.reported.isEmpty)
        // The sets alone have filled the old limit many times over.
        #expect(life.trail.facts.rotations > 50)
        // Two lines an hour: the first at once, the others with their number.
        let refused = all("audit-refused.log")
        #expect(refused.count == 2 * 29 * 24)
        #expect(refused.count { $0.contains(#""kind":"authentication failed","count":29,"since":"#) } == 29 * 24)
        #expect(!all().contains { $0.contains("authentication failed") })
        try attack(3 * 24)
        #expect(!all().contains(evidence))
        #expect(life.reported.first?.contains("the audit has dropped \(home.file("audit.log."))") == true)
        let first = try #require(all().first { $0.contains(#""kind":"dropped""#) })
        #expect(first.contains(#""from":"2026-1"#) && first.contains(#""bytes":1"#) && first.contains(#""to":"2026-"#))
        #expect(life.trail.facts.dropped > 16_000)
        life.trail.close()
    }

    @Test(
        "an origin that changes a tweak without end spends its budget; then its changes share lines, and none is missing"
    )
    func budget() throws {
        let life = try life()
        var count = 0
        let flood = {
            for _ in 0..<1_000 {
                count += 1
                try life.set(Double(count), by: 3)
            }
            settle(life)
            // What was taken then has its second, too.
            life.time.advance(by: .seconds(1))
            life.time.waitUntilAsleep()
        }
        for _ in 0..<20 { try flood() }
        let size = (home.read("audit.log") ?? "").utf8.count
        #expect(size > 1_000_000 && size < 1_048_576 + 300 + 4_096)
        // Others have budgets of their own.
        try life.set(7, by: 1, 0)
        settle(life)
        #expect(lines().contains { $0.contains(#""by":"uid 0""#) })
        for _ in 0..<10 {
            life.time.advance(by: .seconds(60))
            life.time.waitUntilAsleep()
        }
        #expect((home.read("audit.log") ?? "").utf8.count < 1_048_576 + 300 + 12 * 4_096)
        let folded = try #require(lines().first { $0.contains(#""count":"#) })
        #expect(folded.contains(#""kind":"change","count":"#) && folded.contains(#""from revision":"#))
        life.trail.close()
        let folds = lines().compactMap { $0.firstMatch(of: #/"count":(\d+)/#).flatMap { Int($0.1) } }
        let others = lines().count - folds.count
        #expect(folds.reduce(others, +) == count + 1)
        #expect(life.trail.facts.folded == folds.reduce(-folds.count, +) && life.trail.facts.leftOut == 0)
    }

    @Test("of what is alike within a minute the first is written at once, and one line has the number of the others")
    func alike() throws {
        let life = try life()
        life.trail.note(refusal("authentication failed", port: 2))
        life.time.waitUntilAsleep(for: .seconds(1))
        #expect(lines("audit-refused.log").count == 1)
        for port in 3...9 { life.trail.note(refusal("authentication failed", port: port)) }
        life.trail.note(refusal("denied", path: "A/B/X"))
        life.trail.note(refusal("denied", path: "A/B/Y"))
        life.time.advance(by: .seconds(1))
        life.time.waitUntilAsleep()
        // What is denied twice is something else each time.
        #expect(lines("audit-refused.log").count == 3)
        life.time.advance(by: .seconds(59))
        life.time.waitUntilAsleep()
        #expect(lines("audit-refused.log").count == 4)
        #expect(
            lines("audit-refused.log").last?.contains(
                #""session":9,"kind":"authentication failed","count":7,"since":"2026-11-21T09:30:00.123Z""#) == true)
        life.time.advance(by: .seconds(1))
        life.time.waitUntilAsleep()
        life.trail.note(refusal("authentication failed", port: 4))
        life.trail.note(refusal("authentication failed", port: 5))
        life.trail.close()
        #expect(lines("audit-refused.log").count == 6 && lines().isEmpty)
    }

    @Test("refusals never take more than their ceiling; then the new ones are left out, and acts are not")
    func ceiling() throws {
        let life = try life(maximumSize: 1_000, keep: 1)
        for number in 0..<300 { life.trail.note(refusal("refused", path: "A/B/\(number)")) }
        settle(life)
        let size = all("audit-refused.log").reduce(0) { $0 + $1.utf8.count + 1 }
        #expect(size <= 20_000 && size > 17_000)
        #expect(life.reported.count == 1 && life.reported[0].contains("audit-refused.log until what is in it is old"))
        #expect(life.trail.facts.leftOut > 100 && life.trail.facts.state == "written")
        life.time.advance(by: .seconds(1))
        life.time.waitUntilAsleep()
        try life.set(2)
        settle(life)
        #expect(lines().count == 1)
        // A month later there is room again.
        life.time.advance(by: .seconds(31 * 86_400))
        life.time.waitUntilAsleep()
        life.trail.note(refusal("refused", path: "A/B/New"))
        for number in 0..<9 { life.trail.note(refusal("refused", path: "A/C/\(number)")) }
        life.trail.close()
        #expect(all("audit-refused.log").contains { $0.contains("A/C/8") })
        #expect(life.reported.contains { $0.contains("the audit has dropped") })
    }

    @Test(
        "a program that sets without end while the disk refuses, or hangs, crowds nobody out; what is missing is counted",
        arguments: [false, true])
    func tooFastForTheDisk(hangs: Bool) throws {
        let files = FailingFileSystem()
        let life = try AuditedLife(home.file("audit.log"), files: files)
        life.time.waitUntilIdle()
        let (reached, goOn) = (Gate(), Gate())
        files.plan { call in
            guard call.kind == .write else { return nil }
            return hangs ? .waits(reached: reached, goOn: goOn) : .fails(ENOSPC)
        }
        try life.set(2, by: 1, 1000)
        if hangs { reached.waitBlocking() } else { life.time.waitUntilAsleep(for: .milliseconds(100)) }
        let tweak = try life.registry.register("A", "B", "Y", 0)
        for round in 1...20 {
            for value in 1...1_500 { tweak.value = round * 10_000 + value }
            try life.set(Double(2 + round), by: 2, UInt32(1000 + round))
        }
        files.plan(nil)
        goOn.open()
        life.trail.close()
        let (all, facts) = (lines(), life.trail.facts)
        for user in 1000...1020 { #expect(all.count { $0.contains(#""by":"uid \#(user)","#) } == 1, "\(user)") }
        let program = all.filter { $0.contains(#""from":"program""#) }
        #expect(program.last?.hasSuffix(#""new":201500}"#) == true)
        #expect(facts.leftOut > 10_000 && facts.commits + facts.leftOut == 30_021)
        let counts = all.compactMap { $0.firstMatch(of: #/"kind":"left out","commits":(\d+),/#).flatMap { Int($0.1) } }
        #expect(counts.reduce(0, +) == facts.leftOut)
        // Each of the program's is there, or shares a line, or is counted.
        #expect(program.count + facts.folded == 30_000 - facts.leftOut)
    }

    @Test("where others can write, that is said once, or nothing is written", arguments: [false, true])
    func exposed(isStrict: Bool) throws {
        chmod(home.path, 0o777)
        let life = try AuditedLife(home.file("audit.log"), isStrict: isStrict)
        try life.set(2)
        life.time.waitUntilAsleep(for: isStrict ? .milliseconds(100) : .seconds(1))
        #expect(life.reported.count == 1)
        #expect(life.reported[0].contains("others can write \(home.path) (mode 777); chmod go-w it"))
        #expect(lines().count == (isStrict ? 0 : 1))
        #expect(life.trail.facts.state.hasPrefix("unwritten: ") == isStrict)
        chmod(home.path, 0o700)
        life.trail.close()
        #expect(lines().count == 1)
        #expect(life.reported.count == (isStrict ? 2 : 1))
    }
}
