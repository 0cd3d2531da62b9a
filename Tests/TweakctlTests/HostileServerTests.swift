// Tests that a hostile server cannot control the terminal, exhaust memory, or block tweakctl.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@testable import tweakctl

/// Bytes that would harm a terminal.
private struct Attack: CustomTestStringConvertible, Sendable {
    let name: String
    let bytes: [UInt8]

    var testDescription: String { name }
    /// For a JSON string that decodes to these bytes.
    var escaped: String {
        bytes.map { "\\u00\(String($0, radix: 16).count == 1 ? "0" : "")\(String($0, radix: 16))" }.joined()
    }

    init(_ name: String, _ text: String) { (self.name, bytes) = (name, Array(text.utf8)) }
    init(_ name: String, bytes: [UInt8]) { (self.name, self.bytes) = (name, bytes) }

    static let all = [
        Attack("clears the screen", "\u{1B}[2J"), Attack("sets the title", "\u{1B}]0;pwned\u{7}"),
        Attack("asks for a reply", "\u{1B}[6n\u{5}"), Attack("moves the cursor", "\u{1B}[1;1Hok rev 1"),
        Attack("8-bit sequence", "\u{9B}2J\u{9D}0;pwned\u{9C}"), Attack("raw byte", bytes: [0x9B, 0x32, 0x4A]),
        Attack("backspaces", "evil\u{8}\u{8}\u{8}\u{8}good"), Attack("overwrites the line", "evil\rgood"),
        Attack("bidirectional text", "\u{202E}live\u{202C}\u{2066}x\u{2069}\u{200F}\u{61C}"),
        Attack("line breaks", "\u{85}\u{2028}\u{2029}\u{B}\u{C}"), Attack("character sets", "\u{E}\u{F}\u{1B}(0"),
        Attack("device control string", "\u{1B}P$q\u{1B}\\\u{1B}_x\u{1B}\\"),
        Attack("NUL and delete", bytes: [0x00, 0x7F]),
        Attack("invalid UTF-8", bytes: [0xC3, 0x28, 0xFF, 0xFE, 0xED, 0xA0, 0x80, 0xF8, 0xC0, 0x9B]),
        Attack("long line", String(repeating: "x", count: 10_000) + "\u{1B}[2J"),
        Attack("many combining marks", "e" + String(repeating: "\u{301}", count: 2_000) + "\u{1B}[2J"),
        Attack("prompts", String(repeating: "> ", count: 5_000) + "\u{1B}[2J"),
    ]

