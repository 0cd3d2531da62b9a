// Byte streams that are not this protocol: they change nothing, and their one error line is really received.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// Somebody who thinks that something else listens here.
struct Stranger: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let bytes: [UInt8]
    /// The code of the one error line; nil where the code depends on the bytes.
    var code: String?

    init(_ name: String, _ text: String, _ code: String) {
        (testDescription, bytes, self.code) = (name, Array(text.replacing("\n", with: "\r\n").utf8), code)
    }

    init(_ name: String, bytes: [UInt8], _ code: String?) {
        (testDescription, self.bytes, self.code) = (name, bytes, code)
    }

    /// Valid commands, as somebody might smuggle them in the body of a request.
    private static let commands =
        "set Content/Text/Size 72\nContent/Text/String = evil\nreset *\nrun Player/Audio/Mute\n"

    static let http = [
        Stranger("HTTP GET", "GET / HTTP/1.1\nHost: localhost:7777\nUser-Agent: curl/8\n\n", "unknown-command"),
        Stranger("HTTP/1.0 in lower case", "get / http/1.0\n\n", "unknown-command"),
        Stranger(
            "HTTP POST", "POST /set HTTP/1.1\nContent-Type: text/plain\nContent-Length: 99\n\n" + commands,
            "unknown-command"),
        Stranger(
            "form post",
            "POST / HTTP/1.1\nContent-Type: application/x-www-form-urlencoded\n\na=1&b=2\n" + commands,
            "unknown-command"),
        // The line is made of commands alone, as far as its first words go.
        Stranger("HTTP with our verbs", "set Content/Text/Size 72 HTTP/1.1\n" + commands, "unknown-command"),
        Stranger(
            "WebSocket handshake",
            "GET /chat HTTP/1.1\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Key: x3JJHMbDL1EzLkh9GBhXDw==\n\n"
                + commands, "unknown-command"),
        Stranger("HTTP/2 preface", "PRI * HTTP/2.0\n\nSM\n\n" + commands, "unknown-command"),
    ]

    static let others = [
        Stranger("RESP", "*3\n$3\nSET\n$17\nContent/Text/Size\n$2\n72\n", "unknown-command"),
        Stranger("RESP inline", "SET Content/Text/Size 72\n" + commands, "unknown-command"),
        Stranger("SMTP", "EHLO example.org\nMAIL FROM:<a@example.org>\nDATA\n" + commands + ".\n", "unknown-command"),
        Stranger("memcached", "stat items\n" + commands, "unknown-command"),
        Stranger("SSH", "SSH-2.0-OpenSSH_9.6\n" + commands, "unknown-command"),
        Stranger("TLS ClientHello", bytes: hello + Array(commands.utf8), "bad-line"),
        Stranger("PostgreSQL", bytes: [0, 0, 0, 8, 4, 210, 22, 47] + Array(commands.utf8), "bad-line"),
        Stranger("UTF-16", bytes: [254, 255] + commands.utf8.flatMap { [0, $0] }, "bad-line"),
        Stranger("an open quote", "\"POST\n" + commands, "bad-quoting"),
    ]

    /// The start of a TLS 1.2 handshake, without a line end for long.
    private static let hello: [UInt8] =
        [22, 3, 1, 0, 200, 1, 0, 0, 196, 3, 3] + (0..<32).map { UInt8($0 * 7 % 251) | 128 } + [
            0, 4, 19, 1, 19, 2, 1, 0,
        ]

    /// Bytes that mean nothing; the same in every run.
    static let random: [Stranger] = (1...quantity(20, few: 4)).map { seed in
        var generator = SeededGenerator(seed: UInt64(seed))
        // A line end first would be a person who presses Enter.
        let first = UInt8.random(in: 1..<9, using: &generator)
        let bytes = [first] + (0..<500).map { _ in UInt8.random(in: 0...255, using: &generator) }
        return Stranger("random \(seed)", bytes: bytes, nil)
    }
}

@Suite(.blocking) struct StrangerTests {
    /// How a stranger's bytes come.
    enum Pieces: CaseIterable { case whole, byByte }

    /// A server that reads on after a fatal error for as long as the machine needs to send all of it.
    private func patientServer() throws -> TestServer {
        var limits = TweakServerLimits()
        limits.fatalDrain.time = .seconds(3_600)
        return try TestServer(limits: limits)
    }

    private func expectUnchanged(_ server: TestServer, at location: SourceLocation = #_sourceLocation) throws {
        #expect(server.registry.revision == 0, sourceLocation: location)
        #expect(try server.connect().ask("modified") == ["ok"], sourceLocation: location)
    }

    /// Sends what the server still takes; it may have closed in the midst of it.
    private func send(_ stranger: Stranger, _ pieces: Pieces, to client: TestClient) throws {
        switch pieces {
        case .whole: try client.send(stranger.bytes)
        case .byByte: try client.drip(stranger.bytes)
        }
    }

