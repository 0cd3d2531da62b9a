// Tokens by SCRAM on the wire: neither side shows the token, and wrong ones cost what they cost in plain.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer
@testable import TweaksWire

@Suite(.blocking) struct ScramAuthenticationTests {
    private let ops = TokenEntry.token("ops", .write, .run)
    private let old = TokenEntry(name: "old", verifier: .sha256(SHA256.digest("twk_old".utf8)), scopes: [.read])
    private static let begin = "auth scram-sha-256"

    private func answer(_ client: inout Scram.Client, _ challenge: String) throws -> String {
        let answer = client.answer(challenge)
        return try #require(answer)
    }

    /// The reply to the first line, without its `ok `.
    private func challenge(_ scram: Scram.Client, _ client: TestClient) throws -> String {
        let reply = try client.ask("\(Self.begin) \(scram.first)")
        try #require(reply.count == 1 && reply[0].hasPrefix("ok r="), "\(reply)")
        return String(reply[0].dropFirst(3))
    }

    /// What is answered to the last message, and whether it is the right server's.
    private func show(_ token: String, _ client: TestClient) throws -> (reply: String, isTrusted: Bool) {
        var scram = Scram.Client(token: token)
        let last = try answer(&scram, try challenge(scram, client))
        let reply = try client.ask("\(Self.begin) \(last)").joined(separator: "\n")
        let word = reply.split(separator: " ").dropFirst().first ?? ""
        return (reply, scram.accepts(word))
    }

