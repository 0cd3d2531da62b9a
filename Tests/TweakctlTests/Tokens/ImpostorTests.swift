// Another program at the port of one that was logged in to: it is told nothing, and left.

import Foundation
import Testing
import Tweaks
import TweaksTerminal
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: Surroundings.exists)) struct ImpostorTests {
    private let surroundings: Surroundings
    private let server: FakeServer
    private let secret = TokenSecret.make()
    private let cache: FileTokenCache

    init() throws {
        surroundings = try Surroundings()
        server = try FakeServer()
        cache = FileTokenCache(path: surroundings.directory.file("home/.local/state/tweakctl/tokens"))
    }

    private func keep(isPlain: Bool = false) throws {
        try cache.keep(
            KeptToken(secret: secret, name: "alice", scopes: ["read"], isPlain: isPlain), for: server.address)
    }

    /// How it answers the messages: `CHALLENGE` is a right one.
    struct Lies: CustomStringConvertible {
        let answers: [String]
        let said: String

        var description: String { answers.joined(separator: ", ") }
    }

    static let lies = [
        Lies(answers: ["ok"], said: stranger), Lies(answers: ["ok token alice may admin"], said: stranger),
        Lies(answers: ["ok r=x,s=eA==,i=1"], said: stranger), Lies(answers: ["CHALLENGE", "ok"], said: stranger),
        Lies(answers: ["CHALLENGE", "ok token alice may admin"], said: stranger),
        Lies(answers: ["CHALLENGE", "ok v=\(Base64.encode(SHA256.digest([]))) token alice may admin"], said: stranger),
        Lies(
            answers: ["CHALLENGE", "error denied that is no token of this process"],
            said: "the token alice is not taken: it was revoked or has expired, or another program listens there"),
        Lies(
            answers: ["error denied this process takes no tokens"],
            said: "the token alice could not be shown (denied); to do without it: tweakctl logout -H "),
        Lies(
            answers: ["error usage auth: write auth TOKEN, as in: auth twk_…"],
            said: "the token alice could not be shown without sending it itself; tweakctl login --plain "),
    ]

    private static let stranger =
        "does not know this token: it may not be the one you signed in to; nothing was shown to it"

    /// Answers as long as it has something to say.
    /// - Returns: All that it was told.
    private func lie(_ answers: [String]) throws -> [String] {
        let peer = try server.accepted()
        var heard: [String] = []
        for answer in answers {
            let message = try peer.message()
            heard.append(message)
            let challenge = (try? Scram.Server(message))?.challenge ?? ""
            try peer.say(answer.replacing("CHALLENGE", with: "ok \(challenge)") + "\n")
        }
        while let line = try? peer.line() { heard.append(line) }
        return heard
    }

    @Test(arguments: lies) func isLeft(_ lies: Lies) throws {
        try keep()
        let process = try surroundings.start(["-H", server.address, "set", "A/B/Key", "hunter2"])
        let heard = try lie(lies.answers)
        let result = try process.result()
        #expect(result.code == 1 && result.errors.contains(lies.said), "\(result.errors)")
        #expect(heard.count == lies.answers.count && !heard.contains { $0.contains(secret) || $0.contains("hunter2") })
        #expect(!result.errors.contains(secret) && cache.token(for: server.address)?.secret == secret)
    }

    @Test(arguments: lies) func isNotLoggedInTo(_ lies: Lies) throws {
        let process = try surroundings.start(["-H", server.address, "login"])
        process.type(secret + "\n")
        let heard = try lie(lies.answers)
        let result = try process.result()
        #expect(result.code == 1 && heard.count == lies.answers.count && !heard.contains { $0.contains(secret) })
        #expect(cache.servers.isEmpty && !result.errors.contains(secret))
    }

    /// A watch does not come back to it.
    @Test func aWatchEnds() throws {
        try keep()
        let process = try surroundings.start(["-H", server.address, "watch", "A"])
        let peer = try server.accepted()
        try peer.takeToken(secret)
        try peer.answer("hello 1", "  instance: 1", "ok")
        try peer.answer("watch A", "A/B/C = 1", "ok rev 4 watching 1")
        try process.lines(through: "A/B/C = 1")
        try peer.close()
        _ = try lie(["ok"])
        let result = try process.result()
        #expect(result.code == 1 && result.errors.contains(Self.stranger))
    }

    // MARK: In plain

    /// Where its owner says so, and with a word about it each time.
    @Test func plain() throws {
        let login = try surroundings.start(["-H", server.address, "login", "--plain"])
        login.type(secret + "\n")
        var peer = try server.accepted()
        try peer.answer("auth \(secret)", "ok token alice may read")
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer("whoami", #"{"ok":true,"token":"alice","scopes":["read"],"expires":null}"#)
        let said = try login.result()
        #expect(
            said.code == 0 && said.errors.contains("was shown in plain") && said.errors.contains("token renew alice"))
        #expect(cache.token(for: server.address)?.isPlain == true)
        let process = try surroundings.start(["-H", server.address, "ping"])
        peer = try server.accepted()
        try peer.answer("auth \(secret)", "ok token alice may read")
        try peer.answer("ping", "ok")
        let result = try process.result()
        #expect(result.code == 0 && result.errors.contains("token renew alice") && !result.errors.contains(secret))
    }

    /// In plain there is one step, which does not tell a wrong token from a server that takes none so.
    @Test func plainIsRefused() throws {
        try keep(isPlain: true)
        let process = try surroundings.start(["-H", server.address, "ping"])
        try server.accepted().answer("auth \(secret)", "error denied not like this")
        let result = try process.result()
        #expect(
            result.code == 1 && result.errors.contains("log in again: tweakctl login -H \(server.address), without"))
    }

    /// A line of the older kind looks to SCRAM like a wrong token.
    @Test func anOlderLine() throws {
        let process = try surroundings.start(["-H", server.address, "login"])
        process.type(secret + "\n")
        _ = try lie(["CHALLENGE", "error denied no"])
        let errors = try process.result().errors
        #expect(errors.contains("if its line in the token file says sha256:, tweakctl token renew there makes"))
    }
}
