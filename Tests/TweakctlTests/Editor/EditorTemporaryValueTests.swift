// Tests of temporary values in the editor, and of the requests that read a tweak again.

import Testing
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite struct EditorTemporaryValueTests {
    private static let getSize = "get Content/Text/Size"
    private var harness = EditorHarness()

    /// A reply with the size, which is temporary if a time is left.
    private static func size(_ value: Int, _ left: String?) -> String {
        let end = left.map { ",\"temporary\":true,\"timeLeft\":\"\($0)\"" } ?? ""
        return "{\"ok\":true,\"tweaks\":[{\"path\":\"Content/Text/Size\",\"kind\":\"number\",\"value\":\(value),"
            + "\"default\":60,\"modified\":\(value != 60),\"min\":10,\"max\":100,\"unit\":\"pt\"\(end)}]}"
    }

    /// Another user sets the size for some time.
    private func temporary(_ left: String, _ columns: Int = 80, _ rows: Int = 24) -> EditorHarness {
        var harness = EditorHarness(columns, rows)
        harness.event("event 5 Content/Text/Size = 72 # was 60 by uid 7")
        harness.answer(Self.getSize, status: Self.size(72, left))
        return harness
    }

    @Test func extremeNumbersOfAServerAreHandled() throws {
        let tweaks = """
            {"ok":true,"rev":18446744073709551615,"watching":1,"tweaks":[{"path":"A/B/C","kind":"number","value":60,\
            "default":60,"modified":true,"temporary":true,"timeLeft":"9223372036854775807ns"}]}
            """
        var harness = EditorHarness(tweaks: tweaks)
        harness.select("A/B/C")
        #expect(harness.frame().text.contains("8760h"))
        for revision in (0..<200).map({ UInt64($0) }) + [UInt64.max, UInt64.max - 1, 1] {
            harness.model.receive(Answer(body: [], status: "ok rev \(revision)", isRefusal: false), for: .command(""))
        }
        #expect(harness.model.revision == UInt64.max)
    }

    @Test mutating func aRefusedGreetingIsANotice() {
        harness.disconnect()
        harness.model.connected()
        let answer = Answer(body: [], status: "error denied uid 7 is not the user", isRefusal: true)
        harness.model.receive(answer, for: .hello)
        #expect(harness.notice == "denied: uid 7 is not the user")
    }

    /// The model asks to be called each second while a time is shown.
    @Test func aRowCountsDown() throws {
        var harness = temporary("1m0.500s")
        #expect(harness.row("Size").contains("⧗ 1m1s  ← uid 7"))
        #expect(harness.model.nextSecond == harness.start + .milliseconds(500))
        harness.advance(by: .milliseconds(500))
        #expect(harness.row("Size").contains("⧗ 1m") && !harness.row("Size").contains("⧗ 1m1s"))
        harness.advance(by: .seconds(50))
        #expect(harness.row("Size").contains("⧗ 10s") && harness.row("Size").contains("████"))
        #expect(harness.model.deadline.map { $0 <= harness.model.now + .seconds(1) } == true)
        harness.advance(by: .milliseconds(9_500))
        #expect(harness.row("Size").contains("⧗ 1s"))
        harness.advance(by: .milliseconds(500))
        #expect(!harness.row("Size").contains("⧗") && harness.model.nextSecond == nil)
        harness.event("event 6 Content/Text/Size = 60 # was 72 by expired")
        #expect(harness.row("Size").contains("← expired"))
    }

    @Test func aHiddenRowDoesNotCountDown() {
        var harness = temporary("60s", 80, 8)
        #expect(harness.model.nextSecond != nil)
        harness.type("G")
        #expect(harness.model.nextSecond == nil)
    }

    @Test func detailsCountDownWithoutAnotherRequest() {
        var harness = temporary("60s")
        harness.advance(by: .milliseconds(200))
        harness.answer(
            "explain Content/Text/Size", ["  → temporary override 72 by uid 7 at 2026-11-21T10:00:00Z, 1m left"])
        harness.advance(by: .seconds(20))
        #expect(harness.frame().text.contains("by uid 7 3 min ago, 40s left"))
    }

    @Test mutating func oneRequestIsInFlightAndOneMoreFollows() throws {
        for value in 20..<40 { harness.event("event \(value) Content/Text/Size = \(value) # was 60 by code") }
        harness.event("event 40 Content/Text/String = a # was b by code")
        #expect(harness.lines == [Self.getSize])
        harness.answer(Self.getSize, status: Self.size(39, nil))
        for _ in 0..<2 {
            let line = try #require(harness.lines.first)
            harness.answer(line, status: line == Self.getSize ? Self.size(39, nil) : "error unknown-tweak gone")
        }
        #expect(harness.lines.isEmpty)
        // A read-only tweak changes often, and is never temporary.
        harness.event("event 41 Player/Status/Frames = 30 # was 25 by code")
        #expect(harness.lines.isEmpty)
    }

    @Test func manyChangesCauseOneRequestForAllTweaks() {
        let list = (0..<100).map {
            "{\"path\":\"A/B/T\($0)\",\"kind\":\"int\",\"value\":1,\"default\":1,\"modified\":false}"
        }
        var harness = EditorHarness(tweaks: "{\"ok\":true,\"rev\":1,\"tweaks\":[\(list.joined(separator: ","))]}")
        for number in 0..<100 { harness.event("event 2 A/B/T\(number) = 2 # was 1 by code") }
        #expect(harness.lines.count { $0 == "get *" } == 1 && harness.lines.count == 2)
    }

    @Test func aPlainSetEndsTheTimeWithoutARequest() throws {
        var harness = temporary("60s")
        harness.type("\u{1B}[C")
        harness.answer(try #require(harness.lines.first), ["Content/Text/Size = 73 # was 72"], status: "ok rev 6")
        harness.event("event 6 Content/Text/Size = 73 # was 72 by uid 0")
        #expect(!harness.row("Size").contains("⧗") && harness.lines.isEmpty)
    }

    @Test mutating func aLostConnectionForgetsRequestsInFlight() {
        harness.event("event 5 Content/Text/Size = 72 # was 60 by uid 7")
        harness.disconnect()
        harness.connect()
        harness.event("event 6 Content/Text/Size = 73 # was 72 by uid 7")
        #expect(harness.lines == [Self.getSize])
    }

    /// A request has a value and a duration, or is not sent.
    @Test(arguments: 0..<16) func anyKeysKeepTheFieldsApart(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let keys = ["7", "5s", " ", "for", "\t", "\u{15}", "\u{17}", "\u{7F}", "\u{1B}[D", "\u{1B}[H", "\u{B}"]
        for _ in 0..<50 {
            var harness = EditorHarness(keys: "t")
            for _ in 0..<12 { harness.type(keys.randomElement(using: &random) ?? "7") }
            harness.type("\r")
            guard let line = harness.lines.first else { continue }
            let tokens = CommandText.tokens(line).map(\.text)
            #expect(tokens.count == 5 && tokens[3] == "for", "\(line)")
        }
    }

    @Test func thePromptHasTwoFields() {
        var harness = EditorHarness(60, 20, keys: "t")
        #expect(harness.row("Size").contains("60       for 10m") && harness.frame().text.contains("Tab duration"))
        let before = harness.frame().cursor
        harness.type("\t")
        #expect(harness.frame().text.contains("Tab the value"))
        #expect((harness.frame().cursor?.column ?? 0) > (before?.column ?? 99))
    }
}