    @Test(arguments: Stranger.http + Stranger.others, Transport.available)
    func getsOneErrorAndChangesNothing(_ stranger: Stranger, _ transport: Transport) throws {
        for pieces in Pieces.allCases {
            let server = try patientServer()
            let client = try server.connect(transport)
            try send(stranger, pieces, to: client)
            // To the end of the stream: a reset would be thrown here.
            let lines = try client.restOfLines()
            #expect(lines.count == 1, "\(pieces): \(lines)")
            #expect(lines.first?.hasPrefix("error \(stranger.code ?? "") ") == true, "\(pieces): \(lines)")
            try expectUnchanged(server)
        }
    }

    @Test(arguments: Stranger.random, Transport.available)
    func randomBytes(_ stranger: Stranger, _ transport: Transport) throws {
        for pieces in Pieces.allCases {
            let server = try patientServer()
            let client = try server.connect(transport)
            try send(stranger, pieces, to: client)
            client.endInput()
            // Between telnet's answers, which random bytes may ask for.
            let lines = try client.restOfLines()
            #expect(lines.count == 1 && lines[0].contains("error "), "\(pieces): \(lines)")
            try expectUnchanged(server)
        }
    }

    /// Where a session is proven, HTTP is fatal all the same.
    @Test(arguments: Stranger.http, Transport.available)
    func httpIsFatalAfterPromptToo(_ stranger: Stranger, _ transport: Transport) throws {
        for pieces in Pieces.allCases {
            let server = try patientServer()
            let client = try server.connect(transport)
            try client.send("prompt\r\n")
            _ = try client.read(through: "ok\r\n> ")
            try send(stranger, pieces, to: client)
            let lines = try client.restOfLines()
            #expect(lines.count == 1 && lines[0].hasPrefix("error unknown-command "), "\(pieces): \(lines)")
            try expectUnchanged(server)
        }
    }

    /// What else comes is answered line by line, and is no command either. (One that sends `prompt` and then valid
    /// commands is no stranger.)
    @Test(arguments: Stranger.random, Transport.available)
    func randomBytesAfterPrompt(_ stranger: Stranger, _ transport: Transport) throws {
        for pieces in Pieces.allCases {
            let server = try patientServer()
            let client = try server.connect(transport)
            try client.send("prompt\n")
            _ = try client.read(through: "ok\n> ")
            try send(stranger, pieces, to: client)
            client.endInput()
            let lines = try client.restOfLines()
            #expect(lines.contains { $0.contains("error ") })
            try expectUnchanged(server)
        }
    }

    @Test(arguments: [
        "*3\r\n$3\r\nSET\r\n$17\r\nContent/Text/Size\r\n$2\r\n72\r\n", "EHLO a\r\nMAIL FROM:<a@b>\r\nQUIT\r\n",
        "POST\r\n\r\nsize=72\r\n", "\u{16}\u{3}\u{1}\r\n",
    ])
    func unprovenLinesAfterPrompt(_ text: String) throws {
        let server = try patientServer()
        let client = try server.connect(.tcp4)
        try client.send("\r\n" + text)
        client.endInput()
        #expect(try client.rest().contains("error "))
        try expectUnchanged(server)
    }

    /// An open batch is dropped, and so is what stands behind the error in the same packet.
    @Test func aFatalErrorDropsTheBatch() throws {
        let server = try patientServer()
        let client = try server.connect()
        try client.send("begin\nset Content/Text/Size 72\nGET / HTTP/1.1\ncommit\n")
        let lines = try client.restOfLines()
        #expect(lines.count == 3 && lines[2].hasPrefix("error unknown-command"))
        try expectUnchanged(server)
    }

    /// The error is not lost to a reset, although much is sent that nobody reads.
    @Test(arguments: Transport.available) func theErrorArrives(_ transport: Transport) throws {
        let server = try patientServer()
        let client = try server.connect(transport)
        try client.send("POST / HTTP/1.1\r\n" + String(repeating: "x", count: 900_000))
        #expect(try client.restOfLines().count == 1)
    }

    // MARK: What proves a session

    /// (first lines, whether an unknown command behind them is survived)
    @Test(arguments: [
        ("ping", true), ("", true), ("get Content", true), ("set Content/Text/Size 72", true),
        ("run Player/Audio/Mute", true), ("# comment", false), ("ok rev 3", false), ("# comment\n\n", false),
        // Refused is not accepted: a file of settings or another protocol may begin like this.
        ("get", false), ("get Nothing/At/All", false), ("Content/Text/Nothing = 1", false), ("user = root", false),
        ("Content/Text/Size", false), ("\"GET\" x", false), ("set k 0 0 5", false), ("quit now", false),
        ("set Content/Text/Size 500", false),
    ])
    func whatProves(_ lines: String, _ survives: Bool) throws {
        let client = try patientServer().connect()
        try client.send("\(lines)\nGET x\nping\n")
        client.endInput()
        #expect(try client.rest().contains("ok pong") == survives)
    }
}
