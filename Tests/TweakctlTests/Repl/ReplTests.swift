// Tests of the interactive mode on a terminal.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.hasTerminal)) struct ReplTests {
    private let fixture: TweakctlFixture
    private let tweaks = ExampleTweaks()
    private let server: TweakServer

    init() throws {
        fixture = try TweakctlFixture()
        server = try fixture.server("bounce", registry: tweaks.registry)
    }

    /// A terminal that shows the first prompt.
    private func prompt() throws -> PseudoTerminal {
        let terminal = try fixture.terminal("bounce repl")
        try terminal.read(through: "bounce> ")
        return terminal
    }

    @Test func linesAreEditedCompletedDiscardedAndRecalled() throws {
        let terminal = try prompt()
        try terminal.type(
            "get Content/Text/Size\r", through: "Content/Text/Size = 60  ████░░░░  # number 10...100 step 0.5 pt\n")
        // “Size = 99” becomes “Size = 72”.
        try terminal.type("Content/Text/Size = 99\u{7F}\u{7F}72\r", through: "Content/Text/Size = 72  # was 60\n")
        #expect(tweaks.size.value == 72)
        // Tab completes the path; Ctrl-C discards the line; Up recalls the previous one.
        try terminal.type("get Pl\ts", through: "get Player/s")
        try terminal.type("\u{3}", through: "^C\n")
        try terminal.type("\u{1B}[A\u{17}80\r", through: "Content/Text/Size = 80  # was 72\n")
        try terminal.read(through: "bounce> ")
        try terminal.type("\u{4}", through: "done\n")
    }

    /// The prompt has a star while a batch is open.
    @Test func aBatchEchoesItsChangesAndFailsAsAWhole() throws {
        let terminal = try prompt()
        try terminal.type("begin\r", through: "bounce*> ")
        try terminal.type(
            "Content/Text/Size = 72\r", through: "queued: Content/Text/Size = 72; 1 so far, then commit or abort\n")
        try terminal.type("Content/Text/Size = 500\r", through: "out-of-range")
        try terminal.type("commit\r", through: "nothing has changed, and the batch is closed\n")
        try terminal.read(through: "bounce> ")
        #expect(tweaks.size.value == 60)
        try terminal.type("?\r", through: "Values and actions\n")
        try terminal.read(through: "Undo and history\n")
    }

    @Test func theHistoryIsSearched() throws {
        let terminal = try prompt()
        try terminal.type("get Content/Text/Size\r", through: "Content/Text/Size = 60")
        try terminal.type("get Content/Text/Fade\r", through: "Content/Text/Fade = 250ms")
        try terminal.read(through: "bounce> ")
        try terminal.type("\u{12}Siz", through: "search 'Siz': get Content/Text/Size")
        // Escape keeps the line; Ctrl-E and Ctrl-W edit it.
        try terminal.type("\u{1B}", through: "bounce> get Content/Text/Size")
        try terminal.type("\u{5}\u{17}Content/Text/Fade\r", through: "Content/Text/Fade = 250ms")
    }

    @Test func aSecondTabListsTheCandidates() throws {
        let terminal = try prompt()
        try terminal.type("get Content/Text/S\t\t", through: "Content/Text/Size    Content/Text/String\n")
        try terminal.type("i\t\r", through: "Content/Text/Size = 60")
    }

    @Test func anEventLeavesTheTypedLineIntact() throws {
        let terminal = try prompt()
        try terminal.type("watch Content/Text/Size\r", through: "pt\n")
        try terminal.type("half a li", through: "half a li")
        try tweaks.size.set(30)
        try terminal.read(through: "rev 1  Content/Text/Size = 30  # was 60 by code\n")
        try terminal.read(through: "bounce> half a li")
        server.stop()
        try terminal.read(through: "has ended the connection; the next line connects again")
    }

    @Test func aSignalRestoresTheTerminal() throws {
        let terminal = try fixture.terminal("repl bounce")
        let start = try terminal.read(through: "bounce> ")
        try terminal.type("some", through: "some")
        let process = try #require(start.word(after: "pid"))
        _ = try fixture.shell("kill -TERM \(process)")
        let before = try #require(start.word(after: "before"))
        #expect(try terminal.read(through: "done\n").word(after: "after") == before)
    }

    @Test func theHistoryIsSavedWithoutSecrets() throws {
        for line in ["get Content/Text/Fade", "set Player/Audio/Token hunter2", "quit"] {
            let terminal = try prompt()
            try terminal.type(line + "\r")
            if line != "quit" { try terminal.read(through: "\nbounce> ") }
            try terminal.type("\u{4}", through: "done\n")
        }
        let path = fixture.directory.file("home/.local/state/tweakctl/history")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "get Content/Text/Fade\n")
        try prompt().type("\u{1B}[A", through: "get Content/Text/Fade")
    }

    @Test func aDumbTerminalGetsPlainLinesAndAStatusInsteadOfTheEditor() throws {
        let terminal = try fixture.terminal("bounce repl", "TERM=dumb")
        try terminal.read(through: " end\n")
        #expect(try !terminal.type("ls\r", through: "Player").contains("\u{1B}"))
        try terminal.type("\u{4}", through: "done\n")
        try tweaks.size.set(72)
        let text = try fixture.terminal("bounce", "TERM=dumb").read(through: "done\n")
        #expect(text.contains("bounce, pid "))
        #expect(text.contains("9 tweaks, 1 modified, rev 1\n● Content/Text/Size = 72  ██████░░  # number 10...100"))
    }

    @Test func aRefusedStatusIsAnError() throws {
        let fake = try FakeServer(fixture.socket("fake"))
        let terminal = try fixture.terminal("fake", "TERM=dumb")
        let peer = try fake.accept()
        try peer.answer("hello 1", "  name: fake", "ok")
        try peer.answer("stats", "error auth-required show a token first")
        let text = try terminal.read(through: "done\n")
        #expect(text.contains("tweakctl: fake: auth-required: show a token first") && text.contains("code 1 "))
    }

    private func answerInTime(_ fake: FakeServer) throws {
        let peer = try fake.accept()
        try peer.answer("hello 1", "  name: fake", "ok")
        try peer.answer("get A/B/C", "A/B/C = 5", "ok")
    }

    /// A process may be stopped, or in a debugger.
    @Test func aProcessThatDoesNotAnswerIsReportedAndTriedAgain() throws {
        let fake = try FakeServer(fixture.socket("fake"))
        let terminal = try fixture.terminal("--timeout 100ms fake repl")
        let peer = try fake.accept()
        #expect(try peer.line() == "hello 1")
        try terminal.read(through: "tweakctl: fake: accepts connections, but has not answered within 100ms; ")
        try terminal.read(through: "; the next line tries again")
        try terminal.read(through: "fake> ")
        // Its answers may be late, too.
        repeat { try terminal.type("get A/B/C\r") } while (try? answerInTime(fake)) == nil
        try terminal.read(through: "A/B/C = 5")
    }

    @Test func aColorIsShownAsASwatch() throws {
        let terminal = try fixture.terminal("bounce get Content/Text/Color", "")
        try terminal.read(through: "\u{1B}[48;2;0;0;0m  \u{1B}[0m #000000FF")
    }
}
