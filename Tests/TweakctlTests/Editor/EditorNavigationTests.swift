// Tests of the editor's model: selection, folding, search, presets, and lost connections.

import Testing
import TweaksTestSupport

@testable import tweakctl

@Suite struct EditorNavigationTests {
    private var harness = EditorHarness()

    private var selected: String {
        harness.model.rows.indices.contains(harness.model.cursor)
            ? harness.model.identity(of: harness.model.rows[harness.model.cursor]) : ""
    }

    @Test(arguments: [
        ("", "Content/Text/Size"), ("j", "Content/Text/String"), ("k", "Content/Text"), ("kkkkk", "Content"),
        ("G", "Player/Status/Frames"), ("\u{1B}[6~", "Player/Status/Frames"), ("G\u{1B}[H", "Content"),
        ("\t", "Player/Audio/Mute"), ("\t\t", "Player/Status/Frames"), ("\t\t\u{1B}[Z", "Player/Audio/Mute"),
        // When a group is folded, it is selected instead of the hidden rows.
        ("k\u{1B}[Dj", "Player"), ("kk jj", "Player/Audio"), ("k\u{1B}[D\u{1B}[Cj", "Content/Text/Size"),
        ("k\rj", "Player"),
        ("/mute\r", "Player/Audio/Mute"), ("/mute\u{1B}[B\r", "Player/Audio/Muted"), ("/muted␛", "Player/Audio/Muted"),
        ("/tkn\r", "Player/Audio/Token"), ("m", "Content/Text/Color"), ("mm", "Content/Text/Color"),
    ])
    mutating func keysSelectARow(_ keys: String, _ path: String) {
        harness.type(keys)
        #expect(selected == path)
    }

    @Test mutating func aSearchUnfoldsTheGroupOfItsResult() {
        harness.type("kk ")
        #expect(harness.model.rows.count == 8)
        harness.type("/size\r␛")
        #expect(selected == "Content/Text/Size" && harness.model.rows.count == 14)
        harness.type("G/nothing␛")
        #expect(harness.model.rows.count == 14)
    }

    @Test mutating func theListOfModifiedTweaksIsUpdatedAtOnce() {
        harness.type("m")
        #expect(harness.model.rows.count == 3)
        harness.event("event 5 Content/Text/Color = #000000FF # was #FF8800FF by code")
        #expect(harness.model.rows.isEmpty)
        harness.event("event 6 Content/Text/Size = 72 # was 60 by code")
        #expect(harness.model.rows.count == 3)
        harness.type("␛")
        #expect(harness.model.rows.count == 14)
    }

    @Test(arguments: [8, 11, 15, 24, 40]) func theSelectedRowIsVisible(_ height: Int) {
        var harness = EditorHarness(60, height)
        for key in ["j", "k", "\u{1B}[6~", "\u{1B}[5~", "G"] {
            for _ in 0..<20 {
                harness.type(key)
                let screen = EditorScreen(harness.model, Palette(depth: .none, hasBlocks: true))
                #expect(screen.visibleRows.contains(harness.model.cursor) && screen.frame.lines.count == height)
            }
        }
    }

