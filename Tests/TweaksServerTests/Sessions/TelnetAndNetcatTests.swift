// Tests the real telnet and nc, on a terminal and in a pipe.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(
    .blocking, .enabled(if: Tool.telnet.exists, "install telnet"),
    .enabled(if: Tool.setsid.exists, "install util-linux"))
struct TelnetTests {
    private let server: TestServer
    private let terminal: PseudoTerminal

    init() throws {
        server = try TestServer(hasThread: true)
        terminal = try PseudoTerminal(.telnet, ["127.0.0.1", "\(try #require(server.server.port))"])
        try terminal.read(through: "Escape character is '^]'.\n")
        try terminal.type("\r")
    }

    @Test func telnetShowsPromptsAndReplies() throws {
        #expect(Transcript.fits(try terminal.read(through: "\n> "), "…\n  example, pid …, 9 tweaks; type help\n> "))
        try terminal.type("set Content/Text/Size 72\r")
        #expect(
            try terminal.read(through: "\n> ")
                == "set Content/Text/Size 72\nContent/Text/Size = 72      # was 60\nok rev 1\n> ")
        try terminal.type("quit\r")
        try terminal.read(through: "Connection closed by foreign host.")
        #expect(server.registry["Content/Text/Size"]?.value == .number(72))
    }

    /// The client can type on afterwards.
    @Test func controlCDropsTheLine() throws {
        try terminal.read(through: "\n> ")
        for _ in 1...3 {
            try terminal.type("set Content/Text/Size 99\u{3}")
            try terminal.read(through: "\n> ")
            try terminal.type("get Content/Text/Size\r")
            try terminal.read(through: "Content/Text/Size = 60      # number 10...100 step 0.5 pt\nok\n> ")
        }
        #expect(server.registry.revision == 0)
    }
}

@Suite(.blocking, .tags(.process), .enabled(if: Tool.nc.exists, "install netcat-openbsd"))
struct NetcatTests {
    private let server: TestServer
    /// The arguments for TCP and for the Unix socket.
    private let endpoints: [[String]]

    init() throws {
        server = try TestServer(hasThread: true)
        endpoints = [["-N", "127.0.0.1", "\(try #require(server.server.port))"], ["-N", "-U", server.path]]
    }

    @Test func netcatPrintsTheReplyOnlyAndEnds() throws {
        for endpoint in endpoints {
            let export = "Content/Text/Size = 60\nContent/Text/String = \"Tweaks\"\nok\n"
            #expect(try Tool.nc.run(endpoint, input: "export Content/Text/S*\n") == export)
            #expect(try Tool.nc.run(endpoint, input: "") == "")
            let watch = try Tool.nc.run(endpoint, input: "watch Content/Text/Size\n")
            #expect(watch.hasSuffix("ok rev 0 watching 1\n"))
        }
    }

    /// `nc -N … > tweaks.conf`, then `nc -N … < tweaks.conf`.
    @Test func anExportCanBeSentBack() throws {
        for endpoint in endpoints {
            try server.registry["Content/Text/Size"]?.set(.number(72))
            try server.registry["Content/Text/Font Name"]?.set(.string("\"Gill\" 'Sans'\n\u{2028}#"))
            let file = try Tool.nc.run(endpoint, input: "export\n")
            let before = server.registry.snapshot()
            for path in ["Content/Text/Size", "Content/Text/Font Name"] { try server.registry[path]?.reset() }
            let output = try Tool.nc.run(endpoint, input: file)
            #expect(!output.contains("error"), "\(output)")
            for path in ["Content/Text/Size", "Content/Text/Font Name", "Content/Text/Color"] {
                #expect(server.registry.snapshot()[path] == before[path])
            }
        }
    }

    @Test func anHTTPRequestInAPipeGetsOneError() throws {
        for endpoint in endpoints {
            let output = try Tool.nc.run(endpoint, input: "POST / HTTP/1.1\r\n\r\nset Content/Text/Size 72\r\n")
            #expect(output.hasPrefix("error unknown-command ") && output.splitLines().count == 2)
        }
        #expect(server.registry.revision == 0)
    }

    @Test(.enabled(if: Tool.setsid.exists, "install util-linux")) func netcatOnATerminalShowsPromptsAndEvents() throws {
        let terminal = try PseudoTerminal(.nc, ["-U", server.path])
        try terminal.type("\r")
        try terminal.read(through: "9 tweaks; type help\n> ")
        try terminal.type("watch Content/Text/Size\r")
        try terminal.read(through: "watching 1\n> ")
        try server.registry["Content/Text/Size"]?.set(.number(72))
        try terminal.read(through: "\nevent 1 Content/Text/Size = 72      # was 60 by code\n> ")
    }
}