    /// The first harmful character in the output of a terminal, without tweakctl's own sequences; nil if there is none.
    static func harm(in bytes: [UInt8], own: [String] = []) -> String? {
        guard var text = String(validating: bytes, as: UTF8.self) else { return "invalid UTF-8" }
        for sequence in own { text = text.replacingOccurrences(of: sequence, with: "") }
        let found = text.unicodeScalars.first { Quoting.isUnsafe($0) && $0 != "\r" && $0 != "\n" }
        return found.map { "U+\(String($0.value, radix: 16, uppercase: true))" }
    }
}

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.hasTerminal)) struct HostileServerTests {
    private let fixture: TweakctlFixture
    private let server: FakeServer
    private var path: String { server.address }

    init() throws {
        fixture = try TweakctlFixture()
        server = try FakeServer(fixture.socket("bounce"))
    }

    private func terminal(_ arguments: String) throws -> PseudoTerminal {
        try fixture.terminal("-s \(path) \(arguments)", setup: "stty -echo -opost")
    }

    /// All output of a terminal until it ends with a text, which is the end of the program unless told otherwise.
    private func output(of terminal: PseudoTerminal, through end: String = "done\n") throws -> [UInt8] {
        var bytes: [UInt8] = []
        while !bytes.ends(with: end) { bytes += try terminal.readBytes() }
        return bytes
    }

    /// Sends lines, in each of which the bytes of an attack stand for `ATTACK`.
    private func send(_ attack: Attack, in lines: [String], to peer: FakePeer) throws {
        for line in lines {
            let parts = line.components(separatedBy: "ATTACK").map { Array($0.utf8) }
            try peer.send(bytes: Array(parts.joined(separator: attack.bytes)) + [0x0A])
        }
    }

    @Test(arguments: Attack.all, [false, true])
    fileprivate func repliesAreSanitized(_ attack: Attack, _ isJSON: Bool) throws {
        let terminal = try terminal(isJSON ? "--json get A" : "get A")
        let peer = try server.accept()
        if isJSON { try peer.answer("json on", "{\"ok\":true}") }
        #expect(try peer.line() == "get A")
        let lines = ["A/B/C = \"ATTACK\" # ATTACK", "ATTACK", "  ATTACK", "error denied ATTACK"]
        try send(attack, in: isJSON ? ["{\"ok\":true,\"x\":\"ATTACK\"}"] : lines, to: peer)
        #expect(Attack.harm(in: try output(of: terminal)) == nil)
    }

    @Test(arguments: Attack.all) fileprivate func eventsAreSanitized(_ attack: Attack) throws {
        let process = try fixture.start(["-s", path, "watch", "A"])
        let peer = try server.accept()
        let lines = [
            "  name: ATTACK", "  instance: ATTACK", "ok", "A/B/C = ATTACK", "ok rev 4 watching 1",
            "event 5 A/B/C = ATTACK", "event ATTACK end-mark",
        ]
        try send(attack, in: lines, to: peer)
        let printed = try process.lines(through: "end-mark")
        #expect(Attack.harm(in: Array(printed.joined(separator: "\n").utf8)) == nil)
    }

    @Test func eventsDoNotExtendATimeout() throws {
        let connection = try Connection(.unix(path: path))
        let peer = try server.accept()
        try peer.send(String(repeating: "event 1 A/B/C = 1\n", count: 1_000))
        var count = 0
        #expect(connection.ask("ping", within: 0) { _ in count += 1 } == nil)
        #expect(count <= 1 && connection.hasEnded)
        #expect(try peer.line() == "ping")
    }

    /// The prompt shows the server's name, and Tab its candidates.
    @Test(arguments: Attack.all) fileprivate func promptAndCandidatesAreSanitized(_ attack: Attack) throws {
        let terminal = try terminal("repl")
        let peer = try server.accept()
        #expect(try peer.line() == "hello 1")
        try send(attack, in: ["  name: ATTACK", "ok"], to: peer)
        var seen = try output(of: terminal, through: "C")
        try terminal.type("g\t")
        #expect(try peer.line() == "complete \"g\"")
        let candidates = ["  ATTACK", "  \"g\(attack.escaped)1\"", "  \"g\(attack.escaped)2\"", "ok"]
        try send(attack, in: candidates, to: peer)
        try terminal.type("et A\r")
        // The line depends on what Tab inserted.
        _ = try peer.line()
        try send(attack, in: ["A/B/C = ATTACK", "error denied ATTACK"], to: peer)
        while !String(decoding: seen, as: UTF8.self).contains("denied: ") || !seen.ends(with: "C") {
            seen += try terminal.readBytes()
        }
        try terminal.type("\u{4}")
        seen += try output(of: terminal)
        let columns = (0...80).map { "\u{1B}[\($0)C" }
        #expect(Attack.harm(in: seen, own: columns + ["\u{1B}[K", "\u{7}"]) == nil)
        #expect(!String(decoding: seen, as: UTF8.self).contains("]0;pwned\u{7}"))
    }

    /// JSON can hold characters that no line can.
    @Test func theEditorSanitizesJSON() throws {
        let all = Attack.all.filter { $0.bytes.count < 100 && $0.name != "invalid UTF-8" && $0.name != "raw byte" }
        let text = all.map { String(decoding: $0.bytes, as: UTF8.self) }.joined()
        let tweak = JSON.object([
            ("path", .string("A/B/C")), ("kind", .string("choice")), ("value", .string("a" + text)),
            ("default", .string("b" + text)), ("unit", .string(text)), ("help", .string("help" + text)),
            ("choices", .array([.object([("name", .string("c" + text))])])), ("flags", .array([.string(text)])),
            ("modified", .bool(true)),
        ])
        let bad = JSON.object([("path", .string("A/B/" + text)), ("kind", .string("bool")), ("value", .bool(true))])
        let reply = JSON.object([("ok", .bool(true)), ("rev", .int(1)), ("tweaks", .array([tweak, bad]))])
        let terminal = try EditorTerminal(fixture, 80, 24, "COLORTERM=truecolor")
        let peer = try server.accept()
        peer.isOld = false
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer("json text", "{\"ok\":true,\"text\":[\"ok\"]}")
        let hello = JSON.object([
            ("ok", .bool(true)), ("name", .string(text)), ("instance", .string(text)), ("pid", .string(text)),
            ("text", .array([.string(text)])),
        ])
        try peer.answer("hello 1", hello.text)
        #expect(try peer.line() == "json on" && peer.line() == "watch *" && peer.line() == "json text")
        try peer.send("{\"ok\":true}\n\(reply.text)\n{\"ok\":true}\n")
        try terminal.wait(for: "help")
        try terminal.type("q", for: "code 0")
        for piece in [
            "\u{1B}]", "\u{7}", "\u{9B}", "\u{202E}", "\u{1B}[6n", "\u{1B}(0", "\u{1B}P", "\u{E}", "\u{8}", "\u{2028}",
        ] {
            #expect(!terminal.output.contains(piece), "\(Quoting.json(piece))")
        }
        #expect(terminal.isRestored)
    }

    @Test func aLateReplyIsNotTakenForTheNextOne() throws {
        let connection = try Connection(.unix(path: path))
        let peer = try server.accept()
        #expect(connection.ask("complete a", within: 10) == nil)
        #expect(connection.hasEnded && connection.ask("get A/B/C", within: 10) == nil)
        try peer.answer("complete a", "  a", "ok")
        #expect(connection.ask("get A/B/C", within: 10) == nil)
    }

    @Test func theEditorReconnectsWithIncreasingPauses() throws {
        let address = Address.unix(path: path)
        var link = EditorLink(Target(address, timeout: .standard), try Connection(address))
        var now = ContinuousClock.now
        var pauses: [Duration] = []
        for _ in 0..<8 {
            link.disconnect(now: now)
            let retry = try #require(link.retry)
            pauses.append(retry - now)
            now = retry
            let isConnected = link.reconnect(now: now)
            #expect(isConnected)
            _ = try server.accept()
        }
        #expect(pauses == [50, 100, 200, 400, 800, 1_600, 2_000, 2_000].map { .milliseconds($0) })
    }

    @Test(arguments: ["x\n", "x"]) func anEndlessReplyClosesTheConnection(_ piece: String) throws {
        let connection = try Connection(.unix(path: path), sizeLimit: 10_000)
        let peer = try server.accept()
        try peer.send(String(repeating: piece, count: 100_000 / piece.utf8.count))
        #expect(connection.ask("get A") == nil)
        #expect(connection.hasEnded && connection.isOversized)
        try peer.close()
    }

    /// At the prompt no reply is expected.
    @Test(arguments: ["x\n", "x"]) func anEndlessReplyAtThePromptClosesTheConnection(_ piece: String) throws {
        let terminal = try terminal("repl")
        let peer = try server.accept()
        try peer.answer("hello 1", "  name: bounce", "ok")
        let flood = String(repeating: piece, count: (1 << 20) / piece.utf8.count)
        var count = 0
        while count < 64, peer.sendUnlessClosed(flood) { count += 1 }
        #expect(count < 64)
        try terminal.read(through: "sends an answer of more than 16 MiB, as no process does")
        try terminal.type("\u{4}")
        _ = try output(of: terminal)
    }

    /// The timeout is for the whole reply, not for each of its lines.
    @Test func aSlowReplyTimesOut() throws {
        let connection = try Connection(.unix(path: path))
        let peer = try server.accept()
        try peer.send("  name: bounce\n")
        #expect(connection.ask("hello 1", within: 50) == nil)
        #expect(connection.hasEnded && !connection.isOversized)
        try peer.close()
    }
}

extension [UInt8] {
    fileprivate func ends(with text: String) -> Bool { suffix(text.utf8.count).elementsEqual(text.utf8) }
}
