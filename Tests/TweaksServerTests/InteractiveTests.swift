// What people see: silence, banner, prompt, line ends, Ctrl-C; byte for byte.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct InteractiveTests {
    /// All that a server says to some input and its end.
    private func answer(
        to input: String, over transport: Transport = .unix, _ server: TestServer? = nil
    ) throws -> String {
        let client = try (server ?? TestServer()).connect(transport)
        try client.send(input)
        client.endInput()
        return try client.rest()
    }

    private var banner: String { "  example, pid …, 9 tweaks; type help" }

    @Test func saysNothingUnlessSpokenTo() throws { #expect(try answer(to: "") == "") }

    /// (what is typed, what is answered; `…` is any text)
    @Test(arguments: [
        ("ping\n", "ok pong\n"),
        ("\n", "BANNER\n> "),
        ("\r\n", "BANNER\r\n> "),
        ("\r\0", "BANNER\r\n> "),
        (" \t\n", "BANNER\n> "),
        ("\n\n", "BANNER\n> > "),
        ("\nping\n", "BANNER\n> ok pong\n> "),
        ("\nnonsense\n", "BANNER\n> error unknown-command “nonsense” is not a command; type help\n> "),
        ("prompt\n", "BANNER\nok\n> "),
        ("prompt on\nprompt on\n", "BANNER\nok\n> ok\n> "),
        ("prompt\nprompt off\nping\n", "BANNER\nok\n> ok\nok pong\n"),
        // Not the first line, so nobody pressed Enter to say hello; nor is a comment empty.
        ("ping\n\n", "ok pong\n"),
        ("# hello\n\nping\n", "ok pong\n"),
        ("\n# hello\n", "BANNER\n> > "),
        ("\nquit\n", "BANNER\n> ok\n"),
        // A star says that a batch is open, and what was queued is repeated as it was understood.
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
        // A secret is not repeated.
        (
            "\nbegin\nPlayer/Audio/Token = abc\nPlayer/Audio/Token=abc\nabort\n",
            """
            BANNER
            > ok rev 0
            *>   Player/Audio/Token = (set)
            ok queued
            *> error usage write Player/Audio/Token = VALUE (put spaces around =)
            *> ok aborted 1
            >\u{20}
            """
        ),
        ("\nContent/Text/Size=72\n", "BANNER\n> error usage write Content/Text/Size = 72 (put spaces around =)\n> "),
        ("\n? ping\n", "BANNER\n>   ping\n    answers ok\n    example: ping\nok\n> "),
        // JSON is for programs: no banner and no prompt.
        ("\njson\nping\n", "BANNER\n> {\"ok\":true}\n{\"ok\":true,\"pong\":true}\n"),
    ])
    func answers(_ input: String, _ output: String) throws {
        let pattern = output.replacing("BANNER", with: banner)
        let got = try answer(to: input)
        #expect(Transcript.fits(got, pattern), "\(got.debugDescription)")
    }

    /// People get headings between the commands; a program gets one command a line.
    @Test func helpIsGrouped() throws {
        let names = Command.groups.map(\.title)
        let forPeople = try answer(to: "\nhelp\n").splitLines()
        #expect(
            forPeople.filter { names.contains(String($0.dropFirst(2))) || $0.hasPrefix("> ") }.count == names.count + 1)
        let lines = try answer(to: "help\n").splitLines().dropLast(2)
        #expect(lines.map { $0.dropFirst(2).prefix { $0 != " " } } == Command.all.map { Substring($0.name) })
    }

    @Test func countsOneTweakAsOne() throws {
        let example = ExampleTweaks()
        for tweak in ["Color", "Alignment", "Fade", "Font Name", "String"] {
            example.registry.remove(try .init("Content", "Text", tweak))
        }
        for path in ["Player/Audio/Mute", "Player/Audio/Token", "Player/Status/Frames"] {
            example.registry.remove(try .init(path))
        }
        let got = try answer(to: "\n", TestServer(registry: example.registry))
        #expect(Transcript.fits(got, "  example, pid …, 1 tweak; type help\n> "))
    }

    /// As the client ended its last line, whatever it did before.
    @Test func endsLinesAsTheClientDoes() throws {
        #expect(try answer(to: "ping\r\nping\nping\r\0") == "ok pong\r\nok pong\nok pong\r\n")
        #expect(try answer(to: "help ping\r\n").splitLines().dropLast().allSatisfy { $0.hasSuffix("\r") })
    }

    @Test func eventsEndAsTheLastReplyDid() throws {
        let server = try TestServer()
        let client = try server.connect()
        try client.send("watch Content/Text/Size\r\n")
        _ = try client.read(through: "watching 1\r\n")
        try server.registry["Content/Text/Size"]?.set(.number(72))
        #expect(try client.read(through: "\n") == "event 1 Content/Text/Size = 72      # was 60 by code\r\n")
    }

    /// Ctrl-C as telnet sends it: the line so far is gone, and a person gets a new prompt.
    @Test func anInterruptDropsTheLine() throws {
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

    @Test func refusesTelnetOptions() throws {
        let client = try TestServer().connect(.tcp4)
        try client.send([255, 253, 3, 255, 251, 24, 255, 252, 1, 255, 254, 1] + Array("ping\r\n".utf8))
        client.endInput()
        let text = try client.rest()
        // WONT 3, DONT 24; what is given up needs no answer. (Not UTF-8, so each byte is shown as U+FFFD or itself.)
        #expect(text == String(decoding: [255, 252, 3, 255, 254, 24] + Array("ok pong\r\n".utf8), as: UTF8.self))
    }

    @Test func anUnfinishedLastLineIsNotRun() throws {
        let server = try TestServer()
        let got = try answer(to: "ping\nset Content/Text/Size 72", server)
        #expect(Transcript.fits(got, "ok pong\nerror bad-line …\n"))
        #expect(server.registry.revision == 0)
    }

    @Test func quitDropsWhatFollows() throws {
        let server = try TestServer()
        #expect(try answer(to: "quit\nset Content/Text/Size 72\n", server) == "ok\n")
        #expect(server.registry.revision == 0)
    }
}
