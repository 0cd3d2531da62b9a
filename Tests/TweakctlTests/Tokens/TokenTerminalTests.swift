// Tests of tokens on a terminal: they are neither shown nor saved in the history, and the terminal is restored.

import Foundation
import Testing
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.hasTerminal)) struct TokenTerminalTests {
    private let fixture: LoginFixture
    private var secret: String { fixture.secret }

    init() throws { fixture = try LoginFixture() }

    private var history: String {
        let path = fixture.tweakctl.directory.file("home/.local/state/tweakctl/history")
        return (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }

    @Test func aTypedTokenIsNotShown() throws {
        let path = fixture.address
        let terminal = try fixture.terminal("login")
        var seen = try terminal.read(through: "Token for \(path): ")
        try terminal.type(secret + "\r")
        let peer = try fixture.accept()
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer("whoami", #"{"ok":true,"token":"alice","scopes":["read"],"expires":null}"#)
        seen += try terminal.read(through: "done\n")
        #expect(seen.contains("logged in to \(path) as alice, which may read\n") && seen.contains("code 0"))
        #expect(!seen.contains(secret) && !seen.contains("twk_"))
        #expect(seen.word(after: "before") == seen.word(after: "after"))
        #expect(fixture.saved?.secret == secret)
    }

    /// Ctrl-Z does nothing, because the shell would continue on a terminal without echo.
    @Test(arguments: ["\u{3}", "\u{1A}\u{3}", "\u{4}", "\r", "kill"])
    func theTerminalIsRestoredHoweverTheLoginEnds(_ end: String) throws {
        let terminal = try fixture.terminal("login")
        var seen = try terminal.read(through: "Token for \(fixture.address): ")
        if end == "kill" {
            _ = try fixture.tweakctl.shell("kill -TERM \(try #require(seen.word(after: "pid")))")
        } else {
            try terminal.type(end)
        }
        seen += try terminal.read(through: "done\n")
        #expect(seen.word(after: "before") == seen.word(after: "after"))
        #expect(!seen.contains("code 0") && fixture.cache.servers.isEmpty)
    }

    @Test func anAuthenticationAtThePromptIsMaskedAndNotSaved() throws {
        let terminal = try fixture.terminal("repl")
        let peer = try fixture.server.accept()
        try peer.answer("hello 1", "  name: fake", "ok")
        var seen = try terminal.read(through: "fake> ")
        // Tab completes nothing.
        seen += try terminal.type("auth \(secret)\t", through: "auth " + String(repeating: "•", count: secret.count))
        try terminal.type("\r")
        try peer.authenticate(secret, "error denied no \(secret) here")
        seen += try terminal.read(through: "denied: no (token) here\n")
        seen += try terminal.read(through: "fake> ")
        try terminal.type("  auth \"\(secret)\"\r")
        try peer.authenticate(secret)
        seen += try terminal.read(through: "token alice may read\n")
        // The second time it is recalled from the history, which holds nothing else.
        for keys in ["ping\r", "\u{1B}[A\u{1B}[A\u{1B}[A\r"] {
            seen += try terminal.read(through: "fake> ")
            try terminal.type(keys)
            try peer.answer("ping", "ok")
            seen += try terminal.read(through: "\n")
        }
        seen += try terminal.read(through: "fake> ")
        seen += try terminal.type("\u{4}", through: "done\n")
        #expect(!seen.contains(secret) && history == "ping\n")
    }

    @Test func logoutAtThePromptClosesTheConnection() throws {
        try fixture.save()
        let terminal = try fixture.terminal("repl")
        func accept(authenticating: Bool) throws -> FakePeer {
            let peer = try authenticating ? fixture.accept() : fixture.server.accept()
            try peer.answer("hello 1", "  name: fake", "ok")
            return peer
        }
        func ping(_ peer: FakePeer) throws {
            try peer.answer("ping", "ok")
            try terminal.read(through: "\n")
            try terminal.read(through: "fake> ")
        }
        let first = try accept(authenticating: true)
        try terminal.read(through: "fake> ")
        try terminal.type("logout --keep\r", through: "with the saved token\n")
        try terminal.read(through: "fake> ")
        #expect(throws: ClientError.self) { _ = try first.line() }
        try terminal.type("ping\r")
        let second = try accept(authenticating: true)
        try ping(second)
        try terminal.type(
            "logout\r", through: "closed, and the saved token alice is deleted; the next line connects without one\n")
        try terminal.read(through: "fake> ")
        try terminal.type("ping\r")
        let third = try accept(authenticating: false)
        try ping(third)
        try terminal.type("\u{4}", through: "done\n")
        #expect(fixture.cache.servers.isEmpty && history == "ping\n")
    }

    /// The editor sends nothing else before the server has proved that it knows the token.
    @Test func theEditorAuthenticatesFirst() throws {
        let fixture = try LoginFixture(isTCP: true)
        try fixture.save()
        let terminal = try fixture.terminal("")
        let peer = try fixture.accept()
        try peer.answer("json on", "{\"ok\":true}")
        #expect(try peer.line() == "hello 1")
        let seen = try terminal.type("q", through: "done\n")
        #expect(seen.contains("code 0") && !seen.contains(fixture.secret))
    }

    @Test func theEditorEndsAtAnImpostor() throws {
        let fixture = try LoginFixture(isTCP: true)
        try fixture.save()
        let terminal = try fixture.terminal("")
        let peer = try fixture.server.accept()
        try peer.send("ok \(try Scram.Server(try peer.scramMessage()).challenge)\n")
        _ = try peer.scramMessage()
        try peer.send("ok v=\(Base64.encode(SHA256.digest([]))) token alice may admin\n  name: x\nok\n")
        let seen = try terminal.read(through: "done\n")
        #expect(seen.contains("the program at \(fixture.address) does not know this token") && seen.contains("code 1"))
        #expect(throws: ClientError.self) { _ = try peer.line() }
    }
}
