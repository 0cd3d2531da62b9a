// Tests of reply lines as shown on terminals with different capabilities.

import Testing
import Tweaks
import TweaksSystem

@testable import tweakctl

@Suite struct ReplyFormatterTests {
    private let body = [
        "Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60",
        "Content/Text/Color = #FF8000FF # color", "\"Content/Text/Font Name\" = \"A # \\\" B\" # string",
        "Content/Text/Fade = 2500ms # duration 0s...5s", "Player/Audio/Mute = (action) # action",
        "Player/Audio/Token = (set)", "  a row",
    ]

    @Test func plainLinesAreUnchanged() { #expect(ReplyFormatter(style: .plain).lines(body) == body) }

    @Test func columnsAreAlignedAndValuesGetBars() {
        let formatter = ReplyFormatter(style: Style(isHumanReadable: true, hasColors: false, hasBlocks: true))
        #expect(
            formatter.lines(body) == [
                "● Content/Text/Size        = 72          ██████░░  # number 10...100 step 0.5 pt, default 60",
                "  Content/Text/Color       = #FF8000FF             # color",
                "  \"Content/Text/Font Name\" = \"A # \\\" B\"            # string",
                "  Content/Text/Fade        = 2500ms      ████░░░░  # duration 0s...5s",
                "  Player/Audio/Mute        = (action)              # action",
                "  Player/Audio/Token       = (set)", "  a row",
            ])
    }

    @Test func marksBarsAndSwatchesDependOnTheTerminal() {
        #expect(
            ReplyFormatter(style: Style(isHumanReadable: true)).lines(["A/B/C = 5 # int 0...10, default 1"])
                == ["* A/B/C = 5  ####----  # int 0...10, default 1"])
        #expect(
            ReplyFormatter(style: .full).lines(["A/B/C = #FF800080 # color"]) == [
                "\u{1B}[2mA/B/\u{1B}[0m\u{1B}[1mC\u{1B}[0m\u{1B}[2m = \u{1B}[0m"
                    + "\u{1B}[48;2;128;64;0m  \u{1B}[0m #FF800080  \u{1B}[2m# color\u{1B}[0m"
            ])
    }

    @Test func anEventShowsItsRevisionFirst() {
        let formatter = ReplyFormatter(style: Style(isHumanReadable: true))
        let line = "event 44 Content/Text/Size = 80      # was 72 by uid 1000"
        #expect(formatter.event(line) == "rev 44  Content/Text/Size = 80  # was 72 by uid 1000")
        #expect(formatter.event("event 44 lagged 3") == "event 44 lagged 3")
        #expect(ReplyFormatter(style: .plain).event(line) == line)
    }

    @Test(
        arguments: [
            ("A/B/C = 5 # number 0...10", 0.5), ("A/B/C = 10 # int 0...10, default 1", 1),
            ("A/B/C = -5 # int -10...10 step 5", 0.25), ("A/B/C = 500ms # duration 0s...1s", 0.5),
            ("A/B/C = 5 # number 0...", nil), ("A/B/C = 5 # number ...10", nil), ("A/B/C = 5 # number 3...3", nil),
            ("A/B/C = x # choice x|y", nil), ("A/B/C = 5 # was 3", nil), ("A/B/C = 1e400 # number 0...1", nil),
            ("A/B/C = \"5\" # string up to 3...4 characters", nil), ("A/B/C = 5", nil), ("A/B/C = 5 #", nil),
        ] as [(String, Double?)])
    func theBarShowsThePositionInTheRange(_ line: String, _ fraction: Double?) {
        #expect(TweakRow(line)?.fraction == fraction)
    }

    @Test(arguments: [
        "", " ", "  row", "x", "x =", "x = ", "= 3", "\"open = 3", "\"", "a = b c", "event", "event 3", "event 3 x",
        "event 3 lagged 4", "A/B/C == 3",
    ])
    func otherLinesAreNoTweaks(_ line: String) { #expect(TweakRow(line) == nil) }

    @Test(arguments: [
        "A/B/C = \u{1B}[2J # x", "\u{9B}31m", "  \u{202E}evil\u{7}", "error x \u{1B}]0;t\u{7}", "> > ok \u{8}",
    ])
    func controlCharactersAreReplaced(_ line: String) {
        switch ServerLine(line) {
        case .body(let text), .ok(let text), .error(let text), .event(let text): #expect(Quoting.isSafe(text))
        }
    }

    /// Prompts are skipped in linear time.
    @Test func aLineIsClassifiedByItsFirstWord() {
        #expect(ServerLine("> > ok") == .ok("ok"))
        #expect(ServerLine("okay/b/c = 3") == .body("okay/b/c = 3"))
        #expect(ServerLine("{\"ok\":false,\"error\":{}}") == .error("{\"ok\":false,\"error\":{}}"))
        #expect(ServerLine(String(repeating: "> ", count: 1_000_000) + "ok") == .ok("ok"))
        #expect(ServerLine(">  ok") == .body(" ok"))
    }

    @Test func aRefusalIsItsCodeAndItsText() {
        #expect(
            ReplyFormatter.refusal("error out-of-range A/B/C: 5 is outside 1...2")
                == "out-of-range: A/B/C: 5 is outside 1...2")
        #expect(ReplyFormatter.refusal("error") == "error")
    }

    @Test(arguments: [("abc", 3), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("👍", 2), ("", 0)])
    func aTextHasAWidthInColumns(_ text: String, _ width: Int) { #expect(TextWidth.of(text) == width) }

    @Test func processesAreATable() {
        let processes = [
            RunningProcess(
                socket: NamedSocket(name: "bounce", path: "/bounce"), processID: "4711", tweaks: "14", modified: "2"),
            RunningProcess(
                socket: NamedSocket(name: "b\u{1B}ad", path: "/bad"), processID: nil, tweaks: nil, modified: nil),
        ]
        #expect(
            Listing.table(processes, Style(isHumanReadable: true)) == [
                "NAME     PID  TWEAKS  MODIFIED", "bounce  4711      14         2",
                "b\u{FFFD}ad       -       -         -  does not answer",
            ])
        #expect(Listing.table(processes, .plain)[0] == "bounce  4711  14  2")
    }
}
