// Tests clients of other protocols: they change nothing, and they receive one error line.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// The bytes of a client of another protocol.
struct ForeignInput: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    /// The code of the error line.
    let code: String

    /// - Parameter text: With LF for each CR LF.
    private init(_ name: String, _ text: String, _ code: String = "unknown-command") {
        self.init(name, bytes: Array(text.replacing("\n", with: "\r\n").utf8), code)
    }

    private init(_ name: String, bytes: [UInt8], _ code: String) {
        (testDescription, self.bytes, self.code) = (name, bytes, code)
    }

    /// Valid commands, as an attacker could put them into the body of a request.
    private static let commands =
        "set Content/Text/Size 72\nContent/Text/String = evil\nreset *\nrun Player/Audio/Mute\n"

    static let http = [
        ForeignInput("HTTP GET", "GET / HTTP/1.1\nHost: localhost:7777\nUser-Agent: curl/8\n\n"),
        ForeignInput(
            "HTTP POST", "POST /set HTTP/1.1\nContent-Type: text/plain\nContent-Length: 99\n\n" + commands),
        ForeignInput(
            "form post",
            "POST / HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\n\na=1&b=2\n" + commands),
        ForeignInput("HTTP by a proxy", "CONNECT example.org:443 HTTP/1.1\n\n" + commands),
        ForeignInput("HTTP to a proxy", "GET http://example.org/ HTTP/1.1\n\n" + commands),
        ForeignInput(
            "WebSocket handshake",
            "GET /chat HTTP/1.1\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\n\n"
                + commands),
        ForeignInput("HTTP/2 preface", "PRI * HTTP/2.0\n\nSM\n\n" + commands),
    ]

    static let others = [
        ForeignInput("RTSP", "OPTIONS rtsp://example.org RTSP/1.0\nCSeq: 1\n\n" + commands),
        ForeignInput("SIP", "OPTIONS sip:a@example.org SIP/2.0\n\n" + commands),
        ForeignInput("PROXY protocol", "PROXY TCP4 127.0.0.1 127.0.0.1 1 2\n" + commands),
        ForeignInput("RESP", "*3\n$3\nSET\n$17\nContent/Text/Size\n$2\n72\n"),
        ForeignInput("RESP inline", "SET Content/Text/Size 72\n" + commands),
        ForeignInput("SMTP", "EHLO example.org\nMAIL FROM:<a@example.org>\nDATA\n" + commands + ".\n"),
        ForeignInput("memcached", "stat items\n" + commands), ForeignInput("SSH", "SSH-2.0-OpenSSH_9.6\n" + commands),
        ForeignInput("TLS ClientHello", bytes: clientHello + Array(commands.utf8), "bad-line"),
        ForeignInput("PostgreSQL", bytes: [0, 0, 0, 8, 4, 210, 22, 47] + Array(commands.utf8), "bad-line"),
        ForeignInput("UTF-16", bytes: [254, 255] + commands.utf8.flatMap { [0, $0] }, "bad-line"),
        ForeignInput("an open quote", "\"POST\n" + commands, "bad-quoting"),
    ]

    /// The start of a TLS 1.2 handshake, with no line end near its start.
    private static let clientHello: [UInt8] =
        [22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3] + (0..<32).map { UInt8($0 * 7 % 251) | 128 } + [
            0, 4, 19, 1, 19, 2, 1, 0,
        ]

    /// Random bytes, the same in every run.
    static let random: [ForeignInput] = (1...quantity(20, few: 4)).map { seed in
        var generator = SeededGenerator(seed: UInt64(seed))
        // An empty first line would start the prompt.
        let first = UInt8.random(in: 1..<9, using: &generator)
        let bytes = [first] + (0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return ForeignInput("random \(seed)", bytes: bytes, "")
    }
}

@Suite(.blocking) struct ForeignProtocolTests {
    /// A server that, after a fatal error, reads for as long as the machine needs to send everything.
    private func server() throws -> TestServer { try TestServer { $0.fatalDrain.time = .seconds(3_600) } }

    private func expectUnchanged(_ server: TestServer) throws {
        #expect(server.registry.revision == 0)
        #expect(try server.connect().ask("modified") == ["ok"])
    }

