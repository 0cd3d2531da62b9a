// Tests that another program at the address of a saved login receives neither the token nor a command.

import Testing
import TweaksTestSupport
import TweaksWire

@testable import tweakctl

@Suite(.blocking, .tags(.process), .enabled(if: TweakctlFixture.exists)) struct ImpostorTests {
    private let fixture: LoginFixture
    private var secret: String { fixture.secret }

    init() throws { fixture = try LoginFixture(isTCP: true) }

    /// The replies of an impostor, in which `CHALLENGE` stands for a valid one, and the error that tweakctl prints.
    struct Replies: CustomStringConvertible {
        let lines: [String]
        let error: String

        init(_ lines: String..., error: String = unverified) { (self.lines, self.error) = (lines, error) }

        var description: String { lines.joined(separator: ", ") }
    }

    static let replies = [
        Replies("ok"), Replies("ok token alice may admin"), Replies("ok r=x,s=eA==,i=1"), Replies("CHALLENGE", "ok"),
        Replies("CHALLENGE", "ok token alice may admin"),
        Replies("CHALLENGE", "ok v=\(Base64.encode(SHA256.digest([]))) token alice may admin"),
        Replies(
            "CHALLENGE", "error denied the token is wrong, expired or revoked",
            error: "the token alice was rejected: it was revoked or has expired, or another program listens there"),
        Replies(
            "error denied this process accepts no tokens",
            error: "the token alice could not be used (denied); to connect without it: tweakctl logout -H "),
        Replies(
            "error usage auth: write auth TOKEN, as in: auth twk_…",
            error: "the token alice was not sent: the server accepts it only in plain text; tweakctl login --plain "),
    ]

    private static let unverified =
        "does not know this token: it may not be the one you signed in to; nothing was sent to it"

    /// Sends replies to messages of SCRAM.
    /// - Returns: All lines that tweakctl has sent.
    private func answer(with replies: [String]) throws -> [String] {
        let peer = try fixture.server.accept()
        var received: [String] = []
        for reply in replies {
            let message = try peer.scramMessage()
            received.append(message)
            let challenge = (try? Scram.Server(message))?.challenge ?? ""
            try peer.send(reply.replacing("CHALLENGE", with: "ok \(challenge)") + "\n")
        }
        while let line = try? peer.line() { received.append(line) }
        return received
    }

    @Test(arguments: replies) func anImpostorReceivesNoCommandAndNoToken(_ replies: Replies) throws {
        let process = try fixture.startLoggedIn("set", "A/B/Key", "hunter2")
        let received = try answer(with: replies.lines)
        let result = try process.result()
        #expect(result.code == 1 && result.errors.contains(replies.error), "\(result.errors)")
        #expect(received.count == replies.lines.count)
        #expect(!received.contains { $0.contains(secret) || $0.contains("hunter2") })
        #expect(!result.errors.contains(secret) && fixture.saved?.secret == secret)
    }

    @Test(arguments: replies) func aLoginAtAnImpostorIsNotSaved(_ replies: Replies) throws {
        let process = try fixture.start("login", input: secret + "\n")
        let received = try answer(with: replies.lines)
        let result = try process.result()
        #expect(result.code == 1 && received.count == replies.lines.count && !received.contains { $0.contains(secret) })
        #expect(fixture.cache.servers.isEmpty && !result.errors.contains(secret))
    }

    @Test func aWatchEndsAtAnImpostor() throws {
        let process = try fixture.startLoggedIn("watch", "A")
        try fixture.serveWatch(process)
        _ = try answer(with: ["ok"])
        #expect(try process.result().hasError(Self.unverified, code: 1))
    }

    @Test func aTokenIsSentInPlainTextOnRequestWithAWarning() throws {
        let login = try fixture.start("login", "--plain", input: secret + "\n")
        var peer = try fixture.server.accept()
        try peer.answer("auth \(secret)", "ok token alice may read")
        try peer.answer("json on", "{\"ok\":true}")
        try peer.answer("whoami", #"{"ok":true,"token":"alice","scopes":["read"],"expires":null}"#)
        let first = try login.result()
        #expect(first.hasError("was sent in plain", code: 0))
        #expect(first.errors.contains("token renew alice") && fixture.saved?.isPlain == true)
        let process = try fixture.start("ping")
        peer = try fixture.server.accept()
        try peer.answer("auth \(secret)", "ok token alice may read")
        try peer.answer("ping", "ok")
        let result = try process.result()
        #expect(result.hasError("token renew alice", code: 0) && !result.errors.contains(secret))
    }

    /// A plain-text authentication has one step: the server may reject the token, or plain text.
    @Test func aRefusalOfPlainTextSuggestsALoginWithoutIt() throws {
        try fixture.save(isPlain: true)
        let process = try fixture.start("ping")
        try fixture.server.accept().answer("auth \(secret)", "error denied not like this")
        #expect(try process.result().hasError("log in again: tweakctl login -H \(fixture.address), without", code: 1))
    }

    /// A token file with a `sha256:` line cannot serve SCRAM, which looks like a wrong token.
    @Test func aRejectedLoginSuggestsRenewal() throws {
        let process = try fixture.start("login", input: secret + "\n")
        _ = try answer(with: ["CHALLENGE", "error denied no"])
        let errors = try process.result().errors
        #expect(errors.contains("if its line in the token file has sha256:, tweakctl token renew there makes"))
    }
}
