// Tests of the editor's screens, as text, at several sizes and in every mode.

import Testing
import Tweaks

@testable import tweakctl

@Suite struct EditorScreenTests {
    /// Compares a screen, without the spaces at the ends of lines.
    private func expect(_ harness: EditorHarness, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(harness.frame().text == text, sourceLocation: sourceLocation)
    }

    @Test func aUsualTerminalShowsTheListAndTheDetails() {
        var harness = EditorHarness()
        harness.event("event 5 Content/Text/Alignment = right # was left by uid 1000")
        harness.answer("get Content/Text/Alignment", status: "error unknown-tweak gone")
        harness.advance(by: .seconds(1))
        harness.answer(
            "explain Content/Text/Size",
            ["    default            60  by code at 2026-11-21T10:00:00Z", "  → override           60  by uid 0"])
        expect(
            harness,
            """
             bounce  pid 4711  9 tweaks  2 modified  rev 5  /run/bounce.sock         ● live
             ▾ Content  2 modified
               ▾ Text
            ▌       Size       60 pt         ██████░░░░
                    String     "Tweaks"
                  ● Color         #FF8800FF
                  ● Alignment  right                     ← uid 1000
                    Font Name  "Avenir Next"
             ▾ Player
               ▾ Audio
                    Mute       (action)
                    Muted      false
                    Token      (unset)
               ▾ Status
                    Frames     25
            ── Content/Text/Size ───────────────────────────────────────────────────────────
             Label size
             number 10…100, step 0.5, pt, default 60
             → override 60 by uid 0
               default 60 by code 3 min ago



             ← → change  Enter type  u undo  / search  p presets  ? help  q quit
            """)
    }

    @Test func aNarrowTerminalShowsNoBars() {
        let harness = EditorHarness(44, 15, keys: "j")
        expect(
            harness,
            """
             bounce  pid 4711  9 tweaks  rev 4   ● live
             ▾ Content  1 modified
              ▾ Text
                  Size       60 pt
            ▌     String     "Tweaks"
                ● Color         #FF8800FF
                  Alignment  left
                  Font Name  "Avenir Next"
             ▾ Player
            ── Content/Text/String ─────────────────────
             string, default "Tweaks"



             Enter type  / search  ? help  q quit
            """)
    }

    @Test func aWideTerminalShowsTheDetailsBesideTheList() {
        let harness = EditorHarness(110, 18, keys: "jjj")
        expect(
            harness,
            """
             bounce  pid 4711  9 tweaks  1 modified  rev 4  /run/bounce.sock                                       ● live
             ▾ Content  1 modified                                           │ Content/Text/Alignment
               ▾ Text                                                        │
                    Size       60 pt         ███░░░                          │ choice
                    String     "Tweaks"                                      │ default left
                  ● Color         #FF8800FF                                  │
            ▌       Alignment  left                                          │ ● left
                    Font Name  "Avenir Next"                                 │   center
             ▾ Player                                                        │   right
               ▾ Audio                                                       │
                    Mute       (action)                                      │
                    Muted      false                                         │
                    Token      (unset)                                       │
               ▾ Status                                                      │
                    Frames     25                                            │
                                                                             │

             ← → change  Space next  Enter type  u undo  t temporary  / search  m modified  p presets  ? help  q quit
            """)
    }

    @Test func searchShowsPathsAndItsPrompt() {
        let harness = EditorHarness(40, 8, keys: "/s")
        expect(
            harness,
            """
             bounce  pid 4711  9 tweaks      ● live
            ▌   Content/Text/Size   60 pt
                Content/Text/Stri…  "Tweaks"
                Player/Status/Fra…  25
                Player/Audio/Mute   (action)

             / s                             4 of 9
             Enter keep  Escape all  ↑ ↓ choose
            """)
        #expect(harness.frame().cursor == .init(row: 6, column: 4))
    }

    @Test func aRefusedValueIsExplainedBelowTheList() {
        var harness = EditorHarness(60, 11, keys: "\r\u{15}500\r")
        harness.answer(
            "set Content/Text/Size 500",
            status: "error out-of-range Content/Text/Size: 500 is outside 10...100; write a number of that range")
        expect(
            harness,
            """
             bounce  pid 4711  9 tweaks  1 modified  rev 4       ● live
             ▾ Content  1 modified
               ▾ Text
            ▌       Size       500
                    String     "Tweaks"
                  ● Color         #FF8800FF
                    Alignment  left
            ── Content/Text/Size ───────────────────────────────────────
             Content/Text/Size: 500 is outside 10...100; write a number
             of that range
             Enter set  Escape leave
            """)
        #expect(harness.frame().cursor == .init(row: 3, column: 22))
    }

    @Test func aRefusedValueIsExplainedBesideIfThereIsRoom() {
        var harness = EditorHarness(110, 16, keys: "\r\u{15}500\r")
        harness.answer("set Content/Text/Size 500", status: "error out-of-range 500 is outside 10...100")
        #expect(harness.frame().lines[3].text.contains("500           500 is outside 10...100"))
    }

