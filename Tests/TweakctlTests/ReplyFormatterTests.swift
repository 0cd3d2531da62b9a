// Tests of reply lines as shown on terminals with different capabilities.

import Testing
import Tweaks
import TweaksSystem

@testable import tweakctl

@Suite struct ReplyFormatterTests {
    private let answer = Answer(
        body: [
            "Content/Text/Size = 72      # eine Zahl, sonst 60", "Content/Text/Color = #FF8000FF # Farbe",
            "\"Content/Text/Font Name\" = \"A # \\\" B\" # string", "Content/Text/Fade = 2500ms # duration 0s...5s",
            "Player/Audio/Mute = (action) # action", "Player/Audio/Token = (set)", "  a row",
        ], status: "ok", isRefusal: false,
        fields: JSON(
            """
            {"tweaks":[\
            {"path":"Content/Text/Size","kind":"number","value":72,"min":10,"max":100,"default":60,"modified":true},\
            {"path":"Content/Text/Color","kind":"color","value":"#FF8000FF"},\
            {"path":"Content/Text/Font Name","kind":"string","value":"A # \\" B"},\
            {"path":"Content/Text/Fade","kind":"duration","value":"2500ms","min":"0s","max":"5s"},\
            {"path":"Player/Audio/Mute","kind":"action"},\
            {"path":"Player/Audio/Token","kind":"string","value":null,"set":true,"flags":["secret"]}]}
            """))

    private func answer(showing line: String, _ tweak: String) -> Answer {
        Answer(
            body: [line], status: "ok", isRefusal: false,
            fields: JSON("{\"tweaks\":[{\"path\":\"A/B/C\",\(tweak)}]}"))
    }

    @Test func plainLinesAreUnchanged() { #expect(ReplyFormatter(style: .plain).lines(answer) == answer.body) }

    /// The marks, the bars and the colors follow the fields, not the words of the lines.
    @Test func columnsAreAlignedAndValuesGetBars() {
        let formatter = ReplyFormatter(style: Style(isHumanReadable: true, hasColors: false, hasBlocks: true))
        #expect(
            formatter.lines(answer) == [
                "● Content/Text/Size        = 72          ██████░░  # eine Zahl, sonst 60",
                "  Content/Text/Color       = #FF8000FF             # Farbe",
                "  \"Content/Text/Font Name\" = \"A # \\\" B\"            # string",
                "  Content/Text/Fade        = 2500ms      ████░░░░  # duration 0s...5s",
                "  Player/Audio/Mute        = (action)              # action",
                "  Player/Audio/Token       = (set)", "  a row",
            ])
        // Without fields, as from an older server, only columns.
        let old = answer.body.prefix(1) + ["A/B/C = 5 # int 0...10, default 1"]
        #expect(
            formatter.lines(Answer(body: Array(old), status: "ok", isRefusal: false)) == [
                "Content/Text/Size = 72  # eine Zahl, sonst 60", "A/B/C             = 5   # int 0...10, default 1",
            ])
    }

    @Test func marksBarsAndSwatchesDependOnTheTerminal() {
        let count = answer(showing: "A/B/C = 5 # int", #""kind":"int","value":5,"min":0,"max":10,"modified":true"#)
        #expect(ReplyFormatter(style: Style(isHumanReadable: true)).lines(count) == ["* A/B/C = 5  ####----  # int"])
        let color = answer(showing: "A/B/C = #FF800080 # color", ##""kind":"color","value":"#FF800080""##)
        #expect(
            ReplyFormatter(style: .full).lines(color) == [
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
            (#""kind":"number","value":5,"min":0,"max":10"#, 0.5), (#""kind":"int","value":10,"min":0,"max":10"#, 1),
            (#""kind":"int","value":-5,"min":-10,"max":10"#, 0.25),
            (#""kind":"duration","value":"500ms","min":"0s","max":"1s""#, 0.5),
            (#""kind":"number","value":5,"min":0"#, nil), (#""kind":"number","value":5,"max":10"#, nil),
            (#""kind":"number","value":5,"min":3,"max":3"#, nil), (#""kind":"choice","value":"x""#, nil),
            (#""kind":"number","value":5,"was":3"#, nil), (#""kind":"number","value":1e400,"min":0,"max":1"#, nil),
        ] as [(String, Double?)])
    func theBarShowsThePositionInTheRange(_ fields: String, _ fraction: Double?) throws {
        let json = try #require(JSON("{\"path\":\"A/B/C\",\(fields)}"))
        #expect(EditorTweak(json, now: .now)?.fraction == fraction)
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

    @Test(arguments: [
        ("error out-of-range A/B/C: 5 is outside 1...2", "out-of-range: A/B/C: 5 is outside 1...2"), ("error", "error"),
        (#"{"ok":false,"error":{"code":"busy","message":"später"}}"#, "busy: später"),
    ]) func aRefusalIsItsCodeAndItsText(_ status: String, _ text: String) {
        #expect(Answer(body: [], status: status, isRefusal: true).complaint == text)
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