    /// Sends the input as a whole and byte by byte, each to a server of its own, and expects that it changes nothing.
    /// - Parameter first: A line that is sent before.
    private func send(
        _ input: ForeignInput, after first: String? = nil, _ transport: Transport, endsInput: Bool,
        _ expect: ([String]) -> Void
    ) throws {
        for isWhole in [true, false] {
            let server = try server()
            let client = try server.connect(transport)
            if let first {
                try client.send(first)
                _ = try client.read(through: first.hasSuffix("\r\n") ? "ok\r\n> " : "ok\n> ")
            }
            if isWhole { try client.send(input.bytes) } else { try client.sendBytewise(input.bytes) }
            if endsInput { client.endInput() }
            // A reset of the connection would throw here.
            expect(try client.restOfLines())
            try expectUnchanged(server)
        }
    }

    @Test(arguments: ForeignInput.http + ForeignInput.others, Transport.available)
    func anotherProtocolGetsOneErrorLine(_ input: ForeignInput, _ transport: Transport) throws {
        try send(input, transport, endsInput: false) { lines in
            #expect(lines.count == 1 && lines[0].hasPrefix("error \(input.code) "), "\(lines)")
        }
    }

    /// With a byte order mark, which telnet would read as a command, and without one.
    @Test(arguments: [String.Encoding.utf16BigEndian, .utf16LittleEndian, .utf32BigEndian, .utf32LittleEndian])
    func anotherEncodingIsNamed(_ encoding: String.Encoding) throws {
        let isUTF16 = [.utf16BigEndian, .utf16LittleEndian].contains(encoding)
        let error = "error bad-line the input is \(isUTF16 ? "UTF-16" : "UTF-32"); send it as UTF-8"
        for mark in ["", "\u{FEFF}"] {
            for text in ["set Content/Text/Size 72\nmodified\n", "ping"] {
                let server = try server()
                let client = try server.connect()
                try client.send([UInt8](try #require((mark + text).data(using: encoding))))
                let lines = try client.restOfLines()
                #expect(lines.count == 1 && lines[0].contains(error + "; closing"), "\(lines)")
                try expectUnchanged(server)
            }
        }
    }

    /// A telnet client may begin with commands of two bytes, and with a bare return.
    @Test(
        arguments: [[0xFF, 0xFE, 0x22, 1], [0xFF, 0xFE, 0, 1, 0x67], [13, 0, 1, 0x67], [1, 2, 3, 4]] as [[UInt8]])
    func telnetIsNoEncoding(_ bytes: [UInt8]) throws {
        let client = try server().connect()
        try client.send(bytes + [10])
        client.endInput()
        let lines = try client.restOfLines()
        #expect(lines.contains { $0.contains(ParsedLine.badLine.description) }, "\(lines)")
    }

    @Test(arguments: ForeignInput.random, Transport.available)
    func randomBytesGetOneErrorLine(_ input: ForeignInput, _ transport: Transport) throws {
        try send(input, transport, endsInput: true) { lines in
            // Random bytes may also ask for telnet's replies.
            #expect(lines.count == 1 && lines[0].contains("error "), "\(lines)")
        }
    }

    /// A session that has shown that it speaks this protocol is not ended by the content of a line.
    @Test(arguments: [
        "GET / HTTP/1.1", "PRI * HTTP/2.0", "ls HTTP/Server", "Content/Text/String = HTTP/2", "get HTTP/1.1",
        "CONNECT a:1 HTTP/1.1", "OPTIONS rtsp://a RTSP/1.0", "OPTIONS sip:a SIP/2.0", "SSH-2.0-x", "EHLO a", "*3",
        "PROXY TCP4 127.0.0.1 127.0.0.1 1 2", "\u{16}\u{3}\u{1}", "\"GET / HTTP/1.1", "STARTTLS", "\u{1}",
    ])
    func noLineEndsAProvenSession(_ line: String) throws {
        for first in ["ping", "", "begin"] {
            let lines = try server().connect().exchange("\(first)\n\(line)\nping\n")
            #expect(lines.contains { $0.hasSuffix("ok pong") }, "\(lines)")
        }
    }

    @Test func aCategoryMayBeCalledHTTP() throws {
        let server = try server()
        let port = try server.registry.register("HTTP", "Server", "Port", 80)
        for (line, reply) in [
            ("ls HTTP/Server", "HTTP/Server/Port = 80 "), ("get HTTP/1.1", "error unknown-tweak"),
            ("HTTP/Server/Port = 81", "HTTP/Server/Port = 81"), ("ls HTTP/Server", "HTTP/Server/Port = 81 "),
            ("Content/Text/String = HTTP/2", "Content/Text/String = \"HTTP/2\""),
        ] {
            // The first line of a connection.
            let lines = try server.connect().exchange("\(line)\nping\n")
            #expect(lines.first?.hasPrefix(reply) == true && lines.last == "ok pong", "\(lines)")
        }
        #expect(port.value == 81)
    }

    /// Each line gets its own error.
    @Test(arguments: ForeignInput.random, Transport.available)
    func randomBytesAfterAPromptAreErrors(_ input: ForeignInput, _ transport: Transport) throws {
        try send(input, after: "prompt\n", transport, endsInput: true) { lines in
            #expect(lines.contains { $0.contains("error ") })
        }
    }

    @Test(arguments: [
        "*3\r\n$3\r\nSET\r\n$17\r\nContent/Text/Size\r\n$2\r\n72\r\n", "EHLO a\r\nMAIL FROM:<a@b>\r\nQUIT\r\n",
        "POST\r\n\r\nsize=72\r\n", "\u{16}\u{3}\u{1}\r\n",
    ])
    func otherProtocolsAfterAPromptAreErrors(_ text: String) throws {
        let server = try server()
        #expect(try server.connect(.tcp4).exchange("\r\n" + text).contains { $0.contains("error ") })
        try expectUnchanged(server)
    }

    @Test func aFatalErrorDropsTheBatchAndLaterLines() throws {
        let server = try TestServer { ($0.fatalDrain.time, $0.lineBytes) = (.seconds(3_600), 64) }
        let client = try server.connect()
        try client.send("begin\nset Content/Text/Size 72\n\(String(repeating: "x", count: 65))\ncommit\n")
        let lines = try client.restOfLines()
        #expect(lines.count == 3 && lines[2].hasPrefix("error too-long"))
        try expectUnchanged(server)
    }

    /// In a batch, another protocol's line is a change that failed.
    @Test func aLineOfHTTPFailsTheBatch() throws {
        let server = try server()
        let lines = try server.connect().exchange("begin\nset Content/Text/Size 72\nGET / HTTP/1.1\ncommit\n")
        #expect(lines.count == 4 && lines[2...].allSatisfy { $0.hasPrefix("error unknown-command") }, "\(lines)")
        try expectUnchanged(server)
    }

    /// It is not lost to a reset, although the client sends much more.
    @Test(arguments: Transport.available) func theErrorLineArrives(_ transport: Transport) throws {
        let client = try server().connect(transport)
        try client.send("POST / HTTP/1.1\r\n" + String(repeating: "x", count: 900_000))
        #expect(try client.restOfLines().count == 1)
    }

    /// (first lines, whether an unknown command behind them is not fatal)
    @Test(arguments: [
        ("ping", true), ("", true), ("get Content", true), ("set Content/Text/Size 72", true),
        ("run Player/Audio/Mute", true), ("# comment", false), ("ok rev 3", false), ("# comment\n\n", false),
        // A refused command does not count: a settings file or another protocol may begin like this.
        ("get", false), ("get Nothing/At/All", false), ("Content/Text/Nothing = 1", false), ("user = root", false),
        ("Content/Text/Size", false), ("\"GET\" x", false), ("set k 0 0 5", false), ("quit now", false),
        ("set Content/Text/Size 500", false),
    ])
    func anAcceptedCommandMakesErrorsRecoverable(_ lines: String, _ survives: Bool) throws {
        let replies = try server().connect().exchange("\(lines)\nGET x\nping\n")
        #expect(replies.contains { $0.contains("ok pong") } == survives)
    }
}
