// A server that wants to fool the terminal of whoever looks at it, in every place where its text is shown.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

/// What strangers send, and what must not come out for it.
private struct Hostile: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]

    var testDescription: String { name }
    /// As text between JSON quotes, so that the bytes come back when it is read.
    var escaped: String {
        bytes.map { "\\u00\(String($0, radix: 16).count == 1 ? "0" : "")\(String($0, radix: 16))" }.joined()
    }

    init(_ name: String, _ text: String) { (self.name, bytes) = (name, Array(text.utf8)) }
    init(_ name: String, bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }

    static let all = [
        Hostile("clears the screen", "\u{1B}[2J"), Hostile("sets the title", "\u{1B}]0;pwned\u{7}"),
        Hostile("asks for an answer", "\u{1B}[6n\u{5}"), Hostile("moves the cursor", "\u{1B}[1;1Hok rev 1"),
        Hostile("an 8-bit sequence", "\u{9B}2J\u{9D}0;pwned\u{9C}"),
        Hostile("as a raw byte", bytes: [0x9B, 0x32, 0x4A]),
        Hostile("goes back", "evil\u{8}\u{8}\u{8}\u{8}good"), Hostile("overwrites the line", "evil\rgood"),
        Hostile("backwards", "\u{202E}live\u{202C}\u{2066}x\u{2069}\u{200F}\u{61C}"),
        Hostile("new lines", "\u{85}\u{2028}\u{2029}\u{B}\u{C}"), Hostile("shifts the letters", "\u{E}\u{F}\u{1B}(0"),
        Hostile("a device's string", "\u{1B}P$q\u{1B}\\\u{1B}_x\u{1B}\\"),
        Hostile("nothing and delete", bytes: [0x00, 0x7F]),
        Hostile("broken UTF-8", bytes: [0xC3, 0x28, 0xFF, 0xFE, 0xED, 0xA0, 0x80, 0xF8, 0xC0, 0x9B]),
        Hostile("a long line", String(repeating: "x", count: 10_000) + "\u{1B}[2J"),
        Hostile("many marks", "e" + String(repeating: "\u{301}", count: 2_000) + "\u{1B}[2J"),
        Hostile("prompts", String(repeating: "> ", count: 5_000) + "\u{1B}[2J"),
    ]

    /// What harms in bytes that a terminal was sent; without the sequences that are our own.
    static func harm(in bytes: [UInt8], own: [String] = []) -> String? {
        guard var text = String(validating: bytes, as: UTF8.self) else { return "broken UTF-8" }
        for sequence in own { text = text.replacingOccurrences(of: sequence, with: "") }
        let found = text.unicodeScalars.first { Quoting.isUnsafe($0) && $0 != "\r" && $0 != "\n" }
        return found.map { "U+\(String($0.value, radix: 16, uppercase: true))" }
    }
}

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists && Tool.setsid.exists)) struct HostileServerTests {
    private let surroundings: Surroundings
    private let server: FakeServer
    private let path: String

    init() throws {
        surroundings = try Surroundings()
        path = surroundings.socket("bounce")
        server = try FakeServer(path)
    }

    private func terminal(_ arguments: String) throws -> PseudoTerminal {
        let settings = surroundings.environment.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        let script =
            "stty -echo -opost; env \(settings) NO_COLOR=1 '\(Surroundings.executable.path)' \(arguments); echo done"
        return try PseudoTerminal(.sh, ["-c", script])
    }

    /// All that a terminal was sent, to the end of the program.
    private func bytes(of terminal: PseudoTerminal, through end: String = "done\n") throws -> [UInt8] {
        var bytes: [UInt8] = []
        while !bytes.ends(with: end) { bytes += try terminal.readBytes() }
        return bytes
    }

    private func say(_ peer: FakePeer, _ lines: [[UInt8]]) throws {
        try peer.say(bytes: lines.flatMap { $0 + [0x0A] })
    }

    @Test(arguments: Hostile.all) fileprivate func anAnswer(_ hostile: Hostile) throws {
        let terminal = try terminal("-s \(path) get A")
        let peer = try server.accepted()
        #expect(try peer.line() == "get A")
        try say(
            peer,
            [
                Array("A/B/C = \"".utf8) + hostile.bytes + Array("\" # ".utf8) + hostile.bytes, hostile.bytes,
                Array("  ".utf8) + hostile.bytes, Array("error denied ".utf8) + hostile.bytes,
            ])
        let harm = Hostile.harm(in: try bytes(of: terminal))
        #expect(harm == nil)
    }

    @Test(arguments: Hostile.all) fileprivate func inJSON(_ hostile: Hostile) throws {
        let terminal = try terminal("-s \(path) --json get A")
        let peer = try server.accepted()
        try peer.answer("json on", "{\"ok\":true}")
        #expect(try peer.line() == "get A")
        try say(peer, [Array("{\"ok\":true,\"x\":\"".utf8) + hostile.bytes + Array("\"}".utf8)])
        let harm = Hostile.harm(in: try bytes(of: terminal))
        #expect(harm == nil)
    }

    @Test(arguments: Hostile.all) fileprivate func events(_ hostile: Hostile) throws {
        let process = try surroundings.start(["-s", path, "watch", "A"])
        let peer = try server.accepted()
        try say(
            peer,
            [
                Array("  name: ".utf8) + hostile.bytes, Array("  instance: ".utf8) + hostile.bytes, Array("ok".utf8),
                Array("A/B/C = ".utf8) + hostile.bytes, Array("ok rev 4 watching 1".utf8),
                Array("event 5 A/B/C = ".utf8) + hostile.bytes,
                Array("event ".utf8) + hostile.bytes + Array(" end-mark".utf8),
            ])
        let lines = try process.lines(through: "end-mark")
        #expect(Hostile.harm(in: Array(lines.joined(separator: "\n").utf8)) == nil)
    }

    /// A time that is over is over, however many events have come already.
    @Test func eventsWithoutEnd() throws {
        let connection = try Connection(.unix(path: path))
        let peer = try server.accepted()
        try peer.say(String(repeating: "event 1 A/B/C = 1\n", count: 1_000))
        var count = 0
        #expect(connection.ask("ping", within: 0) { _ in count += 1 } == nil)
        #expect(count <= 1 && connection.hasEnded)
        #expect(try peer.line() == "ping")
    }

    /// The prompt is the server's name, and Tab its candidates.
    @Test(arguments: Hostile.all) fileprivate func theLineMode(_ hostile: Hostile) throws {
        let terminal = try terminal("-s \(path) repl")
        let peer = try server.accepted()
        #expect(try peer.line() == "hello 1")
        try say(peer, [Array("  name: ".utf8) + hostile.bytes, Array("ok".utf8)])
        var seen = try bytes(of: terminal, through: "C")
        try terminal.type("g\t")
        #expect(try peer.line() == "complete \"g\"")
        let candidates = [
            [UInt8](hostile.bytes), Array("\"g\(hostile.escaped)1\"".utf8), Array("\"g\(hostile.escaped)2\"".utf8),
        ]
        try say(peer, candidates.map { Array("  ".utf8) + $0 } + [Array("ok".utf8)])
        try terminal.type("et A\r")
        // Whatever Tab has made of it.
        _ = try peer.line()
        try say(peer, [Array("A/B/C = ".utf8) + hostile.bytes, Array("error denied ".utf8) + hostile.bytes])
        while !String(decoding: seen, as: UTF8.self).contains("denied: ") || !seen.ends(with: "C") {
            seen += try terminal.readBytes()
        }
        try terminal.type("\u{4}")
        seen += try bytes(of: terminal)
        let columns = (0...80).map { "\u{1B}[\($0)C" }
        #expect(Hostile.harm(in: seen, own: columns + ["\u{1B}[K", "\u{7}"]) == nil)
        #expect(!String(decoding: seen, as: UTF8.self).contains("]0;pwned\u{7}"))
    }

    /// JSON can hold what no line can; the editor's screen is made of it.
    @Test func theEditor() throws {
        let all = Hostile.all.filter { $0.bytes.count < 100 && $0.name != "broken UTF-8" && $0.name != "as a raw byte" }
        let text = all.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        let tweak = JSON.object([
            ("path", .string("A/B/C")), ("kind", .string("choice")), ("value", .string("a" + text)),
            ("default", .string("b" + text)), ("unit", .string(text)), ("help", .string("help" + text)),
            ("choices", .array([.object([("name", .string("c" + text))])])), ("flags", .array([.string(text)])),
            ("modified", .bool(true)),
        ])
        let bad = JSON.object([("path", .string("A/B/" + text)), ("kind", .string("bool")), ("value", .bool(true))])
        let facts = JSON.object([("ok", .bool(true)), ("rev", .int(1)), ("tweaks", .array([tweak, bad]))])
        let terminal = try EditorTerminal(surroundings, 80, 24, "COLORTERM=truecolor")
        let peer = try server.accepted()
        #expect(try peer.line() == "hello 1")
        try peer.say(
            "  name: \(text.replacing("\n", with: "").replacing("\r", with: ""))\n  instance: 1\n  pid: 1\nok\n")
        #expect(try peer.line() == "json on" && peer.line() == "watch *" && peer.line() == "json off")
        try peer.say("{\"ok\":true}\n\(facts.text)\nok\n")
        try terminal.wait(for: "help")
        try terminal.type("q")
        try terminal.wait(for: "code 0")
        for piece in [
            "\u{1B}]", "\u{7}", "\u{9B}", "\u{202E}", "\u{1B}[6n", "\u{1B}(0", "\u{1B}P", "\u{E}", "\u{8}", "\u{2028}",
        ] {
            #expect(!terminal.sawBytes(piece), "\(Quoting.json(piece))")
        }
        #expect(terminal.isRestored)
    }

    /// The answer that is late must not be taken for that to the next request.
    @Test func aLateAnswer() throws {
        let connection = try Connection(.unix(path: path))
        let peer = try server.accepted()
        #expect(connection.ask("complete a", within: 10) == nil)
        #expect(connection.hasEnded && connection.ask("get A/B/C", within: 10) == nil)
        try peer.answer("complete a", "  a", "ok")
        #expect(connection.ask("get A/B/C", within: 10) == nil)
    }

    /// Whoever accepts and hangs up is asked less and less often.
    @Test func aDoorThatIsShutAgain() throws {
        let address = Address.unix(path: path)
        var link = EditorLink(Target(address), try Connection(address))
        var now = ContinuousClock.now
        var pauses: [Duration] = []
        for _ in 0..<8 {
            link.drop(now: now)
            let retry = try #require(link.retry)
            pauses.append(retry - now)
            now = retry
            let isConnected = link.reconnect(now: now)
            #expect(isConnected)
            _ = try server.accepted()
        }
        #expect(pauses == [50, 100, 200, 400, 800, 1_600, 2_000, 2_000].map { .milliseconds($0) })
    }

    /// An answer that does not end, as many lines or as one, costs no more memory than there is for one.
    @Test(arguments: ["x\n", "x"]) func anEndlessAnswer(_ piece: String) throws {
        let connection = try Connection(.unix(path: path), longest: 10_000)
        let peer = try server.accepted()
        try peer.say(String(repeating: piece, count: 100_000 / piece.utf8.count))
        #expect(connection.ask("get A") == nil)
        #expect(connection.hasEnded && connection.isFlooded)
        try peer.close()
    }

    /// The same beside a prompt, where no answer is waited for; and it is said why the connection is closed.
    @Test(arguments: ["x\n", "x"]) func anEndlessAnswerUnasked(_ piece: String) throws {
        let terminal = try terminal("-s \(path) repl")
        let peer = try server.accepted()
        #expect(try peer.line() == "hello 1")
        try say(peer, [Array("  name: bounce".utf8), Array("ok".utf8)])
        let flood = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        // It hangs up when it has had enough.
        var count = 0
        while count < 64, peer.sayUnlessBroken(flood) { count += 1 }
        #expect(count < 64)
        try terminal.read(through: "sends an answer of more than 16 MiB, as no process does")
        try terminal.type("\u{4}")
        _ = try bytes(of: terminal)
    }

    /// A process that goes on and on has no more time for all of it than for the first word.
    @Test func aSlowAnswer() throws {
        let connection = try Connection(.unix(path: path))
        let peer = try server.accepted()
        try peer.say("  name: bounce\n")
        #expect(connection.ask("hello 1", within: 50) == nil)
        #expect(connection.hasEnded && !connection.isFlooded)
        try peer.close()
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
