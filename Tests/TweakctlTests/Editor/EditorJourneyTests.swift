// The editor's model: moving, folding, searching, presets, and the end and return of a server.

import Testing
import Tweaks
import TweaksTerminal
import TweaksTestSupport

@testable import tweakctl

@Suite struct EditorJourneyTests {
    private func selected(_ bench: EditorBench) -> String {
        bench.model.rows.indices.contains(bench.model.cursor)
            ? bench.model.identity(of: bench.model.rows[bench.model.cursor]) : ""
    }

    @Test(arguments: [
        ("", "Content/Text/Size"), ("j", "Content/Text/String"), ("k", "Content/Text"), ("kkkkk", "Content"),
        ("G", "Player/Status/Frames"), ("\u{1B}[6~", "Player/Status/Frames"), ("G\u{1B}[H", "Content"),
        ("\t", "Player/Audio/Mute"), ("\t\t", "Player/Status/Frames"), ("\t\t\u{1B}[Z", "Player/Audio/Mute"),
        // Folding hides; what was hidden is selected by its group.
        ("k\u{1B}[Dj", "Player"), ("kk jj", "Player/Audio"), ("k\u{1B}[D\u{1B}[Cj", "Content/Text/Size"),
        ("k\rj", "Player"),
        ("/mute\r", "Player/Audio/Mute"), ("/mute\u{1B}[B\r", "Player/Audio/Muted"), ("/muted␛", "Player/Audio/Muted"),
        ("/tkn\r", "Player/Audio/Token"), ("/nothing␛", "Player/Status/Frames"), ("m", "Content/Text/Color"),
        ("mm", "Content/Text/Color"),
    ])
    func goes(_ keys: String, _ path: String) {
        var bench = EditorBench()
        if keys.hasPrefix("/nothing") { bench.type("G") }
        bench.type(keys)
        if keys == "/nothing␛" { return #expect(bench.model.rows.count == 14) }
        #expect(selected(bench) == path)
    }

    @Test func searchOpensWhatIsFolded() {
        var bench = EditorBench()
        bench.type("kk ")
        #expect(bench.model.rows.count == 8)
        bench.type("/size\r␛")
        #expect(selected(bench) == "Content/Text/Size" && bench.model.rows.count == 14)
    }

    /// What vanishes from the list of modified ones does so at once.
    @Test func onlyModified() {
        var bench = EditorBench()
        bench.type("m")
        #expect(bench.model.rows.count == 3)
        bench.event("event 5 Content/Text/Color = #000000FF # was #FF8800FF by code")
        #expect(bench.model.rows.isEmpty)
        bench.event("event 6 Content/Text/Size = 72 # was 60 by code")
        #expect(bench.model.rows.count == 3)
        bench.type("␛")
        #expect(bench.model.rows.count == 14)
    }

    /// Every row can be reached and is in view, at any size.
    @Test(arguments: [8, 11, 15, 24, 40]) func scrolls(_ height: Int) {
        var bench = EditorBench(60, height)
        for key in ["j", "k", "\u{1B}[6~", "\u{1B}[5~", "G"] {
            for _ in 0..<20 {
                bench.type(key)
                let screen = EditorScreen(bench.model, Palette(depth: .none, hasBlocks: true))
                #expect(screen.visibleRows.contains(bench.model.cursor))
                #expect(screen.frame.lines.count == height)
            }
        }
    }

    // MARK: Presets

    @Test func presets() {
        var bench = EditorBench()
        bench.type("p")
        bench.answer(
            "presets",
            ["  dark  12 tweaks, saved 2026-11-21 by uid 1000", "  light  3 tweaks, saved yesterday by uid 0"])
        bench.type("j")
        guard case .presets(let list) = bench.model.mode else { return #expect(Bool(false), "\(bench.model.mode)") }
        #expect(list.selected == .init(name: "light", about: "3 tweaks, saved yesterday by uid 0"))
        bench.type("d")
        bench.answer("diff light", ["Content/Text/Size 60 → 72"])
        // A page leads back to the presets it is about.
        bench.type("q")
        #expect(bench.frame().lines[1].text.contains("── presets ──"))
        bench.type("qp")
        bench.answer("presets", ["  light  3 tweaks"])
        bench.type("D")
        #expect(bench.frame().text.contains("delete the preset light?"))
        bench.type("y")
        bench.answer("delete light")
        bench.answer("presets", ["  light  3 tweaks"])
        bench.type("s")
        #expect(bench.frame().lines.last?.text.contains("Enter replace") == true)
        bench.type("warm\r")
        bench.answer("save warm", status: "ok")
        bench.answer("presets", ["  light  3 tweaks", "  warm  1 tweak"])
        bench.type("w")
        // What was just saved is selected.
        bench.answer(
            "swap warm", ["Content/Text/Size = 72 # was 60"], status: "ok rev 9 swapped to warm; swap warm goes back")
        #expect(bench.notice == "swapped to warm: Content/Text/Size = 72; p w goes back")
        #expect(bench.model.mode == .browsing)
    }

    /// What does not fit is shown, and the rest can be had.
    @Test func presetsThatDoNotFit() {
        var bench = EditorBench()
        bench.type("p")
        bench.answer("presets", ["  warm  2 tweaks"])
        bench.type("\r")
        bench.answer(
            "load warm", ["  line 3: out-of-range Content/Text/Size: 500 is outside 10...100"],
            status: "error out-of-range warm: 1 line does not fit; nothing has changed; load warm partly takes the rest"
        )
        #expect(
            bench.frame().text.contains("line 3: out-of-range")
                && bench.frame().text.contains("nothing has changed. Load the rest?"))
        bench.type("y")
        bench.answer(
            "load warm partly", ["Content/Text/Color = red # was blue", "  Content/Text/Fade keeps its override 1s"],
            status: "ok rev 9 loaded warm")
        #expect(bench.notice == "loaded warm: Content/Text/Color = red; Content/Text/Fade keeps its override 1s")
    }

    @Test func presetsThatTheServerRefuses() {
        var bench = EditorBench()
        bench.type("p")
        bench.answer("presets", status: "error unknown-command “presets” is not a command; type help")
        #expect(bench.notice == "unknown-command: “presets” is not a command; type help")
        #expect(bench.model.mode == .browsing)
    }

    // MARK: The server's end

    @Test func nothingTypedIsLost() throws {
        var bench = EditorBench()
        bench.type("\r\u{15}72\r")
        bench.lose()
        #expect(bench.frame().lines[0].text.contains("lost, trying again"))
        bench.type("\u{7F}5")
        bench.type("\r")
        #expect(bench.lines.isEmpty)
        bench.connect(hello: EditorBench.hello.map { $0.replacing("one", with: "two") })
        #expect(bench.notice == "bounce was restarted")
        bench.type("\r")
        #expect(bench.lines == ["set Content/Text/Size 75"])
    }

    @Test func theSameServerAgain() throws {
        var bench = EditorBench()
        bench.type("\u{1B}[C\u{1B}[C")
        bench.lose()
        // What was under way may not have arrived.
        #expect(try bench.tweak("Content/Text/Size").shownText == "60")
        bench.type("\u{1B}[C")
        #expect(bench.lines.isEmpty && bench.notice?.hasPrefix("not connected") == true)
        bench.connect()
        #expect(bench.notice == "bounce is back")
        bench.type("\u{1B}[C")
        #expect(bench.lines == ["set Content/Text/Size 60.5"])
    }

    /// Whatever is pressed and whatever comes, there is a screen without a fault in it.
    @Test(.tags(.quantity), arguments: 0..<UInt64(quantity(8, few: 1))) func anything(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        var bench = EditorBench()
        let keys = [
            "\u{1B}[A", "\u{1B}[B", "\u{1B}[C", "\u{1B}[1;2D", "\r", "␛", "␛", "\t", "x", "9", " ", "/", "c", "p", "s",
            "D", "y", "?", "t", "m", "R", "h",
        ]
        let answers = ["ok", "ok rev 9", "error bad-value no", "{\"ok\":true,\"tweaks\":[]}", "{", EditorBench.facts]
        var emulator = ScreenEmulator(columns: 80, rows: 24)
        var renderer = FrameRenderer(palette: Palette(depth: .full, hasBlocks: true))
        for _ in 0..<200 {
            bench.type(keys.randomElement(using: &random) ?? "x")
            if let line = bench.lines.first, Bool.random(using: &random) {
                bench.answer(
                    line, ["  dark  2 tweaks", "Content/Text/Size = 7"],
                    status: answers.randomElement(using: &random) ?? "ok")
            }
            if Int.random(in: 0..<40, using: &random) == 0 {
                bench.lose()
                bench.model.connected()
            }
            if Int.random(in: 0..<10, using: &random) == 0 {
                bench.model.size = ScreenSize(
                    columns: .random(in: 20...140, using: &random), rows: .random(in: 2...50, using: &random))
                bench.model.scroll()
                emulator.resize(columns: bench.model.size.columns, rows: bench.model.size.rows)
                renderer.forget()
            }
            bench.pass(.milliseconds(Int.random(in: 0..<900, using: &random)))
            let frame = bench.frame()
            emulator.feed(renderer.bytes(for: frame))
            #expect(emulator.text == frame.text && emulator.unknown.isEmpty)
        }
    }
}
