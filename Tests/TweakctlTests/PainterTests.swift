// How lines look on a terminal, with and without what a terminal can do.

import Testing
import Tweaks
import TweaksTerminal

@testable import tweakctl

@Suite struct PainterTests {
    private let body = [
        "Content/Text/Size = 72      # number 10...100 step 0.5 pt, default 60",
        "Content/Text/Color = #FF8000FF # color", "\"Content/Text/Font Name\" = \"A # \\\" B\" # string",
        "Content/Text/Fade = 2500ms # duration 0s...5s", "Player/Audio/Mute = (action) # action",
        "Player/Audio/Token = (set)", "  a row",
    ]

    @Test func plain() { #expect(Painter(style: .plain).lines(body) == body) }

    @Test func withoutColors() {
        let painter = Painter(style: Style(isForPeople: true, hasColors: false, hasBlocks: true))
        #expect(
            painter.lines(body) == [
                "● Content/Text/Size        = 72          ██████░░  # number 10...100 step 0.5 pt, default 60",
                "  Content/Text/Color       = #FF8000FF             # color",
                "  \"Content/Text/Font Name\" = \"A # \\\" B\"            # string",
                "  Content/Text/Fade        = 2500ms      ████░░░░  # duration 0s...5s",
                "  Player/Audio/Mute        = (action)              # action",
                "  Player/Audio/Token       = (set)", "  a row",
            ])
    }

    @Test func inASCII() {
        let painter = Painter(style: Style(isForPeople: true))
        let line = "A/B/C = 5 # int 0...10, default 1"
        #expect(painter.lines([line]) == ["* A/B/C = 5  ####----  # int 0...10, default 1"])
    }

    @Test func inColors() {
        #expect(
            Painter(style: .full).lines(["A/B/C = #FF800080 # color"]) == [
                "\u{1B}[2mA/B/\u{1B}[0m\u{1B}[1mC\u{1B}[0m\u{1B}[2m = \u{1B}[0m"
                    + "\u{1B}[48;2;128;64;0m  \u{1B}[0m #FF800080  \u{1B}[2m# color\u{1B}[0m"
            ])
    }

    @Test func events() {
        let painter = Painter(style: Style(isForPeople: true))
        let line = "event 44 Content/Text/Size = 80      # was 72 by uid 1000"
        #expect(painter.event(line) == "rev 44  Content/Text/Size = 80  # was 72 by uid 1000")
        #expect(painter.event("event 44 lagged 3") == "event 44 lagged 3")
        #expect(Painter(style: .plain).event(line) == line)
    }

    @Test(
        arguments: [
            ("A/B/C = 5 # number 0...10", 0.5), ("A/B/C = 10 # int 0...10, default 1", 1),
            ("A/B/C = -5 # int -10...10 step 5", 0.25), ("A/B/C = 500ms # duration 0s...1s", 0.5),
            ("A/B/C = 5 # number 0...", nil), ("A/B/C = 5 # number ...10", nil), ("A/B/C = 5 # number 3...3", nil),
            ("A/B/C = x # choice x|y", nil), ("A/B/C = 5 # was 3", nil), ("A/B/C = 1e400 # number 0...1", nil),
            ("A/B/C = \"5\" # string up to 3...4 characters", nil), ("A/B/C = 5", nil), ("A/B/C = 5 #", nil),
        ] as [(String, Double?)])
    func fractions(_ line: String, _ fraction: Double?) { #expect(TweakRow(line)?.fraction == fraction) }

    @Test(arguments: [
        "", " ", "  row", "x", "x =", "x = ", "= 3", "\"open = 3", "\"", "a = b c", "event", "event 3", "event 3 x",
        "event 3 lagged 4", "A/B/C == 3",
    ])
    func otherForms(_ line: String) { #expect(TweakRow(line) == nil) }

    /// Whatever a stranger in a server's place sends, no control character gets through.
    @Test func hostileLines() {
        let lines = [
            "A/B/C = \u{1B}[2J # x", "\u{9B}31m", "  \u{202E}evil\u{7}", "error x \u{1B}]0;t\u{7}", "> > ok \u{8}",
        ]
        for line in lines {
            switch ServerLine(line) {
            case .body(let text), .ok(let text), .error(let text), .event(let text): #expect(Quoting.isSafe(text))
            }
        }
        #expect(ServerLine("> > ok") == .ok("ok"))
        #expect(ServerLine("okay/b/c = 3") == .body("okay/b/c = 3"))
        #expect(ServerLine("{\"ok\":false,\"error\":{}}") == .error("{\"ok\":false,\"error\":{}}"))
    }

    /// However many prompts there are, they cost no more than their bytes.
    @Test func prompts() {
        #expect(ServerLine(String(repeating: "> ", count: 1_000_000) + "ok") == .ok("ok"))
        #expect(ServerLine(">  ok") == .body(" ok"))
    }

    @Test func refusals() {
        #expect(
            Painter.refusal("error out-of-range A/B/C: 5 is outside 1...2") == "out-of-range: A/B/C: 5 is outside 1...2"
        )
        #expect(Painter.refusal("error") == "error")
    }

    @Test(arguments: [("abc", 3), ("日本", 4), ("é", 1), ("e\u{301}", 1), ("👍", 2), ("", 0)])
    func widths(_ text: String, _ width: Int) { #expect(TextWidth.of(text) == width) }

    @Test func tableOfProcesses() {
        func neighbour(_ name: String, _ tweaks: String?) -> Neighbour {
            Neighbour(
                socket: NamedSocket(name: name, path: "/\(name)"), processID: tweaks == nil ? nil : "4711",
                tweaks: tweaks, modified: tweaks == nil ? nil : "2")
        }
        let neighbours = [neighbour("bounce", "14"), neighbour("b\u{1B}ad", nil)]
        #expect(
            Listing.table(neighbours, Style(isForPeople: true)) == [
                "NAME     PID  TWEAKS  MODIFIED", "bounce  4711      14         2",
                "b\u{FFFD}ad       -       -         -  does not answer",
            ])
        #expect(Listing.table(neighbours, .plain)[0] == "bounce  4711  14  2")
    }
}
