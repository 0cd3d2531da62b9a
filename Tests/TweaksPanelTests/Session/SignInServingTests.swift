// Browsers that sign in and out: what they show, what of that is of use to others, and when it ends.

import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct SignInServingTests {
    private static let size = "/api/tweaks/Content/Text/Size"
    private static let ops = TokenEntry.named("ops", "write:Content", "run:Player", expires: 2_000_000)

    @Test func signsIn() throws {
        let server = try PanelServer(Self.ops)
        let panel = try server.connect(nil)
        let (answer, page, key) = try panel.signIn("ops")
        #expect(answer.status == 200)
        let (shown, pageKey) = (
            try #require(answer.json["scram"] as? String), try #require(answer.json["key"] as? String)
        )
        #expect(
            answer.body
                == "{\"ok\":true,\"scram\":\"\(shown)\",\"token\":\"ops\",\"scopes\":[\"write:Content\",\"run:Player\"],"
                + "\"expires\":\"1970-01-01T00:33:20Z\",\"key\":\"\(pageKey)\"}\n")
        let cookie = try #require(answer["Set-Cookie"])
        #expect(cookie.hasSuffix("; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict"))
        // Nothing of the token, and nothing of the browser's key, crosses the wire.
        let token = PanelServer.token("ops")
        let said = answer.body + cookie
        #expect(!said.contains(token.dropFirst(4)) && !said.contains(Base64.encode(key)))
        for client in [panel, try server.connect(nil)] {
            #expect(try client.ask("GET", Self.size, nil, page).status == 200)
            #expect(try client.ask("GET", "/api/whoami", nil, page).json["identity"] as? String == "token ops")
        }
    }

    /// A cookie goes to every port of the host; a page's key may be seen on the way.
    @Test func eachAloneIsOfNoUse() throws {
        let server = try PanelServer(Self.ops)
        let panel = try server.connect(nil)
        let (_, page, _) = try panel.signIn("ops")
        let (_, other, _) = try panel.signIn("admin")
        #expect(try panel.ask("GET", Self.size, nil, page).status == 200)
        let renamed = page[0].replacing("tweaks-\(panel.port)=", with: "tweaks-1=")
        for headers in [[], [page[0]], [page[1]], [page[0], other[1]], [other[0], page[1]], [renamed, page[1]]] {
            #expect(try panel.ask("GET", Self.size, nil, headers).status == 401)
        }
        let forged = page[1].replacing("Tweaks-Key: ", with: "Tweaks-Key: 9")
        #expect(try panel.ask("GET", Self.size, nil, [page[0], forged]).status == 401)
        #expect(!server.events.all.contains { if case .authenticationFailed = $0.kind { true } else { false } })
    }

    /// A page that is loaded answers a question with the key of its browser; each question once, and soon.
    @Test func resumes() throws {
        let server = try PanelServer(Self.ops)
        let panel = try server.connect(nil)
        let (_, page, key) = try panel.signIn("ops")
        let answer = try panel.resume(page[0], key)
        #expect(answer.status == 200 && answer.json["token"] as? String == "ops" && answer["Set-Cookie"] == nil)
        let pageKey = try #require(answer.json["key"] as? String)
        #expect(try panel.ask("GET", Self.size, nil, [page[0], "Tweaks-Key: \(pageKey)"]).status == 200)
        // With another key, or without the cookie, or with another one.
        #expect(try panel.resume(page[0], SHA256.digest(key)).status == 401)
        #expect(try panel.resume("X: y", key).status == 401)
        #expect(try panel.resume(try panel.signIn("admin").page[0], key).status == 401)
        // A question that was answered, and one that was asked long ago.
        for wait in [Duration.zero, .seconds(60)] {
            let challenge = try #require(try panel.ask("POST", "/login", "{}").json["challenge"] as? String)
            let proof = Base64.encode(SHA256.code(challenge.utf8, key: key))
            let body = #"{"challenge":"\#(challenge)","answer":"\#(proof)"}"#
            if wait == .zero { #expect(try panel.ask("POST", "/login", body, [page[0]]).status == 200) }
            server.pass(wait)
            #expect(try panel.ask("POST", "/login", body, [page[0]]).status == 401)
        }
    }

    /// After it nothing that the browser had is of use: not on this connection, not on others, not to a stream.
    @Test func logout() throws {
        let server = try PanelServer(Self.ops)
        let (panel, other, stream) = (try server.connect(nil), try server.connect(nil), try server.connect(nil))
        let (_, page, key) = try panel.signIn("ops")
        let (_, another, _) = try other.signIn("ops")
        #expect(try other.ask("GET", Self.size, nil, page).status == 200)
        try stream.send("GET", "/api/events", nil, page)
        _ = try stream.readHead()
        for name in ["hello", "snapshot"] { #expect(try stream.event()?.name == name) }
        let answer = try panel.ask("POST", "/logout", "{}", [page[0]])
        #expect(answer.status == 204 && answer["Set-Cookie"]?.contains("=; Max-Age=0; ") == true)
        for client in [panel, other, try server.connect(nil)] {
            #expect(try client.ask("GET", Self.size, nil, page).status == 401)
            #expect(try client.resume(page[0], key).status == 401)
        }
        server.pass(.seconds(60))
        let closing = try #require(try stream.event())
        #expect(closing.name == "closing" && closing.data.contains("signed out"), "\(closing)")
        // Another browser with the same token stays.
        #expect(try panel.ask("GET", Self.size, nil, another).status == 200)
    }

    /// Who signs in again, in the same browser, is not signed in twice.
    @Test func again() throws {
        let server = try PanelServer(Self.ops)
        let panel = try server.connect(nil)
        let (_, page, key) = try panel.signIn("ops")
        let (_, next, _) = try panel.signIn("admin", [page[0]])
        #expect(try panel.ask("GET", Self.size, nil, page).status == 401)
        #expect(try panel.resume(page[0], key).status == 401)
        #expect(try panel.ask("GET", Self.size, nil, next).status == 200)
    }

    @Test func ends() throws {
        let server = try PanelServer(.named("ops", "write:Content"))
        let panel = try server.connect(nil)
        let (_, page, key) = try panel.signIn("ops")
        // A page's key soon, and the browser's after 30 days.
        server.pass(SignIns.pageTime)
        let late = try server.connect(nil)
        #expect(try late.ask("GET", Self.size, nil, page).status == 401)
        #expect(try late.resume(page[0], key).status == 200)
        server.setTime(1_000_000 + SignIns.longest - 1)
        #expect(try late.resume(page[0], key).status == 200)
        server.setTime(1_000_000 + SignIns.longest)
        #expect(try late.resume(page[0], key).status == 401)
    }

    /// A token that is renewed, or revoked, ends what was signed in by it.
    @Test func aTokenThatEnds() throws {
        let server = try PanelServer(Self.ops)
        let (panel, line) = (try server.connect(nil), try server.connectByLine())
        let (_, page, key) = try panel.signIn("ops")
        try server.take([.named("admin", .admin), .named("ops", "write:Content", secret: "other")], line)
        let late = try server.connect(nil)
        #expect(try late.ask("GET", Self.size, nil, page).status == 401)
        #expect(try late.resume(page[0], key).status == 401)
    }

    /// A wrong token costs what it costs everywhere, and a challenge is answered once.
    @Test func wrongOnes() throws {
        let server = try PanelServer(Self.ops) { $0.authenticationFailures = 2 }
        let panel = try server.connect(nil)
        let answer = try panel.signIn("nobody").answer
        #expect(answer.status == 401 && answer["Set-Cookie"] == nil && answer.json["key"] == nil)
        let shown = #"{"scram":"c=biws,r=abc,p=AAAA"}"#
        #expect(try panel.ask("POST", "/login", shown).message?.hasPrefix("there is no such challenge") == true)
        #expect(try panel.ask("POST", "/login", #"{"scram":"y,,n=a,r=b"}"#).code == "bad-value")
        _ = try panel.signIn("nobody")
        #expect(try panel.client.rest() == "")
    }

    /// A browser for which there is no room at the moment is signed in all the same.
    @Test func aCrowdEndsNoSignIn() throws {
        let server = try PanelServer(Self.ops) { $0.sessionsPerPeer = 1 }
        let panel = try server.connect(nil)
        let (_, page, key) = try panel.signIn("ops")
        let answer = try server.connect(nil).resume(page[0], key)
        #expect(answer.code == "too-many", "\(answer)")
        #expect(try panel.ask("GET", Self.size, nil, page).status == 200)
    }

    /// Where tokens are not to be shown in plain, programs sign in as the page does.
    @Test func plainAuthOff() throws {
        let server = try PanelServer(Self.ops)
        let (panel, line) = (try server.connect("ops"), try server.connectByLine())
        server.server.tokensChanged(TokenTable([Self.ops], refusesPlain: true))
        try server.settle(line)
        let answer = try panel.ask("GET", Self.size)
        #expect(answer.status == 401 && answer.message?.hasPrefix("auth TOKEN is off here") == true)
        panel.token = nil
        let page = try panel.signIn("ops").page
        #expect(try panel.ask("GET", Self.size, nil, page).status == 200)
    }
}

struct SignInsTests {
    private let verifier = ScramVerifier(token: "twk_ops")

    /// An answer counts however many other challenges stay open; once, and with the process that has asked.
    @Test(arguments: ["", ".", "a.b.c.d"]) func othersQuestions(_ nonce: String) throws {
        let start = ContinuousClock.now
        let signIns = SignIns(clock: { start })
        var client = Scram.Client(user: verifier.id, password: "twk_ops", nonce: "n\(nonce)")
        let challenge = try signIns.begin(client.first)
        for number in 0..<5_000 { _ = try signIns.begin("n,,n=stranger,r=\(number)") }
        let answer = client.answer(challenge)
        let last = try #require(answer)
        #expect(SignIns().exchange(of: last) == nil)
        let exchange = try #require(signIns.exchange(of: last))
        #expect(exchange.user == verifier.id && exchange.challenge == challenge)
        let acceptance = try #require(try exchange.accept(last, verifier))
        #expect(client.accepts(acceptance.last))
        #expect(signIns.exchange(of: last) == nil)
    }

    /// What is sealed is not to be changed, nor to be put together anew.
    @Test func forgedChallenges() throws {
        let signIns = SignIns()
        let challenge = try signIns.begin("n,,n=ops,r=abc").split(separator: ",")[0].dropFirst(2)
        let good = "c=biws,r=\(challenge),p=AAAA"
        let parts = challenge.split(separator: ".").map(String.init)
        let forged = [
            good.replacing("r=abc", with: "r=abd"), good.replacing("r=abc", with: "r=ab"),
            good.replacing(".\(parts[1]).", with: ".9."), good.replacing(".\(parts[2]).", with: ".."),
            good.replacing(parts[3], with: ""), "c=biws,r=,p=", "c=biws,r=...,p=", "c=biws,r=a,p=", "",
            "c=biws,r=\(signIns.challenge()),p=AAAA",
        ]
        for last in forged { #expect(signIns.exchange(of: last) == nil, "\(last)") }
        #expect(signIns.exchange(of: good)?.user == "ops")
    }

    @Test func aChallengeGrowsOld() throws {
        let start = ContinuousClock.now
        let now = Box(start)
        let signIns = SignIns(clock: { now.value })
        let signIn = signIns.add(keyID: "a", key: [1])
        for (age, isTaken) in [(59, true), (60, false), (3_600, false)] {
            let challenge = signIns.challenge()
            now.value = now.value.advanced(by: .seconds(age))
            let answer = SHA256.code(challenge.utf8, key: [1])
            #expect((signIns.signIn(signIn.id, answering: challenge, answer) == signIn) == isTaken)
        }
    }

    /// The oldest of a token yields; other tokens' stay.
    @Test func soManyOfOneToken() {
        let signIns = SignIns(wallClock: { 5 })
        let other = signIns.add(keyID: "b", key: [1])
        let all = (0...SignIns.mostOfToken).map { _ in signIns.add(keyID: "a", key: [1]) }
        #expect(all.filter { signIns[$0.id] != nil }.count == SignIns.mostOfToken)
        #expect(signIns[other.id] == other)
    }

    /// What is kept reads back, and a later run takes it up; page keys end with the run.
    @Test func overARestart() throws {
        let kept = Box<[SignIn]>([])
        let signIns = SignIns(wallClock: { 5 })
        signIns.follow([]) { kept.value = $0 }
        let key = SHA256.digest("key".utf8)
        let (one, two) = (signIns.add(keyID: "a", key: key), signIns.add(keyID: "b", key: key))
        signIns.remove(one.id)
        #expect(kept.value == [two] && SignIn(line: two.line) == two)
        let later = SignIns(wallClock: { 5 })
        later.follow(kept.value) { _ in }
        #expect(later[two.id] == two && later[one.id] == nil)
        let challenge = later.challenge()
        #expect(later.signIn(two.id, answering: challenge, SHA256.code(challenge.utf8, key: key)) == two)
        #expect(later.signIn(two.id, pageKey: signIns.pageKey(two)) == nil)
        #expect(later.signIn(two.id, pageKey: later.pageKey(two)) == two)
    }

    @Test(arguments: [
        "", "a", "a b c d", "a b \(Base64.encode(SHA256.digest([]))) x", "a b AAAA 5", "a/ b AAAA 5", "a b AAAA 5 6",
        "a b \(Base64.encode(SHA256.digest([]))) \(Int64.min)",
    ])
    func isNoLine(_ line: String) { #expect(SignIn(line: line) == nil) }
}
