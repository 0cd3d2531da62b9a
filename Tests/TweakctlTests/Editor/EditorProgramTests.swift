// Tests of the editor on a terminal: its screens, and the restored terminal afterwards.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.hasTerminal)) struct EditorProgramTests {
    private let fixture: TweakctlFixture
    private let tweaks = ExampleTweaks()
    private let server: TweakServer

    init() throws {
        fixture = try TweakctlFixture()
        server = try fixture.server("bounce", registry: tweaks.registry)
    }

    /// The row that shows a name.
    private func row(_ name: String, _ terminal: EditorTerminal) -> String {
        terminal.screen.lines.first { $0.dropFirst(8).hasPrefix(name + "  ") } ?? ""
    }

    @Test func theScreenShowsListDetailsAndKeys() throws {
        let terminal = try EditorTerminal.live(fixture)
        let lines = terminal.screen.lines
        #expect(lines[0].hasPrefix(" bounce  pid ") && lines[0].contains("  9 tweaks  rev 0"))
        #expect(lines[1] == " ▾ Content" && lines[2] == "   ▾ Text")
        #expect(lines[3] == "▌       Size       60 pt         ██████░░░░")
        #expect(lines[5] == "        Color         #000000FF" && lines[8] == "        Font Name  \"Avenir Next\"")
        #expect(lines[15].hasPrefix("── Content/Text/Size ──"))
        #expect(lines[16] == " Label size" && lines[17] == " number 10…100, step 0.5, pt, default 60")
        #expect(lines[23] == " ← → change  Enter type  u undo  / search  p presets  ? help  q quit")
        #expect(terminal.screen.isAlternate && !terminal.screen.showsCursor)
        #expect(terminal.screen.modes.isSuperset(of: ["?2004", "?1002", "?1006"]))
        try terminal.quit()
    }

    @Test func keysChangeUndoAndRedo() throws {
        let terminal = try EditorTerminal.live(fixture)
        try terminal.type("\u{1B}[C\u{1B}[1;2C")
        try terminal.wait { self.row("Size", $0).contains("65.5 pt") && self.tweaks.size.value == 65.5 }
        try terminal.wait { self.row("Size", $0).contains("● Size") }
        try terminal.type("u", for: "undid ")
        try terminal.type("U", for: "redid ")
        // Changes by others are marked.
        try tweaks.size.set(30)
        try terminal.wait(for: "← code")
        try terminal.wait(for: "● Size       30 pt")
        try terminal.type("u", for: "Content/Text/Size has changed since, in revision")
        #expect(tweaks.size.value == 30)
    }

    @Test func anotherUsersChangeIsUndoneAfterAQuestion() throws {
        let terminal = try EditorTerminal.live(fixture)
        try tweaks.size.set(30)
        try terminal.wait(for: "● Size       30 pt")
        let question = "undo code's change of Content/Text/Size, 60 → 30, in revision 1?"
        try terminal.type("u", for: question)
        try terminal.type("n", for: "canceled; nothing changed")
        #expect(tweaks.size.value == 30)
        try terminal.type("u", for: question)
        try terminal.type("y", for: "undid 1 by code")
        #expect(tweaks.size.value == 60)
        try terminal.type("U", for: "redid 1 by code")
    }

    @Test func theMouseSelectsAndDrags() throws {
        let terminal = try EditorTerminal.live(fixture)
        try terminal.type("\u{1B}[<0;12;5M\u{1B}[<0;12;5m", for: "▌       String")
        let column = try #require(terminal.screen.lines[3].firstIndex(of: "█"))
        let start = terminal.screen.lines[3].distance(from: terminal.screen.lines[3].startIndex, to: column) + 1
        try terminal.type("\u{1B}[<0;\(start);4M")
        try terminal.wait { _ in tweaks.size.value == 10 }
        try terminal.type("\u{1B}[<32;\(start + 9);9M\u{1B}[<0;\(start + 9);9m")
        try terminal.wait { self.row("Size", $0).contains("100 pt") && self.tweaks.size.value == 100 }
        // However long it took, it is one step.
        try terminal.type("u", for: "undid ")
        #expect(tweaks.size.value == 60)
        try terminal.quit()
    }

    @Test func aTemporaryValueCanBeKept() throws {
        let terminal = try EditorTerminal.live(fixture)
        try terminal.type("t72\r")
        try terminal.wait { $0.screen.text.contains("● Size       72 pt") && $0.screen.text.contains("→ temporary") }
        #expect(tweaks.size.value == 72)
        try terminal.type("K", for: "→ override 72")
    }

    @Test func aValueIsTypedAndPasted() throws {
        let terminal = try EditorTerminal.live(fixture)
        try terminal.type("\r\u{15}500\r", for: "500 is outside 10...100")
        #expect(terminal.screen.showsCursor && terminal.screen.row == 3 && terminal.screen.column == 22)
        try terminal.type("\u{7F}\u{7F}")
        // A pasted line break does not submit the value.
        try terminal.type("\u{1B}[200~5\r\u{1B}[201~")
        try terminal.wait { $0.screen.lines[3].hasSuffix(" 55") }
        #expect(tweaks.size.value == 60)
        try terminal.type("\r")
        try terminal.wait { $0.screen.text.contains("● Size       55 pt") && !$0.screen.showsCursor }
        #expect(tweaks.size.value == 55)
    }

    @Test func searchAndHelpAreShownAndLeft() throws {
        let terminal = try EditorTerminal.live(fixture)
        try terminal.type("/fnt", for: "1 of 9")
        #expect(terminal.screen.lines[1].contains("Content/Text/Font Name") && terminal.screen.showsCursor)
        try terminal.type("\u{1B}", for: "▾ Player")
        try terminal.type("?", for: "── keys ──")
        #expect(terminal.screen.text.contains("Shift-← Shift-→"))
        try terminal.type("q", for: "▾ Player")
    }

    @Test func keysAdjustTheChannelsOfAColor() throws {
        let terminal = try EditorTerminal.live(fixture)
        try terminal.type("jjc\u{1B}[1;2C\u{1B}[B\u{1B}[C", for: "#100100FF")
        #expect(terminal.screen.text.contains("▌G   1 ░░░") && terminal.output.contains("48;2;16;1;0m"))
    }

    @Test func theScreenFollowsTheSizeOfTheTerminal() throws {
        let terminal = try EditorTerminal.live(fixture)
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
    }

    @Test(arguments: [SIGTERM, SIGHUP, SIGINT]) func aSignalRestoresTheTerminal(_ number: Int32) throws {
        let terminal = try EditorTerminal.live(fixture)
        try terminal.signal(number)
        try terminal.wait(for: "code \(128 + number)")
        #expect(terminal.isRestored)
    }

    @Test func aStopRestoresTheTerminalUntilTheEditorContinues() throws {
        let terminal = try EditorTerminal.live(fixture)
        // In a session without job control the process does not stop, but it prepares for it and redraws.
        try terminal.signal(SIGTSTP)
        try terminal.wait { $0.count("\u{1B}[?1049l") == 1 && $0.count("\u{1B}[?1049h") == 2 }
        try terminal.wait(for: "▾ Player")
        let drawn = terminal.count("\u{1B}[2J")
        try terminal.signal(SIGSTOP)
        try terminal.signal(SIGCONT)
        try terminal.wait { $0.count("\u{1B}[2J") > drawn }
        try terminal.wait(for: "▾ Player")
        try terminal.quit()
    }

    @Test func typedTextSurvivesARestartOfTheServer() throws {
        let terminal = try EditorTerminal.live(fixture)
        try terminal.type("\r\u{15}7")
        server.stop()
        try terminal.wait(for: "disconnected, retrying")
        try terminal.type("2")
        let later = ExampleTweaks()
        try fixture.server("bounce", registry: later.registry)
        try terminal.wait(for: "bounce was restarted")
        try terminal.wait(for: "● live")
        try terminal.type("\r", for: "● Size       72 pt")
        #expect(later.size.value == 72)
    }

    @Test func withoutColorsMarksAndAttributesRemain() throws {
        let terminal = try EditorTerminal.live(fixture, 80, 24, "NO_COLOR=1")
        try terminal.type("\u{1B}[C")
        try terminal.wait { $0.screen.lines[3].hasPrefix("▌     ● Size       60.5 pt") }
        #expect(terminal.screen.attributes.isSubset(of: ["0", "1", "4", "7"]))
    }

    @Test func withoutAServerTheScreenIsNotOpened() throws {
        server.stop()
        let terminal = try EditorTerminal(fixture, 80, 24, "")
        try terminal.wait(for: "code 3")
        #expect(!terminal.output.contains("\u{1B}[?1049h"))
    }
}
