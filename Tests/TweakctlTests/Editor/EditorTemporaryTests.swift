// The editor's model: what lasts only for a while, and the facts that no event tells.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite struct EditorTemporaryTests {
    private static let size = "Content/Text/Size"

    /// The facts of one tweak, temporary or not.
    private static func facts(_ value: Int, _ left: String?) -> String {
        let end = left.map { ",\"temporary\":true,\"timeLeft\":\"\($0)\"" } ?? ""
        return "{\"ok\":true,\"tweaks\":[{\"path\":\"\(size)\",\"kind\":\"number\",\"value\":\(value),\"default\":60,"
            + "\"modified\":\(value != 60),\"min\":10,\"max\":100,\"unit\":\"pt\"\(end)}]}"
    }

    private func row(_ bench: EditorBench) -> String {
        bench.frame().lines.map(\.text).first { $0.contains(" Size ") } ?? ""
    }

    /// Nothing that a server says is too much.
    @Test func numbersBeyondAnyMeasure() throws {
        let facts = """
            {"ok":true,"rev":18446744073709551615,"watching":1,"tweaks":[{"path":"A/B/C","kind":"number","value":60,\
            "default":60,"modified":true,"temporary":true,"timeLeft":"9223372036854775807ns"}]}
            """
        var bench = EditorBench(facts: facts)
        bench.select("A/B/C")
        #expect(bench.frame().text.contains("8760h"))
        for revision in (0..<200).map({ UInt64($0) }) + [UInt64.max, UInt64.max - 1, 1] {
            bench.model.hear(Answer(body: [], status: "ok rev \(revision)", isRefusal: false), for: .deed(""))
        }
        #expect(bench.model.revision == UInt64.max)
    }

    /// Somebody who is not let in is told so, and the name on the screen stays.
    @Test func aGreetingThatIsRefused() {
        var bench = EditorBench()
        bench.lose()
        bench.model.connected()
        bench.model.hear(Answer(body: [], status: "error denied uid 7 is not the user", isRefusal: true), for: .hello)
        #expect(bench.notice == "denied: uid 7 is not the user")
    }

    /// Somebody else set it for a while; the row counts down, and wakes once a second for that.
    @Test func countsDown() throws {
        var bench = EditorBench()
        bench.event("event 5 Content/Text/Size = 72 # was 60 by uid 7")
        bench.answer("get Content/Text/Size", status: Self.facts(72, "1m0.500s"))
        #expect(row(bench).contains("⧗ 1m1s  ← uid 7"))
        #expect(bench.model.nextSecond == bench.start + .milliseconds(500))
        bench.pass(.milliseconds(500))
        #expect(row(bench).contains("⧗ 1m") && !row(bench).contains("⧗ 1m1s"))
        bench.pass(.seconds(50))
        #expect(row(bench).contains("⧗ 10s") && row(bench).contains("████"))
        #expect(bench.model.deadline.map { $0 <= bench.model.now + .seconds(1) } == true)
        bench.pass(.milliseconds(9_500))
        #expect(row(bench).contains("⧗ 1s"))
        bench.pass(.milliseconds(500))
        #expect(!row(bench).contains("⧗") && bench.model.nextSecond == nil)
        bench.event("event 6 Content/Text/Size = 60 # was 72 by expired")
        #expect(row(bench).contains("← expired"))
    }

    /// Nothing wakes for a time that is not in view.
    @Test func onlyInView() {
        var bench = EditorBench(80, 8)
        bench.event("event 5 Content/Text/Size = 72 # was 60 by uid 7")
        bench.answer("get Content/Text/Size", status: Self.facts(72, "60s"))
        #expect(bench.model.nextSecond != nil)
        bench.type("G")
        #expect(bench.model.nextSecond == nil)
    }

    /// However often a tweak changes, one question is under way, and one more follows.
    @Test func oneQuestionAtATime() throws {
        var bench = EditorBench()
        for number in 0..<20 { bench.event("event \(5 + number) Content/Text/Size = \(20 + number) # was 60 by code") }
        bench.event("event 25 Content/Text/String = a # was b by code")
        #expect(bench.lines == ["get Content/Text/Size"])
        bench.answer("get Content/Text/Size", status: Self.facts(39, nil))
        for _ in 0..<2 {
            let line = try #require(bench.lines.first)
            bench.answer(line, status: line.hasSuffix("Size") ? Self.facts(39, nil) : "error unknown-tweak gone")
        }
        #expect(bench.lines.isEmpty)
        // A figure changes all the time, and is never temporary.
        bench.event("event 26 Player/Status/Frames = 30 # was 25 by code")
        #expect(bench.lines.isEmpty)
    }

    /// Many at once are one question for all of them.
    @Test func manyAreReadTogether() {
        let list = (0..<100).map {
            "{\"path\":\"A/B/T\($0)\",\"kind\":\"int\",\"value\":1,\"default\":1,\"modified\":false}"
        }
        var bench = EditorBench(facts: "{\"ok\":true,\"rev\":1,\"tweaks\":[\(list.joined(separator: ","))]}")
        for number in 0..<100 { bench.event("event 2 A/B/T\(number) = 2 # was 1 by code") }
        #expect(bench.lines.count { $0 == "get *" } == 1 && bench.lines.count == 2)
    }

    /// A plain set ends it, at once and without a question.
    @Test func plainSetEndsIt() throws {
        var bench = EditorBench()
        bench.event("event 5 Content/Text/Size = 72 # was 60 by uid 7")
        bench.answer("get Content/Text/Size", status: Self.facts(72, "60s"))
        bench.type("\u{1B}[C")
        let line = try #require(bench.lines.first)
        bench.answer(line, ["Content/Text/Size = 73 # was 72"], status: "ok rev 6")
        bench.event("event 6 Content/Text/Size = 73 # was 72 by uid 0")
        #expect(!row(bench).contains("⧗") && bench.lines.isEmpty)
    }

    /// A lost connection forgets what was asked; the time goes on.
    @Test func survivesALoss() {
        var bench = EditorBench()
        bench.event("event 5 Content/Text/Size = 72 # was 60 by uid 7")
        bench.lose()
        bench.connect()
        bench.event("event 6 Content/Text/Size = 73 # was 72 by uid 7")
        #expect(bench.lines == ["get Content/Text/Size"])
    }

    /// The time in the details is the one of now, though the layers were asked for a while ago.
    @Test func detailsCountDownToo() {
        var bench = EditorBench()
        bench.event("event 5 Content/Text/Size = 72 # was 60 by uid 7")
        bench.answer("get Content/Text/Size", status: Self.facts(72, "60s"))
        bench.pass(.milliseconds(200))
        bench.answer(
            "explain Content/Text/Size", ["  → temporary override 72 by uid 7 at 2026-11-21T10:00:00Z, 1m left"])
        bench.pass(.seconds(20))
        #expect(bench.frame().text.contains("10:00:00Z, 40s left"))
    }

    // MARK: The prompt

    /// In every state of the two fields, the line is a value and a time, or it is not sent.
    @Test(arguments: 0..<16) func fieldsAreNeverMixed(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<50 {
            var bench = EditorBench()
            bench.type("t")
            for _ in 0..<12 {
                let key = ["7", "5s", " ", "for", "\t", "\u{15}", "\u{17}", "\u{7F}", "\u{1B}[D", "\u{1B}[H", "\u{B}"]
                bench.type(key.randomElement(using: &random) ?? "7")
            }
            bench.type("\r")
            guard let line = bench.lines.first else { continue }
            let tokens = CommandText.tokens(line).map(\.text)
            #expect(tokens.count == 5 && tokens[3] == "for", "\(line)")
        }
    }

    @Test func showsTwoFields() {
        var bench = EditorBench(60, 20)
        bench.type("t")
        #expect(row(bench).contains("60       for 10m") && bench.frame().text.contains("Tab how long"))
        let before = bench.frame().cursor
        bench.type("\t")
        #expect(bench.frame().text.contains("Tab the value"))
        #expect((bench.frame().cursor?.column ?? 0) > (before?.column ?? 99))
    }
}
