// The line mode on a real terminal: typed at, completed, interrupted, killed.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists && Tool.setsid.exists)) struct ReplTests {
    private let surroundings: Surroundings
    private let tweaks = ExampleTweaks()
    private let server: TweakServer

    init() throws {
        surroundings = try Surroundings()
        server = try surroundings.server("bounce", registry: tweaks.registry)
    }

    /// A shell on a terminal that runs tweakctl, and says how the terminal is before and after.
    private func terminal(_ arguments: String, _ variables: String = "NO_COLOR=1") throws -> PseudoTerminal {
        let settings = surroundings.environment.map { "\($0.key)='\($0.value)'" }.joined(separator: " ")
        let script = """
            echo before $(stty -g)
            sh -c 'echo pid $$ end; exec env \(settings.replacingOccurrences(of: "'", with: "")) \(variables) "$0" \(arguments)' \
            \(Surroundings.executable.path)
            code=$?; echo; echo code $code after $(stty -g); echo done
            """
        return try PseudoTerminal(.sh, ["-c", script])
    }

    private func word(_ text: String, after key: String) -> String? {
        text.firstRange(of: key + " ").map { String(text[$0.upperBound...].prefix { !$0.isWhitespace }) }
    }

    @Test func conversation() throws {
        let terminal = try terminal("bounce repl")
        try terminal.read(through: "bounce> ")
        try terminal.type("get Content/Text/Size\r")
        try terminal.read(through: "Content/Text/Size = 60  ████░░░░  # number 10...100 step 0.5 pt\n")
        // Editing: “Size = 99” becomes “Size = 72”.
        try terminal.type("Content/Text/Size = 99\u{7F}\u{7F}72\r")
        try terminal.read(through: "Content/Text/Size = 72  # was 60\n")
        #expect(tweaks.size.value == 72)
        // Tab completes the path; Ctrl-C throws a line away; Up brings the last one back.
        try terminal.type("get Pl\ts")
        try terminal.read(through: "get Player/s")
        try terminal.type("\u{3}")
        try terminal.read(through: "^C\n")
        try terminal.type("\u{1B}[A\u{17}80\r")
        try terminal.read(through: "Content/Text/Size = 80  # was 72\n")
        try terminal.read(through: "bounce> ")
        try terminal.type("\u{4}")
        try terminal.read(through: "done\n")
        server.stop()
    }

    /// The prompt has a star while a batch is open; what was queued is repeated, and a refused commit says what it means.
    @Test func aBatch() throws {
        let terminal = try terminal("bounce repl")
        try terminal.read(through: "bounce> ")
        try terminal.type("begin\r")
        try terminal.read(through: "bounce*> ")
        try terminal.type("Content/Text/Size = 72\r")
        try terminal.read(through: "queued: Content/Text/Size = 72; 1 so far, then commit or abort\n")
        try terminal.type("Content/Text/Size = 500\r")
        try terminal.read(through: "out-of-range")
        try terminal.type("commit\r")
        try terminal.read(through: "nothing has changed, and the batch is closed\n")
        try terminal.read(through: "bounce> ")
        #expect(tweaks.size.value == 60)
        try terminal.type("?\r")
        try terminal.read(through: "Values and actions\n")
        try terminal.read(through: "Undo and history\n")
        server.stop()
    }

    @Test func tabListsWhatThereIs() throws {
        let terminal = try terminal("repl bounce")
        try terminal.read(through: "bounce> ")
        try terminal.type("get Content/Text/S\t\t")
        try terminal.read(through: "Content/Text/Size    Content/Text/String\n")
        try terminal.type("i\t\r")
        try terminal.read(through: "Content/Text/Size = 60")
        server.stop()
    }

    @Test func eventsArrive() throws {
        let terminal = try terminal("bounce repl")
        try terminal.read(through: "bounce> ")
        try terminal.type("watch Content/Text/Size\r")
        try terminal.read(through: "pt\n")
        try terminal.type("half a li")
        try terminal.read(through: "half a li")
        try tweaks.size.set(30)
        try terminal.read(through: "rev 1  Content/Text/Size = 30  # was 60 by code\n")
        try terminal.read(through: "bounce> half a li")
        server.stop()
        try terminal.read(through: "has ended the connection; the next line connects again")
    }

    @Test func terminalIsGivenBack() throws {
        let terminal = try terminal("bounce repl")
        let start = try terminal.read(through: "bounce> ")
        let before = try #require(word(start, after: "before"))
        try terminal.type("some")
        try terminal.read(through: "some")
        let number = try #require(word(start, after: "pid").flatMap { Int32($0) })
        systemKill(number, SIGTERM)
        let end = try terminal.read(through: "done\n")
        #expect(word(end, after: "after") == before)
        server.stop()
    }

    @Test func remembers() throws {
        for line in ["get Content/Text/Fade", "set Player/Audio/Token hunter2", "quit"] {
            let terminal = try terminal("bounce repl")
            try terminal.read(through: "bounce> ")
            try terminal.type(line + "\r")
            if line != "quit" { try terminal.read(through: "\nbounce> ") }
            try terminal.type("\u{4}")
            try terminal.read(through: "done\n")
        }
        let path = surroundings.directory.file("home/.local/state/tweakctl/history")
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "get Content/Text/Fade\n")
        let terminal = try terminal("bounce repl")
        try terminal.read(through: "bounce> ")
        try terminal.type("\u{1B}[A")
        try terminal.read(through: "get Content/Text/Fade")
        server.stop()
    }

    /// A terminal that can do nothing gets plain lines.
    @Test func onADumbTerminal() throws {
        let terminal = try terminal("bounce repl", "TERM=dumb")
        try terminal.read(through: " end\n")
        try terminal.type("ls\r")
        let text = try terminal.read(through: "Player")
        #expect(!text.contains("\u{1B}"))
        try terminal.type("\u{4}")
        try terminal.read(through: "done\n")
        server.stop()
    }

    /// A name and nothing else, where no editor can be shown: who it is, and what is modified.
    @Test func status() throws {
        try tweaks.size.set(72)
        let terminal = try terminal("bounce", "TERM=dumb")
        let text = try terminal.read(through: "done\n")
        #expect(text.contains("bounce, pid "))
        #expect(text.contains("9 tweaks, 1 modified, rev 1\n● Content/Text/Size = 72  ██████░░  # number 10...100"))
        server.stop()
    }

    /// A process that asks for a token tells nothing of itself; that is no success.
    @Test func statusThatIsRefused() throws {
        let fake = try FakeServer(surroundings.socket("fake"))
        let terminal = try terminal("fake", "TERM=dumb")
        let peer = try fake.accepted()
        try peer.answer("hello 1", "  name: fake", "ok")
        try peer.answer("stats", "error auth-required show a token first")
        let text = try terminal.read(through: "done\n")
        #expect(text.contains("tweakctl: fake: auth-required: show a token first") && text.contains("code 1 "))
        server.stop()
    }

    /// A process that is stopped, or in a debugger: nothing that is typed gets lost without a word.
    @Test func aSilentProcess() throws {
        let fake = try FakeServer(surroundings.socket("fake"))
        let terminal = try terminal("fake repl")
        let peer = try fake.accepted()
        #expect(try peer.line() == "hello 1")
        try terminal.read(
            through: "tweakctl: fake: accepts connections, but does not answer; the next line tries again")
        try terminal.read(through: "fake> ")
        try terminal.type("get A/B/C\r")
        let next = try fake.accepted()
        try next.answer("hello 1", "  name: fake", "ok")
        try next.answer("get A/B/C", "A/B/C = 5", "ok")
        try terminal.read(through: "A/B/C = 5")
        server.stop()
    }

    @Test func colors() throws {
        let terminal = try terminal("bounce get Content/Text/Color", "")
        try terminal.read(through: "\u{1B}[48;2;0;0;0m  \u{1B}[0m #000000FF")
        server.stop()
    }
}

/// kill(2), under a name that no method takes.
private func systemKill(_ process: Int32, _ signal: Int32) { _ = kill(process, signal) }
