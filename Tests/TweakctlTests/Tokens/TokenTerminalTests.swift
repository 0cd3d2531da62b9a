// Tokens on a real terminal: typed without being shown, never remembered, and the terminal given back.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists && Tool.setsid.exists)) struct TokenTerminalTests {
    private let surroundings: Surroundings
    private let server: FakeServer
    private let path: String
    private let secret = TokenSecret.make()
    private let cache: FileTokenCache

    init() throws {
        surroundings = try Surroundings()
        path = surroundings.socket("fake")
        server = try FakeServer(path)
        cache = FileTokenCache(path: surroundings.directory.file("home/.local/state/tweakctl/tokens"))
    }

    private func terminal(_ arguments: String) throws -> PseudoTerminal {
        let settings = surroundings.environment.map { "\($0.key)=\($0.value)" }.joined(separator: " ")
        let script = """
            trap : INT; echo before $(stty -g) end
            sh -c 'echo pid $$ end; exec env \(settings) NO_COLOR=1 "$0" \(arguments)' \(Surroundings.executable.path)
            code=$?; echo; echo code $code after $(stty -g) end; echo done
            """
        return try PseudoTerminal(.sh, ["-c", script])
    }

    private func word(_ text: String, after key: String) -> String? {
        text.firstRange(of: key + " ").map { String(text[$0.upperBound...].prefix { !$0.isWhitespace }) }
    }

    private var history: String {
        let path = surroundings.directory.file("home/.local/state/tweakctl/history")
        return (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
    }

    @Test func isNotShown() throws {
        let terminal = try terminal("-s \(path) login")
        var seen = try terminal.read(through: "Token for \(path): ")
        try terminal.type(secret + "\r")
        let peer = try server.accepted()
        try peer.takeToken(secret)
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer("whoami", #"{"ok":true,"token":"alice","scopes":["read"],"expires":null}"#)
        seen += try terminal.read(through: "done\n")
        #expect(seen.contains("logged in to \(path) as alice, which may read\n") && seen.contains("code 0"))
        #expect(!seen.contains(secret) && !seen.contains("twk_"))
        #expect(word(seen, after: "before") == word(seen, after: "after"))
        #expect(cache.token(for: path)?.secret == secret)
    }

    /// However it ends; and Ctrl-Z, which would leave a shell that shows nothing, does nothing.
    @Test(arguments: ["\u{3}", "\u{1A}\u{3}", "\u{4}", "\r", "kill"])
    func isGivenBack(_ end: String) throws {
        let terminal = try terminal("-s \(path) login")
        var seen = try terminal.read(through: "Token for \(path): ")
        if end == "kill" {
            let number = try #require(word(seen, after: "pid"))
            _ = try Tool.sh.run(["-c", "kill -TERM \(number)"], input: "")
        } else {
            try terminal.type(end)
        }
        seen += try terminal.read(through: "done\n")
        #expect(word(seen, after: "before") == word(seen, after: "after"))
        #expect(!seen.contains("code 0") && cache.servers.isEmpty)
    }

    /// A line with a token is shown as dots, remembered nowhere, and completed by nobody.
    @Test func inTheLineMode() throws {
        let terminal = try terminal("-s \(path) repl")
        var seen = ""
        let peer = try server.accepted()
        try peer.answer("hello 1", "  name: fake", "ok")
        seen += try terminal.read(through: "fake> ")
        try terminal.type("auth \(secret)\t")
        seen += try terminal.read(through: "auth " + String(repeating: "•", count: secret.count))
        try terminal.type("\r")
        try peer.takeToken(secret, "error denied no \(secret) here")
        seen += try terminal.read(through: "denied: no (token) here\n")
        seen += try terminal.read(through: "fake> ")
        try terminal.type("  auth \"\(secret)\"\r")
        try peer.takeToken(secret)
        seen += try terminal.read(through: "token alice may read\n")
        seen += try terminal.read(through: "fake> ")
        try terminal.type("ping\r")
        try peer.answer("ping", "ok")
        seen += try terminal.read(through: "\n")
        seen += try terminal.read(through: "fake> ")
        try terminal.type("\u{1B}[A\u{1B}[A\u{1B}[A\r")
        #expect(try peer.line() == "ping")
        try peer.say("ok\n")
        seen += try terminal.read(through: "\n")
        seen += try terminal.read(through: "fake> ")
        try terminal.type("\u{4}")
        seen += try terminal.read(through: "done\n")
        #expect(!seen.contains(secret))
        #expect(history == "ping\n")
    }

    @Test func loggedOutOfTheLineMode() throws {
        try cache.keep(KeptToken(secret: secret, name: "alice", scopes: []), for: path)
        let terminal = try terminal("-s \(path) repl")
        func greeted(_ peer: FakePeer) throws -> FakePeer {
            try peer.answer("hello 1", "  name: fake", "ok")
            return peer
        }
        var peer = try server.accepted()
        try peer.takeToken(secret)
        peer = try greeted(peer)
        try terminal.read(through: "fake> ")
        // Closed, and as before.
        try terminal.type("logout --keep\r")
        try terminal.read(through: "with the token that is kept\n")
        try terminal.read(through: "fake> ")
        #expect(throws: ClientError.self) { _ = try peer.line() }
        try terminal.type("ping\r")
        peer = try server.accepted()
        try peer.takeToken(secret)
        peer = try greeted(peer)
        try peer.answer("ping", "ok")
        try terminal.read(through: "\n")
        try terminal.read(through: "fake> ")
        // Closed, and as nobody.
        try terminal.type("logout\r")
        try terminal.read(through: "closed, and the token alice is forgotten; the next line connects without one\n")
        try terminal.read(through: "fake> ")
        try terminal.type("ping\r")
        peer = try greeted(try server.accepted())
        try peer.answer("ping", "ok")
        try terminal.read(through: "\n")
        try terminal.read(through: "fake> ")
        try terminal.type("\u{4}")
        try terminal.read(through: "done\n")
        #expect(cache.servers.isEmpty && history == "ping\n")
    }

    /// The editor says nothing else before the server has shown that it knows the token.
    @Test func inTheEditor() throws {
        let server = try FakeServer()
        try cache.keep(KeptToken(secret: secret, name: "alice", scopes: []), for: server.address)
        let terminal = try terminal("-H \(server.address)")
        let peer = try server.accepted()
        let exchange = try Scram.Server(try peer.message())
        try peer.say("ok \(exchange.challenge)\n")
        let last = try peer.message()
        let acceptance = try #require(try exchange.accept(last, ScramVerifier(token: secret)))
        try peer.say("ok \(acceptance.last) token alice may read\n")
        #expect(try peer.line().hasPrefix("hello 1"))
        try terminal.type("q")
        let seen = try terminal.read(through: "done\n")
        #expect(seen.contains("code 0") && !seen.contains(secret))
    }

    /// It ends before another program, and tells it nothing.
    @Test func inTheEditorOfAnotherProgram() throws {
        let server = try FakeServer()
        try cache.keep(KeptToken(secret: secret, name: "alice", scopes: []), for: server.address)
        let terminal = try terminal("-H \(server.address)")
        let peer = try server.accepted()
        try peer.say("ok \(try Scram.Server(try peer.message()).challenge)\n")
        _ = try peer.message()
        try peer.say("ok v=\(Base64.encode(SHA256.digest([]))) token alice may admin\n  name: x\nok\n")
        let seen = try terminal.read(through: "done\n")
        #expect(seen.contains("the program at \(server.address) does not know this token") && seen.contains("code 1"))
        #expect(throws: ClientError.self) { _ = try peer.line() }
    }
}
