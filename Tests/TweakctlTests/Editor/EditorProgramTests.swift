// The editor as a real program on a real terminal: its screens as text, and the terminal afterwards.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists && Tool.setsid.exists)) struct EditorProgramTests {
    private let surroundings: Surroundings
    private let tweaks = ExampleTweaks()
    private let server: TweakServer

    init() throws {
        surroundings = try Surroundings()
        server = try surroundings.server("bounce", registry: tweaks.registry)
    }

    private func open(
        _ columns: Int = 80, _ rows: Int = 24, _ variables: String = "COLORTERM=truecolor"
    ) throws -> EditorTerminal {
        let terminal = try EditorTerminal(surroundings, columns, rows, variables)
        try terminal.wait(for: "● live")
        try terminal.wait(for: "by code at")
        return terminal
    }

    /// The row that shows a name.
    private func row(_ name: String, _ terminal: EditorTerminal) -> String {
        terminal.screen.lines.first { $0.dropFirst(8).hasPrefix(name + "  ") } ?? ""
    }

    @Test func shows() throws {
        let terminal = try open()
        let lines = terminal.screen.lines
        #expect(lines[0].hasPrefix(" bounce  pid ") && lines[0].contains("  9 tweaks  rev 0"))
        #expect(lines[1] == " ▾ Content" && lines[2] == "   ▾ Text")
        #expect(lines[3] == "▌       Size       60 pt         ██████░░░░")
        #expect(lines[5] == "        Color         #000000FF" && lines[8] == "        Font Name  \"Avenir Next\"")
        #expect(lines[15].hasPrefix("── Content/Text/Size ──"))
        #expect(lines[16] == " Label size" && lines[17] == " number 10…100, step 0.5, pt, default 60")
        #expect(lines[23] == " ← → change  Enter type  u undo  / search  p presets  ? help  q quit")
        #expect(terminal.screen.isAlternate && !terminal.screen.showsCursor && terminal.screen.modes.contains("?2004"))
        try terminal.type("q")
        try terminal.wait(for: "code 0")
        #expect(terminal.isRestored)
        server.stop()
    }

    @Test func changes() throws {
        let terminal = try open()
        try terminal.type("\u{1B}[C\u{1B}[1;2C")
        try terminal.wait { self.row("Size", $0).contains("65.5 pt") && self.tweaks.size.value == 65.5 }
        try terminal.wait { self.row("Size", $0).contains("● Size") }
        // Others appear at once, and are marked.
        try tweaks.size.set(30)
        try terminal.wait(for: "← code")
        try terminal.wait { $0.screen.text.contains("● Size       30 pt") }
        try terminal.type("u")
        try terminal.wait(for: "undid ")
        try terminal.type("U")
        try terminal.wait(for: "redid ")
        server.stop()
    }

    @Test func setsForAWhile() throws {
        let terminal = try open()
        try terminal.type("t72\r")
        try terminal.wait { $0.screen.text.contains("● Size       72 pt") && $0.screen.text.contains("→ temporary") }
        #expect(tweaks.size.value == 72)
        try terminal.type("K")
        try terminal.wait(for: "→ override 72")
        server.stop()
    }

    @Test func typesValues() throws {
        let terminal = try open()
        try terminal.type("\r\u{15}500\r")
        try terminal.wait(for: "500 is outside 10...100")
        #expect(terminal.screen.showsCursor && terminal.screen.row == 3 && terminal.screen.column == 22)
        try terminal.type("\u{7F}\u{7F}")
        // What is pasted is text: its line end sends nothing.
        try terminal.type("\u{1B}[200~5\r\u{1B}[201~")
        try terminal.wait { $0.screen.lines[3].hasSuffix(" 55") }
        #expect(tweaks.size.value == 60)
        try terminal.type("\r")
        try terminal.wait { $0.screen.text.contains("● Size       55 pt") && !$0.screen.showsCursor }
        #expect(tweaks.size.value == 55)
        server.stop()
    }

    @Test func searchesAndShowsHelp() throws {
        let terminal = try open()
        try terminal.type("/fnt")
        try terminal.wait(for: "1 of 9")
        #expect(terminal.screen.lines[1].contains("Content/Text/Font Name") && terminal.screen.showsCursor)
        try terminal.type("\u{1B}")
        try terminal.wait(for: "▾ Player")
        try terminal.type("?")
        try terminal.wait(for: "── keys ──")
        #expect(terminal.screen.text.contains("Shift-← Shift-→"))
        try terminal.type("q")
        try terminal.wait(for: "▾ Player")
        server.stop()
    }

    @Test func adjustsColours() throws {
        let terminal = try open()
        try terminal.type("jjc\u{1B}[1;2C\u{1B}[B\u{1B}[C")
        try terminal.wait(for: "#100100FF")
        #expect(terminal.screen.text.contains("▌G   1 ░░░") && terminal.sawBytes("48;2;16;1;0m"))
        server.stop()
    }

    @Test func resizes() throws {
        let terminal = try open()
        try terminal.resize(120, 30)
        try terminal.wait { $0.screen.lines[0].hasSuffix("● live") && $0.screen.lines[0].count == 119 }
        #expect(terminal.screen.lines[1].contains("│ Content/Text/Size") && terminal.screen.lines.count == 30)
        try terminal.resize(44, 15)
        try terminal.wait { $0.screen.lines[0].count == 43 && $0.screen.lines[14].contains("help") }
        try terminal.resize(30, 10)
        try terminal.wait(for: "tweakctl needs 40 × 8; this is")
        try terminal.resize(80, 24)
        try terminal.wait(for: "▾ Player")
        #expect(terminal.screen.unknown.isEmpty)
        server.stop()
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT]) func isKilled(_ number: Int32) throws {
        let terminal = try open()
        try terminal.signal(number)
        try terminal.wait(for: "code \(128 + number)")
        #expect(terminal.isRestored)
        server.stop()
    }

    /// Stopped and continued, it gives the terminal back meanwhile, and draws all of it again.
    @Test func isStoppedAndGoesOn() throws {
        let terminal = try open()
        // In a session without job control nothing really stops; what it does before and after is the same.
        try terminal.signal(SIGTSTP)
        try terminal.wait { $0.count("\u{1B}[?1049l") == 1 && $0.count("\u{1B}[?1049h") == 2 }
        try terminal.wait(for: "▾ Player")
        let drawn = terminal.count("\u{1B}[2J")
        try terminal.signal(SIGSTOP)
        try terminal.signal(SIGCONT)
        try terminal.wait { $0.count("\u{1B}[2J") > drawn }
        try terminal.wait(for: "▾ Player")
        try terminal.type("q")
        try terminal.wait(for: "code 0")
        #expect(terminal.isRestored)
        server.stop()
    }

    @Test func serverReturns() throws {
        let terminal = try open()
        try terminal.type("\r\u{15}7")
        server.stop()
        try terminal.wait(for: "lost, trying again")
        try terminal.type("2")
        let later = ExampleTweaks()
        let again = try surroundings.server("bounce", registry: later.registry)
        try terminal.wait(for: "bounce was restarted")
        try terminal.wait(for: "● live")
        try terminal.type("\r")
        try terminal.wait { $0.screen.text.contains("● Size       72 pt") }
        #expect(later.size.value == 72)
        again.stop()
    }

    /// Without colours everything can be read: marks and reverse lines, and no colour at all.
    @Test func withoutColours() throws {
        let terminal = try open(80, 24, "NO_COLOR=1")
        try terminal.type("\u{1B}[C")
        try terminal.wait { $0.screen.lines[3].hasPrefix("▌     ● Size       60.5 pt") }
        #expect(terminal.screen.looks.isSubset(of: ["0", "1", "4", "7"]))
        server.stop()
    }

    @Test func cannotConnect() throws {
        server.stop()
        let terminal = try EditorTerminal(surroundings, 80, 24, "")
        try terminal.wait(for: "code 3")
        #expect(!terminal.sawBytes("\u{1B}[?1049h"))
    }
}