    @Test func aColorShowsItsChannels() {
        var harness = EditorHarness(80, 12, keys: "jjc")
        #expect(harness.frame().lines[9].text.hasPrefix("      >R 255  G 136  B 0  A 255"))
        harness.model.size = ScreenSize(columns: 80, rows: 24)
        let lines = harness.frame().lines
        #expect(lines[17].text.trimmedAtEnd == " ▌R 255 " + String(repeating: "█", count: 34))
        #expect(lines[19].text.trimmedAtEnd == "  B   0 " + String(repeating: "░", count: 34))
    }

    @Test func presetsReplaceTheList() {
        var harness = EditorHarness(60, 9, keys: "p")
        harness.answer("presets", ["  dark   12 tweaks, saved 2026-11-21 by uid 1000", "  light  3 tweaks"])
        expect(
            harness,
            """
             bounce  pid 4711  9 tweaks  1 modified  rev 4       ● live
            ── presets ─────────────────────────────────────── 1 of 2 ──
            ▌ dark   12 tweaks, saved 2026-11-21 by uid 1000
              light  3 tweaks




             Enter load  s save as  w swap  d compare  Escape back
            """)
    }

    @Test func helpIsWrappedAndScrolls() {
        let harness = EditorHarness(50, 12, keys: "?\u{1B}[6~")
        expect(
            harness,
            """
             bounce  pid 4711  9 tweaks  1 modified    ● live
            ── keys ──────────────────────────── 8–15 of 77 ──

             Changing values
               ← →              change the value by its step;
                                fold a group
               Shift-← Shift-→  change the value by ten steps
               Alt-← Alt-→      change the value by a tenth
                                of a step, if no step is
                                declared

             ↑ ↓ scroll  PgUp PgDn page  Escape back
            """)
    }

    @Test(arguments: [(39, 24), (80, 7), (10, 3), (1, 1)])
    func aSmallTerminalShowsTheRequiredSize(_ columns: Int, _ rows: Int) {
        let frame = EditorHarness(columns, rows).frame()
        #expect(frame.lines.count == rows && frame.lines.allSatisfy { $0.width == columns })
        if columns > 20 { #expect(frame.text.hasPrefix("tweakctl needs 40 × 8; this is \(columns) × \(rows).")) }
    }

    @Test(arguments: ["", "j", "c", "/x", "?", "jjc", "\r", "Gk\r"]) func aScreenFillsItsSize(_ keys: String) {
        var harness = EditorHarness(keys: keys)
        for columns in [20, 39, 40, 59, 60, 99, 100, 150] {
            for rows in [2, 8, 11, 15, 16, 22, 34] {
                harness.model.size = ScreenSize(columns: columns, rows: rows)
                harness.model.scroll()
                let frame = harness.frame()
                #expect(frame.lines.count == rows && frame.lines.allSatisfy { $0.width == columns })
                if let cursor = frame.cursor { #expect(cursor.row < rows && cursor.column < columns) }
            }
        }
    }

    @Test(arguments: [80, 120]) func controlCharactersAreReplacedAndWideTextKeepsTheColumns(_ columns: Int) {
        let tweaks = """
            {"ok":true,"rev":4,"tweaks":[{"path":"日本/語/名前","kind":"string","value":"\\u001b[2J\\u202eevil","default":"",\
            "modified":true,"help":"\\u001b]0;x\\u0007","unit":"\\u009b1m"},\
            {"path":"日本/語/e\u{301}","kind":"choice","value":"\\u001b[31m","choices":[{"name":"\\u001b[31m"}]}]}
            """
        var harness = EditorHarness(columns, 24, tweaks: tweaks)
        harness.event("event 5 日本/語/é = \"\\u001b[31m\" # was x by \u{1B}[5mme")
        for keys in ["", "j", "\r", "␛/\u{1B}[200~\u{1B}]x\u{1B}[201~"] {
            harness.type(keys)
            let text = harness.frame().text
            #expect(Quoting.isSafe(text.replacing("\n", with: "")), "\(text)")
        }
        #expect(harness.frame().lines.allSatisfy { $0.width == columns })
    }

    @Test(arguments: [
        ("Tab Shift-Tab", 20, ["Tab Shift-Tab"]), ("one two three", 8, ["one two", "three"]),
        ("日本語日本語", 4, ["日本", "語日", "本語"]), ("", 5, [""]), ("a verylongword b", 6, ["a", "verylo", "ngword", "b"]),
    ])
    func textIsWrapped(_ text: String, _ width: Int, _ lines: [String]) { #expect(text.wrapped(to: width) == lines) }

    @Test(arguments: [
        ("short", 8, "short"), ("a long text", 6, "a lon…"), ("日本語", 4, "日…"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"), ("blank     ", 6, "blank"), ("x", 0, ""),
    ])
    func textIsTruncated(_ text: String, _ columns: Int, _ fitted: String) {
        #expect(text.fitted(to: columns) == fitted)
    }

    /// Although the search was typed without diacritics.
    @Test(
        arguments: [
            ("grosse", "A/Größe", [2, 3, 4, 5, 6]), ("cafe", "Café/X/Y", [0, 1, 2, 3]), ("MÜT", "Mute", [0, 1, 2]),
            ("s", "ß", [0]), ("zzz", "Größe", []),
        ] as [(String, String, Set<Int>)])
    func matchesOfASearchAreMarked(_ search: String, _ text: String, _ positions: Set<Int>) {
        #expect(EditorScreen.matches(of: search, in: text) == positions)
    }
}