    @Test func opensTheSession() throws {
        let server = try AccessServer(ops, old)
        let client = try server.connectTCP()
        let (reply, isTrusted) = try show("twk_ops", client)
        #expect(isTrusted && reply.hasSuffix(" token ops may write run") && !reply.contains("twk_"))
        #expect(try client.whoami("identity") == ["token ops"])
        #expect(try client.ask("Content/Text/Size = 72").last == "ok rev 1")
        #expect(
            server.events.all.map(\.text) == ["state created", "state opening", "state open", "authenticated ops"])
    }

    @Test func programs() throws {
        let server = try AccessServer(ops)
        let client = try server.connectTCP()
        var scram = Scram.Client(token: "twk_ops")
        try client.send("json\n\(Self.begin) \(scram.first)\n")
        #expect(try client.line() == #"{"ok":true}"#)
        let first = try client.line()
        try #require(first.hasPrefix(#"{"ok":true,"scram":"r="#) && first.hasSuffix("\"}"))
        let last = try answer(&scram, String(first.dropFirst(#"{"ok":true,"scram":""#.count).dropLast(2)))
        try client.send("\(Self.begin) \(last)\n")
        let end = try client.line()
        #expect(end.hasPrefix(#"{"ok":true,"scram":"v="#))
        #expect(end.hasSuffix(#"","token":"ops","scopes":["write","run"],"expires":null}"#))
    }

    // MARK: Wrong

    /// One that never was, one that has expired, and one that is only known in plain: alike from the first line on.
    @Test(arguments: ["twk_none", "twk_ended", "twk_old"]) func saysNotWhatIsWrong(_ token: String) throws {
        let server = try AccessServer(ops, old, .token("ended", .admin, expires: 10))
        let client = try server.connectTCP()
        let (reply, isTrusted) = try show(token, client)
        #expect(
            reply == "error denied that is no token of this process, or it has ended; one whose line says sha256: is "
                + "shown in plain only, until tweakctl token renew makes a new one")
        #expect(!isTrusted)
        #expect(try client.ask("get Content/Text/Size")[0].hasPrefix("error auth-required "))
        #expect(server.events.all.map(\.text).last == "authentication failed")
        #expect(try show("twk_ops", client).isTrusted)
    }

    /// The challenge of a key id that there is looks like that of one that there is not: all of it but the nonce follows
    /// from the question.
    @Test func challengesTellNothing() throws {
        let server = try AccessServer(ops)
        for token in ["twk_ops", "twk_none"] {
            let client = try server.connectTCP()
            let scram = Scram.Client(token: token)
            let salt = Base64.encode(ScramVerifier.id(of: token).utf8)
            #expect(try challenge(scram, client).hasSuffix(",s=\(salt),i=1"))
        }
    }

    @Test func severalEndTheConnection() throws {
        let server = try AccessServer(ops) { $0.authenticationFailures = 2 }
        let client = try server.connectTCP()
        #expect(try show("twk_a", client).reply.hasPrefix("error denied "))
        var scram = Scram.Client(token: "twk_b")
        let last = try answer(&scram, try challenge(scram, client))
        try client.send("\(Self.begin) \(last)\n")
        #expect(try client.restOfLines().count == 1)
        #expect(server.events.all.map(\.text).last == "state failed denied")
    }

    /// It waits as long as in plain, and what is wrong counts for both ways together.
    @Test func costTime() throws {
        let server = try AccessServer(ops) { limits in
            limits.authenticationDelay = .seconds(3_600) ... .seconds(3_600)
            limits.timeToAuthenticate = .seconds(36_000)
        }
        let client = try server.connectTCP()
        var scram = Scram.Client(token: "twk_wrong")
        let last = try answer(&scram, try challenge(scram, client))
        try client.send("\(Self.begin) \(last)\nping\n")
        try server.settle(try server.connect())
        #expect(!client.hasInput)
        server.pass(.seconds(3_600))
        #expect(try client.reply()[0].hasPrefix("error denied "))
        #expect(try client.reply() == ["ok pong"])
    }

    /// Asking costs nothing, and neither does what is no message; but nothing is let in by it.
    @Test func unansweredChallenges() throws {
        let server = try AccessServer(ops) { $0.authenticationFailures = 1 }
        let client = try server.connectTCP()
        for _ in 0..<20 { _ = try challenge(Scram.Client(token: "twk_ops"), client) }
        #expect(try client.ask("\(Self.begin) n,,nonsense")[0].hasPrefix("error bad-value auth: "))
        #expect(
            try client.ask("\(Self.begin) c=biws,r=x,p=AAAA")[0].hasPrefix("error usage auth: there is no challenge"))
        #expect(try client.ask("\(Self.begin)")[0].hasPrefix("error usage auth: "))
        #expect(try client.ask("auth scram-sha-1 n,,n=a,r=b")[0].hasPrefix("error usage auth: "))
        #expect(!server.events.all.map(\.text).contains("authentication failed"))
        #expect(try client.ask("get *")[0].hasPrefix("error auth-required "))
    }

    /// A challenge is answered once, by the next `auth`, on the connection that has asked for it.
    @Test func aChallengeIsOfUseOnce() throws {
        let server = try AccessServer(ops)
        let (client, other) = (try server.connectTCP(), try server.connectTCP())
        var scram = Scram.Client(token: "twk_ops")
        let last = try answer(&scram, try challenge(scram, client))
        #expect(try other.ask("\(Self.begin) \(last)")[0].hasPrefix("error usage "))
        _ = try challenge(Scram.Client(token: "twk_ops"), other)
        #expect(try other.ask("\(Self.begin) \(last)")[0].hasPrefix("error bad-value "))
        #expect(try client.ask("\(Self.begin) \(last)")[0].hasSuffix(" token ops may write run"))
        #expect(try client.ask("\(Self.begin) \(last)")[0].hasPrefix("error usage "))
    }

    // MARK: plain-auth off

    @Test func plainAuthOff() throws {
        let server = try AccessServer(ops, old)
        let (admin, client) = (try server.connect(), try server.connectTCP())
        server.server.tokensChanged(TokenTable([ops, old], refusesPlain: true))
        try server.settle(admin)
        for token in ["twk_ops", "twk_old", "twk_none"] {
            #expect(
                try client.ask("auth \(token)") == [
                    "error denied auth TOKEN is off here, so that no token crosses the wire; use tweakctl login, or auth "
                        + "scram-sha-256 (RFC 7677)"
                ])
        }
        #expect(!server.events.all.map(\.text).contains("authentication failed"))
        #expect(try show("twk_ops", client).isTrusted)
        try server.take([ops, old], admin)
        #expect(try client.ask("auth twk_old") == ["ok token old may read"])
    }
}