    @Test mutating func presetsAreComparedDeletedSavedAndSwapped() {
        harness.type("p")
        harness.answer(
            "presets",
            ["  dark  12 tweaks, saved 2026-11-21 by uid 1000", "  light  3 tweaks, saved yesterday by uid 0"])
        harness.type("j")
        guard case .presets(let list) = harness.model.mode else {
            return #expect(Bool(false), "\(harness.model.mode)")
        }
        #expect(list.selected == .init(name: "light", about: "3 tweaks, saved yesterday by uid 0"))
        harness.type("d")
        harness.answer("diff light", ["Content/Text/Size 60 → 72"])
        // Leaving the comparison returns to the presets.
        harness.type("q")
        #expect(harness.frame().lines[1].text.contains("── presets ──"))
        harness.type("qp")
        harness.answer("presets", ["  light  3 tweaks"])
        harness.type("D")
        #expect(harness.frame().text.contains("delete the preset light?"))
        harness.type("y")
        harness.answer("delete light")
        harness.answer("presets", ["  light  3 tweaks"])
        harness.type("s")
        #expect(harness.frame().lines.last?.text.contains("Enter replace") == true)
        harness.type("warm\r")
        harness.answer("save warm", status: "ok")
        harness.answer("presets", ["  light  3 tweaks", "  warm  1 tweak"])
        // The saved preset is selected.
        harness.type("w")
        harness.answer(
            "swap warm",
            status: #"{"ok":true,"rev":9,"swapped":"warm","tweaks":[{"path":"Content/Text/Size","value":72,"was":60}],"#
                + #""text":["Content/Text/Size = 72 # was 60","ok rev 9 getauscht"]}"#)
        #expect(harness.notice == "swapped to warm: Content/Text/Size = 72; p w goes back")
        #expect(harness.model.mode == .browsing)
    }

    @Test mutating func aPresetWithInvalidLinesCanBeLoadedPartly() {
        harness.type("p")
        harness.answer("presets", ["  warm  2 tweaks"])
        harness.type("\r")
        let error = "warm: 1 line does not fit; nothing has changed; load warm partly takes the rest"
        let problem = "line 3: out-of-range Content/Text/Size: 500 is outside 10...100"
        harness.answer(
            "load warm",
            status: #"{"ok":false,"error":{"code":"out-of-range","message":"\#(error)","force":true},"#
                + #""text":["  \#(problem)","error out-of-range \#(error)"]}"#)
        let text = harness.frame().text
        #expect(text.contains("line 3: out-of-range") && text.contains("nothing has changed. Load the rest?"))
        harness.type("y")
        harness.answer(
            "load warm partly",
            ["Content/Text/Color = #FF0000FF # was #FF8800FF", "  Content/Text/Fade keeps its override 1s"],
            status: "ok rev 9 loaded warm")
        #expect(
            harness.notice == "loaded warm: Content/Text/Color = #FF0000FF; Content/Text/Fade keeps its override 1s")
    }

    @Test mutating func aRefusedListOfPresetsIsANotice() {
        harness.type("p")
        harness.answer("presets", status: "error unknown-command “presets” is not a command; type help")
        #expect(harness.notice == "unknown-command: “presets” is not a command; type help")
        #expect(harness.model.mode == .browsing)
    }

    @Test mutating func typedTextSurvivesARestartOfTheServer() throws {
        harness.type("\r\u{15}72\r")
        harness.disconnect()
        #expect(harness.frame().lines[0].text.contains("disconnected, retrying"))
        harness.type("\u{7F}5\r")
        #expect(harness.lines.isEmpty)
        harness.connect(hello: EditorHarness.hello.map { $0.replacing("one", with: "two") })
        #expect(harness.notice == "bounce was restarted")
        harness.type("\r")
        #expect(harness.lines == ["set Content/Text/Size 75"])
    }

    @Test mutating func aLostConnectionDiscardsRequestsInFlight() throws {
        harness.type("\u{1B}[C\u{1B}[C")
        harness.disconnect()
        #expect(try harness.size.shownText == "60")
        harness.type("\u{1B}[C")
        #expect(harness.lines.isEmpty && harness.notice?.hasPrefix("not connected") == true)
        harness.connect()
        #expect(harness.notice == "bounce is back")
        harness.type("\u{1B}[C")
        #expect(harness.lines == ["set Content/Text/Size 60.5"])
    }

    @Test(.tags(.quantity), arguments: 0..<UInt64(quantity(8, few: 1)))
    mutating func anyKeysAndAnswersLeaveAValidScreen(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let keys = [
            "\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[1;2D", "\r", "␛", "␛", "\t", "x", "9", " ", "/", "c", "p", "s",
            "D", "y", "?", "t", "m", "R", "h",
        ]
        let answers = [
            "ok", "ok rev 9", "error bad-value no", "{\"ok\":true,\"tweaks\":[]}", "{", EditorHarness.tweaks,
        ]
        var emulator = ScreenEmulator(columns: 80, rows: 24)
        var renderer = FrameRenderer(palette: Palette(depth: .full, hasBlocks: true))
        for _ in 0..<200 {
            harness.type(keys.randomElement(using: &random) ?? "x")
            if let line = harness.lines.first, Bool.random(using: &random) {
                harness.answer(
                    line, ["  dark  2 tweaks", "Content/Text/Size = 7"],
                    status: answers.randomElement(using: &random) ?? "ok")
            }
            if Int.random(in: 0..<40, using: &random) == 0 {
                harness.disconnect()
                harness.model.connected()
            }
            if Int.random(in: 0..<10, using: &random) == 0 {
                harness.model.size = ScreenSize(
                    columns: .random(in: 20...140, using: &random), rows: .random(in: 2...50, using: &random))
                harness.model.scroll()
                emulator.resize(columns: harness.model.size.columns, rows: harness.model.size.rows)
                renderer.forget()
            }
            harness.advance(by: .milliseconds(Int.random(in: 0..<900, using: &random)))
            let frame = harness.frame()
            emulator.feed(renderer.bytes(for: frame))
            #expect(emulator.text == frame.text && emulator.unknown.isEmpty)
        }
    }
}
