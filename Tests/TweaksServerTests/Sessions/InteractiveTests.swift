// Tests the output for people, byte by byte: banner, prompt, line ends, Ctrl-C.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct InteractiveTests {
    /// The complete output for some input and its end.
    private func output(_ input: String, _ server: TestServer? = nil) throws -> String {
        let client = try (server ?? TestServer()).connect()
        try client.send(input)
        client.endInput()
        return try client.rest()
    }

    /// (input, output; `…` is any text)
    @Test(arguments: [
        ("", ""),
        // The first line that is no command ends the session, and says so; later ones do not.
        ("hlep\nping\n", "error unknown-command “hlep” is not a command; did you mean help?; CLOSING\n"),
        ("get Nope\nhlep\n", "error unknown-tweak …\nerror unknown-command …; CLOSING\n"),
        ("\"open\nping\n", "error bad-quoting …; CLOSING\n"), ("\u{1}\nping\n", "error bad-line …; CLOSING\n"),
        ("ping\nhlep\n", "ok pong\nerror unknown-command “hlep” is not a command; did you mean help?\n"),
        ("ping\n", "ok pong\n"), ("\n", "BANNER\n> "), ("\r\n", "BANNER\r\n> "), ("\r\0", "BANNER\r\n> "),
        (" \t\n", "BANNER\n> "), ("\n\n", "BANNER\n> > "), ("\nping\n", "BANNER\n> ok pong\n> "),
        ("\nnonsense\n", "BANNER\n> error unknown-command “nonsense” is not a command; type help\n> "),
        ("prompt\n", "BANNER\nok\n> "), ("prompt on\nprompt on\n", "BANNER\nok\n> ok\n> "),
        ("prompt\nprompt off\nping\n", "BANNER\nok\n> ok\nok pong\n"),
        // Only an empty first line starts the prompt; a comment is not empty.
        ("ping\n\n", "ok pong\n"), ("# hello\n\nping\n", "ok pong\n"), ("\n# hello\n", "BANNER\n> > "),
        ("\nquit\n", "BANNER\n> ok\n"),
        // A star marks an open batch; queued changes are echoed in normalized form.
        (
            "\nbegin\nContent/Text/Size = 72\nContent/Text/Size += 1\nreset Content/Text/Color\nabort\n",
            """
            BANNER
            > ok rev 0
            *>   Content/Text/Size = 72
            ok queued
            *>   Content/Text/Size = 73
            ok queued
            *>   reset Content/Text/Color
            ok queued
            *> ok aborted 3
            >\u{20}
            """
        ),
        (
            "\nbegin\nContent/Text/Size = 500\ncommit\n",
            """
            BANNER
            > ok rev 0
            *> error out-of-range Content/Text/Size: 500 is outside 10...100
            *> error out-of-range Content/Text/Size: 500 is outside 10...100; nothing has changed, and the batch is closed
            >\u{20}
            """
        ),
        // A secret is not echoed.
        (
            "\nbegin\nPlayer/Audio/Token = abc\nPlayer/Audio/Token=abc\nabort\n",
            """
            BANNER
            > ok rev 0
            *>   Player/Audio/Token = (set)
            ok queued
            *> error usage put spaces around =: Player/Audio/Token = VALUE
            *> ok aborted 1
            >\u{20}
            """
        ),
        ("\nContent/Text/Size=72\n", "BANNER\n> error usage put spaces around =: Content/Text/Size = 72\n> "),
        ("\n? ping\n", "BANNER\n>   ping\n    answers ok\n    example: ping\nok\n> "),
        // In JSON there is no prompt.
        ("\njson\nping\n", "BANNER\n> {\"ok\":true}\n{\"ok\":true,\"pong\":true}\n"),
    ])
    func theOutputIsExact(_ input: String, _ expected: String) throws {
        let output = try output(input)
        let pattern = expected.replacing("BANNER", with: "  example, pid …, 9 tweaks; type help").replacing(
            "CLOSING",
            with: "closing: no command has succeeded yet; an empty line first makes this a prompt")
        #expect(Transcript.fits(output, pattern), "\(output.debugDescription)")
    }

    @Test func helpHasHeadingsOnlyWhereThereIsAPrompt() throws {
        let titles = Command.groups.map(\.title)
        let interactive = try output("\nhelp\n").splitLines()
        let headings = interactive.filter { titles.contains(String($0.dropFirst(2))) || $0.hasPrefix("> ") }
        #expect(headings.count == titles.count + 1)
        let lines = try output("help\n").splitLines().dropLast(2)
        #expect(lines.map { $0.dropFirst(2).prefix { $0 != " " } } == Command.all.map { Substring($0.name) })
    }

    @Test func theBannerSaysOneTweakInTheSingular() throws {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "C", 1, registry: registry)
        let output = try output("\n", TestServer(registry: registry))
        #expect(Transcript.fits(output, "  example, pid …, 1 tweak; type help\n> "))
    }

    @Test func repliesHaveTheLineEndOfTheirRequest() throws {
        #expect(try output("ping\r\nping\nping\r\0") == "ok pong\r\nok pong\nok pong\r\n")
        #expect(try output("help ping\r\n").splitLines().dropLast().allSatisfy { $0.hasSuffix("\r") })
    }

    @Test func eventsHaveTheLineEndOfTheLastReply() throws {
        let (server, client) = try TestServer().withClient()
        try client.send("watch Content/Text/Size\r\n")
        _ = try client.read(through: "watching 1\r\n")
        try server.registry["Content/Text/Size"]?.set(.number(72))
        #expect(try client.read(through: "\n") == "event 1 Content/Text/Size = 72      # was 60 by code\r\n")
    }

    @Test func controlCOfTelnetDropsTheLine() throws {
        let server = try TestServer()
        let client = try server.connect(.tcp4)
        try client.send("\n")
        _ = try client.read(through: "> ")
        try client.send(Array("set Content/Text/Size 99".utf8) + [255, 244, 255, 253, 6])
        #expect(try client.read(through: "> ").hasSuffix("\n> "))
        try client.send("get Content/Text/Size\n")
        let reply = try client.read(through: "> ")
        // The telnet answer WONT 6 is among it.
        #expect(reply.contains("Content/Text/Size = 60 "))
        #expect(server.registry.revision == 0)
    }

    @Test func telnetOptionsAreRefused() throws {
        let client = try TestServer().connect(.tcp4)
        try client.send([255, 253, 3, 255, 251, 24, 255, 252, 1, 255, 254, 1] + Array("ping\r\n".utf8))
        client.endInput()
        // WONT 3, DONT 24; WONT and DONT need no reply. (Not UTF-8, so each byte is shown as U+FFFD or itself.)
        let reply = [255, 252, 3, 255, 254, 24] + Array("ok pong\r\n".utf8)
        #expect(try client.rest() == String(decoding: reply, as: UTF8.self))
    }

    /// An unfinished last line, and a line behind `quit`.
    @Test(arguments: [
        ("ping\nset Content/Text/Size 72", "ok pong\nerror bad-line …\n"), ("quit\nset Content/Text/Size 72\n", "ok\n"),
    ])
    func aLineThatIsNotToBeRunChangesNothing(_ input: String, _ pattern: String) throws {
        let server = try TestServer()
        #expect(Transcript.fits(try output(input, server), pattern))
        #expect(server.registry.revision == 0)
    }
}
