// Tests browsers that sign in and out: what they send, what of that is useful to others, and when it ends.

import Foundation
import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct SignInServingTests {
    private static let size = "/api/tweaks/Content/Text/Size"
    private static let ops = TokenEntry.named("ops", "write:Content", "run:Player", expires: 2_000_000)

    @Test func aSignInGivesACookieAndAKey() throws {
        let (server, panel) = try PanelServer.connected(Self.ops, as: nil)
        let (answer, page, key) = try panel.signIn("ops")
        #expect(answer.status == 200)
        let proof = try #require(answer.json["scram"] as? String)
        let pageKey = try #require(answer.json["key"] as? String)
        let token = #""token":"ops","scopes":["write:Content","run:Player"],"expires":"1970-01-01T00:33:20Z""#
        #expect(answer.body == #"{"ok":true,"scram":"\#(proof)",\#(token),"key":"\#(pageKey)"}"# + "\n")
        let cookie = try #require(answer["Set-Cookie"])
        #expect(cookie.hasSuffix("; Max-Age=2592000; Path=/; HttpOnly; SameSite=Strict"))
        // Neither the token nor the browser's key is sent.
        let sent = answer.body + cookie
        #expect(!sent.contains(PanelServer.token("ops").dropFirst(4)) && !sent.contains(Base64.encode(key)))
        for client in [panel, try server.connect(nil)] {
            #expect(try client.ask("GET", Self.size, nil, page).status == 200)
            #expect(try client.ask("GET", "/api/whoami", nil, page).json["identity"] as? String == "token ops")
        }
    }

    /// A cookie is sent to every port of the host; a page's key may be read on the way.
    @Test func aCookieOrAKeyAloneIsRefused() throws {
        let (server, panel) = try PanelServer.connected(Self.ops, as: nil)
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

    /// By a challenge, which is valid once, and for a minute.
    @Test func aReloadedPageAnswersAChallenge() throws {
        let (server, panel) = try PanelServer.connected(Self.ops, as: nil)
        let (_, page, key) = try panel.signIn("ops")
        let answer = try panel.resume(page[0], key)
        #expect(answer.status == 200 && answer.json["token"] as? String == "ops" && answer["Set-Cookie"] == nil)
        let pageKey = try #require(answer.json["key"] as? String)
        #expect(try panel.ask("GET", Self.size, nil, [page[0], "Tweaks-Key: \(pageKey)"]).status == 200)
        // Another key, no cookie, another cookie.
        #expect(try panel.resume(page[0], SHA256.digest(key)).status == 401)
        #expect(try panel.resume("X: y", key).status == 401)
        #expect(try panel.resume(try panel.signIn("admin").page[0], key).status == 401)
        // A challenge that was answered, and an old one.
        for wait in [Duration.zero, .seconds(60)] {
            let challenge = try #require(try panel.ask("POST", "/login", "{}").json["challenge"] as? String)
            let proof = Base64.encode(SHA256.code(challenge.utf8, key: key))
            let body = #"{"challenge":"\#(challenge)","answer":"\#(proof)"}"#
            if wait == .zero { #expect(try panel.ask("POST", "/login", body, [page[0]]).status == 200) }
            server.pass(wait)
            #expect(try panel.ask("POST", "/login", body, [page[0]]).status == 401)
        }
    }

    /// On all connections, including streams.
    @Test func aLogoutEndsTheSignInEverywhere() throws {
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
        // Another browser with the same token stays signed in.
        #expect(try panel.ask("GET", Self.size, nil, another).status == 200)
    }

    @Test func aSecondSignInReplacesTheFirst() throws {
        let (_, panel) = try PanelServer.connected(Self.ops, as: nil)
        let (_, page, key) = try panel.signIn("ops")
        let (_, next, _) = try panel.signIn("admin", [page[0]])
        #expect(try panel.ask("GET", Self.size, nil, page).status == 401)
        #expect(try panel.resume(page[0], key).status == 401)
        #expect(try panel.ask("GET", Self.size, nil, next).status == 200)
    }

    @Test func keysAndSignInsExpire() throws {
        let (server, panel) = try PanelServer.connected(.named("ops", "write:Content"), as: nil)
        let (_, page, key) = try panel.signIn("ops")
        // The key of a page expires soon, the sign-in after 30 days.
        server.pass(SignInStore.pageKeyLifetime)
        let late = try server.connect(nil)
        #expect(try late.ask("GET", Self.size, nil, page).status == 401)
        #expect(try late.resume(page[0], key).status == 200)
        for (rest, status) in [(Int64(1), 200), (0, 401)] {
            server.setTime(1_000_000 + SignInStore.lifetime - rest)
            #expect(try late.resume(page[0], key).status == status)
        }
    }

    @Test func aReplacedTokenEndsItsSignIns() throws {
        let (server, panel, line) = try PanelServer.connectedWithLine(Self.ops, as: nil)
        let (_, page, key) = try panel.signIn("ops")
        try server.replace([.named("admin", .admin), .named("ops", "write:Content", secret: "other")], line)
        let late = try server.connect(nil)
        #expect(try late.ask("GET", Self.size, nil, page).status == 401)
        #expect(try late.resume(page[0], key).status == 401)
    }

    /// A challenge can be answered once.
    @Test func aWrongTokenIsRefusedAndCounted() throws {
        let (_, panel) = try PanelServer.connected(Self.ops, as: nil) { $0.authenticationFailures = 2 }
        let answer = try panel.signIn("nobody").answer
        #expect(answer.status == 401 && answer["Set-Cookie"] == nil && answer.json["key"] == nil)
        let shown = #"{"scram":"c=biws,r=abc,p=AAAA"}"#
        #expect(try panel.ask("POST", "/login", shown).message?.hasPrefix("there is no such challenge") == true)
        #expect(try panel.ask("POST", "/login", #"{"scram":"y,,n=a,r=b"}"#).code == "bad-value")
        _ = try panel.signIn("nobody")
        #expect(try panel.client.rest() == "")
    }

    @Test func aRefusedSessionEndsNoSignIn() throws {
        let (server, panel) = try PanelServer.connected(Self.ops, as: nil) { $0.sessionsPerPeer = 1 }
        let (_, page, key) = try panel.signIn("ops")
        let answer = try server.connect(nil).resume(page[0], key)
        #expect(answer.code == "too-many", "\(answer)")
        #expect(try panel.ask("GET", Self.size, nil, page).status == 200)
    }

    @Test func plainTokensCanBeTurnedOff() throws {
        let (server, panel, line) = try PanelServer.connectedWithLine(Self.ops, as: "ops")
        server.server.tokensChanged(TokenTable([Self.ops], refusesPlain: true))
        try server.settle(line)
        let answer = try panel.ask("GET", Self.size)
        #expect(answer.status == 401 && answer.message?.hasPrefix("auth TOKEN is off here") == true)
        panel.token = nil
        let page = try panel.signIn("ops").page
        #expect(try panel.ask("GET", Self.size, nil, page).status == 200)
    }
}

@Suite(.blocking) struct PanelAddressServingTests {
    private static let ops = TokenEntry.named("ops", "write:Content")
    private static let size = "/api/tweaks/Content/Text/Size"

    /// A server, and a client of its page.
    private func page(
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws -> (server: PanelServer, panel: PanelClient) {
        let (server, panel) = try PanelServer.connected(Self.ops, as: nil, change)
        panel.host = PanelID.host(server.endpoint.id)
        return (server, panel)
    }

    /// Proves a key of a sign-in, and demands the server's proof first.
    private func prove(
        _ panel: PanelClient, _ by: SignIn.Key, _ key: [UInt8], _ cookie: String
    ) throws -> PanelAnswer {
        let nonce = "abcdefghijklmnopqrstuvwx"
        let first = try panel.ask("POST", "/login", #"{"nonce":"\#(nonce)","by":"\#(by.rawValue)"}"#, [cookie])
        guard first.status == 200 else { return first }
        let challenge = try #require(first.json["challenge"] as? String)
        let proof = SHA256.code("Server Proof,\(nonce),\(challenge)".utf8, key: key)
        #expect(first.json["proof"] as? String == Base64.encode(proof))
        let answer = Base64.encode(SHA256.code("Client Proof,\(nonce),\(challenge)".utf8, key: key))
        return try panel.ask("POST", "/login", #"{"challenge":"\#(challenge)","answer":"\#(answer)"}"#, [cookie])
    }

    private func openKey(_ answer: PanelAnswer, _ exchange: String, _ key: [UInt8]) throws -> [UInt8] {
        let sealed = try #require(Base64.decode(answer.json["openKey"] as? String ?? ""))
        return SHA256.xor(sealed, SHA256.code("Open Key,\(exchange)".utf8, key: key))
    }

    /// The key of a page that is open is valid at an earlier address; nothing else is served or accepted there.
    @Test func anEarlierAddressIsOnlyForPagesThatAreOpen() throws {
        let (server, panel) = try page()
        let (answer, headers, key) = try panel.signIn("ops")
        let signIn = try #require(server.signIns[answer.json["signIn"] as? String ?? ""])
        #expect(signIn.origin == server.endpoint.id && !answer.body.contains(Base64.encode(signIn.openKey)))
        for name in [SignIn.Key.browser, .page] {
            #expect(try prove(panel, name, name == .browser ? key : signIn.openKey, headers[0]).status == 200)
        }
        server.endpoint.rotate()
        #expect(server.endpoint.id != signIn.origin)
        #expect(try panel.ask("GET", Self.size, nil, headers).status == 200)
        let renewed = try prove(panel, .page, signIn.openKey, headers[0])
        #expect(renewed.status == 200 && renewed.json["key"] != nil && renewed.json["openKey"] == nil)
        #expect(try prove(panel, .browser, key, headers[0]).status == 401)
        #expect(try panel.resume(headers[0], key).status == 401)
        #expect(try panel.ask("POST", "/login", #"{"scram":"n,,n=a,r=b"}"#).status == 421)
        #expect(try panel.ask("POST", "/login", #"{"scram":"c=biws,r=b,p=AAAA"}"#).status == 421)
        for path in ["/", "/panel/1/main.js", "/panel/1/drawer/drawer.js"] {
            #expect(try panel.ask("GET", path).status == 421)
        }
        panel.token = PanelServer.token("ops")
        #expect(try panel.ask("GET", Self.size).status == 421)
        panel.token = nil
        // A sign-in is valid only at its own address.
        for host in [PanelID.host(server.endpoint.id), "127.0.0.1", PanelID.host(PanelID.make())] {
            panel.host = host
            #expect(try panel.ask("GET", Self.size, nil, headers).status == 401)
            #expect(try prove(panel, .page, signIn.openKey, headers[0]).status == 401)
            #expect(try prove(panel, .browser, key, headers[0]).status == 401)
        }
    }

    /// The browser's key gives it to a page, by a text that is made for that page.
    @Test func aPageThatIsLoadedGetsTheKeyOfOpenPages() throws {
        let (server, panel) = try page()
        let (answer, headers, key) = try panel.signIn("ops")
        let signIn = try #require(server.signIns[answer.json["signIn"] as? String ?? ""])
        let nonce = "abcdefghijklmnopqrstuvwx"
        let first = try panel.ask("POST", "/login", #"{"nonce":"\#(nonce)","by":"browser"}"#, [headers[0]])
        let challenge = try #require(first.json["challenge"] as? String)
        let proof = Base64.encode(SHA256.code("Client Proof,\(nonce),\(challenge)".utf8, key: key))
        let body = #"{"challenge":"\#(challenge)","answer":"\#(proof)"}"#
        let second = try panel.ask("POST", "/login", body, [headers[0]])
        #expect(try openKey(second, challenge, key) == signIn.openKey)
        #expect(try openKey(second, "another text", key) != signIn.openKey)
        #expect(SignIn(line: signIn.line) == signIn)
        // The header stands for the cookie.
        let own = ["Tweaks-Sign-In: \(signIn.id)", headers[1]]
        #expect(try panel.ask("GET", Self.size, nil, own).status == 200)
        for body in [#"{"nonce":"short","by":"page"}"#, #"{"nonce":"\#(nonce)","by":"x"}"#, #"{"nonce":"\#(nonce)"}"#] {
            #expect(try panel.ask("POST", "/login", body).code == "usage")
        }
    }

    private func signIn(_ panel: PanelClient, code: String) throws -> PanelAnswer {
        var scram = Scram.Client(token: code)
        let first = try panel.ask("POST", "/login", #"{"scram":"\#(scram.first)"}"#)
        let last = scram.answer(try #require(first.json["scram"] as? String))
        return try panel.ask("POST", "/login", #"{"scram":"\#(try #require(last))"}"#)
    }

    private func code(_ server: PanelServer) throws -> String {
        try #require(server.server.panelAddress?.components(separatedBy: "/#code=").last)
    }

    @Test func theLinkHasACodeThatIsSpentByACompletedSignIn() throws {
        let (server, panel) = try page { $0.authenticationFailures = 9 }
        let link = try #require(server.server.panelAddress)
        #expect(link.hasPrefix("http://\(PanelID.host(server.endpoint.id)):\(server.port)/#code="))
        let (first, token) = (try code(server), try #require(server.server.panelToken))
        // It is no token, and a sign-in that fails does not spend it.
        panel.token = first
        #expect(try panel.ask("GET", Self.size).status == 401)
        panel.token = nil
        #expect(try signIn(panel, code: first + "x").status == 401)
        _ = try panel.ask("POST", "/login", #"{"scram":"\#(Scram.Client(token: first).first)"}"#)
        #expect(try code(server) == first)
        let answer = try signIn(panel, code: first)
        #expect(answer.status == 200 && answer.json["token"] as? String == "panel")
        let next = try code(server)
        #expect(next != first && server.server.panelToken == token)
        #expect(try signIn(panel, code: first).status == 401)
        #expect(server.events.all.contains { if case .authenticationFailed = $0.kind { true } else { false } })
        #expect(try signIn(panel, code: next).status == 200)
        // A rotation ends the code, and the sign-ins.
        let last = try code(server)
        let line = try server.connectByLine()
        let address = try line.ask("panel rotate")[0]
        #expect(address == "  address: \(server.server.panelAddress ?? "")")
        #expect(try code(server) != last && server.server.panelToken != token)
        let late = try server.connect(nil)
        late.host = PanelID.host(server.endpoint.id)
        #expect(try signIn(late, code: last).status == 401)
        #expect(try line.ask("panel token") == ["  token: \(server.server.panelToken ?? "")", "ok"])
    }

    /// The code is spent by the first; the second gets the remedy.
    @Test func ofTwoSignInsWithACodeOneCompletes() throws {
        let (server, one) = try page()
        let two = try server.connect(nil)
        two.host = one.host
        let text = try code(server)
        var lasts: [String] = []
        for panel in [one, two] {
            var scram = Scram.Client(token: text)
            let first = try panel.ask("POST", "/login", #"{"scram":"\#(scram.first)"}"#)
            let last = scram.answer(try #require(first.json["scram"] as? String))
            lasts.append(try #require(last))
        }
        let answers = try zip([one, two], lasts).map { panel, last in
            try panel.ask("POST", "/login", #"{"scram":"\#(last)"}"#)
        }
        #expect(answers.map(\.status) == [200, 401] && answers[1]["Set-Cookie"] == nil)
    }

    @Test func aRefusedSignInDoesNotSpendTheCode() throws {
        let (server, panel) = try page { $0.sessionsPerPeer = 1 }
        #expect(try signIn(panel, code: try code(server)).status == 200)
        let next = try code(server)
        let other = try server.connect(nil)
        other.host = panel.host
        #expect(try signIn(other, code: next).code == "too-many")
        #expect(try code(server) == next)
    }
}

@Suite struct SignInStoreTests {
    private let verifier = ScramVerifier(token: "twk_ops")

    /// However many other challenges are open; only by the process that made it.
    @Test(arguments: ["", ".", "a.b.c.d"]) func anAnswerIsValidOnceForItsChallenge(_ nonce: String) throws {
        let start = Moment.now
        let signIns = SignInStore(clock: { start })
        var client = Scram.Client(user: verifier.id, password: "twk_ops", nonce: "n\(nonce)")
        let challenge = try signIns.begin(client.first)
        for number in 0..<5_000 { _ = try signIns.begin("n,,n=other,r=\(number)") }
        let answer = client.answer(challenge)
        let last = try #require(answer)
        #expect(SignInStore().exchange(of: last) == nil)
        let exchange = try #require(signIns.exchange(of: last))
        #expect(exchange.user == verifier.id && exchange.challenge == challenge)
        let acceptance = try #require(try exchange.accept(last, verifier))
        #expect(client.accepts(acceptance.last))
        #expect(signIns.exchange(of: last) == nil)
    }

    @Test func forgedChallengesAreRefused() throws {
        let signIns = SignInStore()
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

    @Test func aChallengeExpiresAfterAMinute() throws {
        let start = Moment.now
        let now = Box(start)
        let signIns = SignInStore(clock: { now.value })
        let signIn = signIns.add(keyID: "a", key: [1])
        for (age, isValid) in [(59, true), (60, false), (3_600, false)] {
            let challenge = signIns.challenge()
            now.value = now.value.advanced(by: .seconds(age))
            let answer = SHA256.code(challenge.utf8, key: [1])
            #expect((signIns.signIn(signIn.id, answering: challenge, answer)?.0 == signIn) == isValid)
        }
    }

    @Test func theOldestSignInOfATokenYields() {
        let signIns = SignInStore(wallClock: { 5 })
        let other = signIns.add(keyID: "b", key: [1])
        let all = (0...SignInStore.limitPerToken).map { _ in signIns.add(keyID: "a", key: [1]) }
        #expect(all.filter { signIns[$0.id] != nil }.count == SignInStore.limitPerToken)
        #expect(signIns[other.id] == other)
    }

    /// The keys of pages end with the process.
    @Test func signInsLastOverARestart() throws {
        let kept = Box<[SignIn]>([])
        let signIns = SignInStore(wallClock: { 5 })
        signIns.restore([]) { kept.value = $0 }
        let key = SHA256.digest("key".utf8)
        let (one, two) = (signIns.add(keyID: "a", key: key), signIns.add(keyID: "b", key: key))
        signIns.remove(one.id)
        #expect(kept.value == [two] && SignIn(line: two.line) == two)
        let later = SignInStore(wallClock: { 5 })
        later.restore(kept.value) { _ in }
        #expect(later[two.id] == two && later[one.id] == nil)
        let challenge = later.challenge()
        #expect(later.signIn(two.id, answering: challenge, SHA256.code(challenge.utf8, key: key))?.0 == two)
        #expect(later.signIn(two.id, pageKey: signIns.pageKey(two)) == nil)
        #expect(later.signIn(two.id, pageKey: later.pageKey(two)) == two)
    }

    private static let key = Base64.encode(SHA256.digest([]))

    @Test(arguments: [
        "", "a", "a b c d e f", "a b \(key) x - \(key)", "a b AAAA 5 - \(key)", "a/ b \(key) 5 - \(key)",
        "a b \(key) 5 - AAAA", "a b \(key) \(Int64.min) - \(key)", "a b \(key) 5 - \(key) 6", "a b \(key) 5",
    ])
    func invalidLinesAreRefused(_ line: String) { #expect(SignIn(line: line) == nil) }
}
