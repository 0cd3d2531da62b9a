// Tests tokens by SCRAM on the wire: neither side shows the token, and wrong ones cost as much as in plain.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer
@testable import TweaksWire

@Suite(.blocking) struct ScramAuthenticationTests {
    private let ops = TokenEntry.token("ops", .write, .run)
    private let old = TokenEntry(name: "old", verifier: .sha256(SHA256.digest("twk_old".utf8)), scopes: [.read])
    private static let begin = "auth scram-sha-256"

    /// The reply to the first message, without its `ok `.
    private func challenge(_ scram: Scram.Client, _ client: TestClient) throws -> String {
        let reply = try client.ask("\(Self.begin) \(scram.first)")
        try #require(reply.count == 1 && reply[0].hasPrefix("ok r="), "\(reply)")
        return String(reply[0].dropFirst(3))
    }

    /// The line that answers a challenge of the server.
    private func answer(_ scram: inout Scram.Client, _ client: TestClient) throws -> String {
        let answer = scram.answer(try challenge(scram, client))
        return "\(Self.begin) \(try #require(answer))"
    }

    /// The reply to the last message, and whether it is the right server's.
    private func show(_ token: String, _ client: TestClient) throws -> (reply: String, isTrusted: Bool) {
        var scram = Scram.Client(token: token)
        let reply = try client.ask(answer(&scram, client)).joined(separator: "\n")
        return (reply, scram.accepts(reply.split(separator: " ").dropFirst().first ?? ""))
    }

    @Test func aTokenOpensTheSession() throws {
        let server = try AccessServer(ops, old)
        let client = try server.connectTCP()
        let (reply, isTrusted) = try show("twk_ops", client)
        #expect(isTrusted && reply.hasSuffix(" token ops may write run") && !reply.contains("twk_"))
        #expect(try client.whoami("identity") == ["token ops"])
        #expect(try client.status("Content/Text/Size = 72") == "ok rev 1")
        #expect(server.events.texts == ["state created", "state opening", "state open", "authenticated ops"])
    }

    @Test func authenticationIsReportedInJSON() throws {
        let client = try AccessServer(ops).connectTCP()
        var scram = Scram.Client(token: "twk_ops")
        #expect(try client.json("json") == #"{"ok":true}"#)
        let first = try client.json("\(Self.begin) \(scram.first)")
        try #require(first.hasPrefix(#"{"ok":true,"scram":"r="#) && first.hasSuffix("\"}"))
        let last = scram.answer(String(first.dropFirst(#"{"ok":true,"scram":""#.count).dropLast(2)))
        let end = try client.json("\(Self.begin) \(try #require(last))")
        #expect(end.hasPrefix(#"{"ok":true,"scram":"v="#))
        #expect(end.hasSuffix(#"","token":"ops","scopes":["write","run"],"expires":null}"#))
    }

    // MARK: Wrong

    /// Unknown tokens, expired ones and ones without a SCRAM verifier get the same replies.
    @Test(arguments: ["twk_none", "twk_ended", "twk_old"])
    func theRefusalDoesNotSayWhatIsWrong(_ token: String) throws {
        let server = try AccessServer(ops, old, .token("ended", .admin, expires: 10))
        let client = try server.connectTCP()
        let (reply, isTrusted) = try show(token, client)
        #expect(
            reply == "error denied the token is wrong, expired or revoked; a token whose line says sha256: works only "
                + "with plain auth, until tweakctl token renew replaces it")
        #expect(!isTrusted)
        #expect(try client.status("get Content/Text/Size").hasPrefix("error auth-required "))
        #expect(server.events.texts.last == "authentication failed")
        #expect(try show("twk_ops", client).isTrusted)
    }

    /// All of a challenge but the nonce follows from the key id that the client sent.
    @Test func challengesDoNotRevealKeyIDs() throws {
        let server = try AccessServer(ops)
        for token in ["twk_ops", "twk_none"] {
            let salt = Base64.encode(ScramVerifier.id(of: token).utf8)
            #expect(try challenge(Scram.Client(token: token), server.connectTCP()).hasSuffix(",s=\(salt),i=1"))
        }
    }

    @Test func severalWrongTokensEndTheConnection() throws {
        let server = try AccessServer(ops) { $0.authenticationFailures = 2 }
        let client = try server.connectTCP()
        #expect(try show("twk_a", client).reply.hasPrefix("error denied "))
        var scram = Scram.Client(token: "twk_b")
        try client.send("\(try answer(&scram, client))\n")
        #expect(try client.restOfLines().count == 1)
        #expect(server.events.texts.last == "state failed denied")
    }

    @Test func aWrongTokenDelaysTheSession() throws {
        let server = try AccessServer(ops) { limits in
            limits.authenticationDelay = .seconds(3_600) ... .seconds(3_600)
            limits.timeToAuthenticate = .seconds(36_000)
        }
        let client = try server.connectTCP()
        var scram = Scram.Client(token: "twk_wrong")
        try client.send("\(try answer(&scram, client))\nping\n")
        try server.settle(try server.connect())
        #expect(!client.hasInput)
        server.pass(.seconds(3_600))
        #expect(try client.status().hasPrefix("error denied "))
        #expect(try client.reply() == ["ok pong"])
    }

    /// Unanswered challenges and malformed messages are no failures, and they authenticate no client.
    @Test func unansweredChallenges() throws {
        let server = try AccessServer(ops) { $0.authenticationFailures = 1 }
        let client = try server.connectTCP()
        for _ in 0..<20 { _ = try challenge(Scram.Client(token: "twk_ops"), client) }
        for (line, refusal) in [
            ("\(Self.begin) n,,nonsense", "bad-value auth: "),
            ("\(Self.begin) c=biws,r=x,p=AAAA", "usage auth: there is no challenge"),
            (Self.begin, "usage auth TOKEN, "),
            ("auth scram-sha-1 n,,n=a,r=b", "usage auth TOKEN, "), ("get *", "auth-required "),
        ] {
            #expect(try client.status(line).hasPrefix("error \(refusal)"), "\(line)")
        }
        #expect(!server.events.texts.contains("authentication failed"))
    }

    /// It is answered by the next `auth` on its connection.
    @Test func aChallengeIsAnsweredOnce() throws {
        let server = try AccessServer(ops)
        let (client, other) = (try server.connectTCP(), try server.connectTCP())
        var scram = Scram.Client(token: "twk_ops")
        let last = try answer(&scram, client)
        #expect(try other.status(last).hasPrefix("error usage "))
        _ = try challenge(Scram.Client(token: "twk_ops"), other)
        #expect(try other.status(last).hasPrefix("error bad-value "))
        #expect(try client.status(last).hasSuffix(" token ops may write run"))
        #expect(try client.status(last).hasPrefix("error usage "))
    }

    @Test func plainAuthOff() throws {
        let server = try AccessServer(ops, old)
        let (admin, client) = (try server.connect(), try server.connectTCP())
        server.server.tokensChanged(TokenTable([ops, old], refusesPlain: true))
        try server.settle(admin)
        let refusal =
            "error denied auth TOKEN is off here, so that no token crosses the wire; use tweakctl login, or auth "
            + "scram-sha-256 (RFC 7677)"
        for token in ["twk_ops", "twk_old", "twk_none"] { #expect(try client.ask("auth \(token)") == [refusal]) }
        #expect(!server.events.texts.contains("authentication failed"))
        #expect(try show("twk_ops", client).isTrusted)
        try server.replaceTokens([ops, old], admin)
        #expect(try client.ask("auth twk_old") == ["ok token old may read"])
    }
}
