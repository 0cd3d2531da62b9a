// Screens as text, at several sizes and in every mode.

import Testing
import Tweaks

@testable import tweakctl

@Suite struct EditorScreenTests {
    /// A screen as it is, without the blanks at the ends of lines.
    private func expect(_ bench: EditorBench, _ text: String, sourceLocation: SourceLocation = #_sourceLocation) {
        #expect(bench.frame().text == text, sourceLocation: sourceLocation)
    }

    @Test func usual() {
        var bench = EditorBench()
        bench.event("event 5 Content/Text/Alignment = right # was left by uid 1000")
        bench.answer("get Content/Text/Alignment", status: "error unknown-tweak gone")
        bench.pass(.seconds(1))
        bench.answer(
            "explain Content/Text/Size",
            ["    default            60  by code at 2026-11-21T10:00:00Z", "  → override           60  by uid 0"])
        expect(
            bench,
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
               default 60 by code at 2026-11-21T10:00:00Z



             ← → change  Enter type  u undo  / search  p presets  ? help  q quit
            """)
    }

    @Test func narrow() {
        var bench = EditorBench(44, 15)
        bench.type("j")
        expect(
            bench,
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

    @Test func wide() {
        var bench = EditorBench(110, 18)
        bench.type("jjj")
        expect(
            bench,
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

             ← → change  Space next  Enter type  u undo  t for a while  / search  m modified  p presets  ? help  q quit
            """)
    }

    @Test func search() {
        var bench = EditorBench(40, 8)
        bench.type("/s")
        expect(
            bench,
            """
             bounce  pid 4711  9 tweaks      ● live
            ▌   Content/Text/Size   60 pt
                Content/Text/Stri…  "Tweaks"
                Player/Status/Fra…  25
                Player/Audio/Mute   (action)

             / s                             4 of 9
             Enter keep  Escape all  ↑ ↓ choose
            """)
        #expect(bench.frame().cursor == .init(row: 6, column: 4))
    }

    @Test func refusedValue() {
        var bench = EditorBench(60, 11)
        bench.type("\r\u{15}500\r")
        bench.answer(
            "set Content/Text/Size 500",
            status: "error out-of-range Content/Text/Size: 500 is outside 10...100; write a number of that range")
        expect(
            bench,
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
        #expect(bench.frame().cursor == .init(row: 3, column: 22))
    }

    /// Beside the value, where there is room.
    @Test func refusedBeside() {
        var bench = EditorBench(110, 16)
        bench.type("\r\u{15}500\r")
        bench.answer("set Content/Text/Size 500", status: "error out-of-range 500 is outside 10...100")
        #expect(bench.frame().lines[3].text.contains("500           500 is outside 10...100"))
    }

    @Test func channels() {
        var bench = EditorBench(80, 12)
        bench.type("jjc")
        #expect(bench.frame().lines[9].text.hasPrefix("      >R 255  G 136  B 0  A 255"))
        bench.model.size = ScreenSize(columns: 80, rows: 24)
        let lines = bench.frame().lines
        #expect(lines[17].text.trimmedAtEnd == " ▌R 255 " + String(repeating: "█", count: 34))
        #expect(lines[19].text.trimmedAtEnd == "  B   0 " + String(repeating: "░", count: 34))
    }

    @Test func presets() {
        var bench = EditorBench(60, 9)
        bench.type("p")
        bench.answer("presets", ["  dark   12 tweaks, saved 2026-11-21 by uid 1000", "  light  3 tweaks"])
        expect(
            bench,
            """
             bounce  pid 4711  9 tweaks  1 modified  rev 4       ● live
            ── presets ─────────────────────────────────────── 1 of 2 ──
            ▌ dark   12 tweaks, saved 2026-11-21 by uid 1000
              light  3 tweaks




             Enter load  s save as  w swap  d compare  Escape back
            """)
    }

    @Test func help() {
        var bench = EditorBench(50, 12)
        bench.type("?\u{1B}[6~")
        expect(
            bench,
            """
             bounce  pid 4711  9 tweaks  1 modified    ● live
            ── keys ──────────────────────────── 8–15 of 68 ──
               ← →              change the value by its step;
                                fold a group
               Shift-← Shift-→  the same by ten steps
               Alt-← Alt-→      the same by a tenth of a
                                step, where none is declared
               Space            flip, take the next choice,
                                fold; an action with
                                arguments

             ↑ ↓ scroll  PgUp PgDn page  Escape back
            """)
    }

    @Test(arguments: [(39, 24), (80, 7), (10, 3), (1, 1)]) func tooSmall(_ columns: Int, _ rows: Int) {
        let frame = EditorBench(columns, rows).frame()
        #expect(frame.lines.count == rows && frame.lines.allSatisfy { $0.width == columns })
        if columns > 20 { #expect(frame.text.hasPrefix("tweakctl needs 40 × 8; this is \(columns) × \(rows).")) }
    }

    /// Every screen has exactly its size.
    @Test func everySize() {
        for keys in ["", "j", "c", "/x", "?", "jjc", "\r", "Gk\r"] {
            var bench = EditorBench()
            bench.type(keys)
            for columns in [20, 39, 40, 59, 60, 99, 100, 150] {
                for rows in [2, 8, 11, 15, 16, 22, 34] {
                    bench.model.size = ScreenSize(columns: columns, rows: rows)
                    bench.model.scroll()
                    let frame = bench.frame()
                    #expect(frame.lines.count == rows && frame.lines.allSatisfy { $0.width == columns })
                    if let cursor = frame.cursor { #expect(cursor.row < rows && cursor.column < columns) }
                }
            }
        }
    }

    /// What would fool a terminal does not reach it, wherever it stands; wide names stay in their columns.
    @Test func hostileTexts() {
        let facts = """
            {"ok":true,"rev":4,"tweaks":[{"path":"日本/語/名前","kind":"string","value":"\\u001b[2J\\u202eevil","default":"",\
            "modified":true,"help":"\\u001b]0;x\\u0007","unit":"\\u009b1m"},\
            {"path":"日本/語/e\u{301}","kind":"choice","value":"\\u001b[31m","choices":[{"name":"\\u001b[31m"}]}]}
            """
        for size in [(80, 24), (120, 24)] {
            var bench = EditorBench(size.0, size.1, facts: facts)
            bench.event("event 5 日本/語/é = \"\\u001b[31m\" # was x by \u{1B}[5mme")
            for keys in ["", "j", "\r", "␛/\u{1B}[200~\u{1B}]x\u{1B}[201~"] {
                bench.type(keys)
                let text = bench.frame().text
                #expect(Quoting.isSafe(text.replacing("\n", with: "")), "\(text)")
            }
            #expect(bench.frame().lines.allSatisfy { $0.width == size.0 })
        }
    }
}
