// Tests that browsers sign in while others flood the panel's port.

import Foundation
import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct PanelFloodTests {
    private let key = SHA256.digest("key".utf8)
    /// What every browser sends, and the server handles in steps of their own.
    private static let browser = ["User-Agent: Chrome/1", "Tweaks-Window: abcdefgh"]

    /// A server whose rounds are always over their time, as those of many connections are.
    private func server(places: Int = 8) throws -> PanelServer {
        try PanelServer(.named("ops", "write:Content")) { ($0.unauthenticatedSessions, $0.turn) = (places, .zero) }
    }

    /// A connection that the server has not accepted yet; it takes turns when the test says so.
    private func connect(_ server: PanelServer) throws -> PanelClient {
        let panel = PanelClient(try TestClient(port: server.port), port: server.port, token: nil)
        panel.host = PanelID.host(server.endpoint.id)
        return panel
    }

    enum Crowd: CaseIterable { case silent, page, login, cookie }

    private func connect(_ crowd: Crowd, _ server: PanelServer) throws -> [PanelClient] {
        try (0..<100).map { _ in
            let panel = try connect(server)
            switch crowd {
            case .silent: break
            case .page: try panel.send("GET", "/")
            case .login: try panel.send("POST", "/login", #"{"scram":"n,,n=unknown,r=x"}"#)
            case .cookie: try panel.send("POST", "/login", "{}", ["Cookie: tweaks-\(server.port)=unknown"])
            }
            return panel
        }
    }

    private static func body(_ message: String) -> String { #"{"scram":"\#(message)"}"# }

    /// The last message of a sign-in by SCRAM.
    private static func answer(to challenge: PanelAnswer, _ scram: inout Scram.Client) throws -> String {
        let last = scram.answer(try #require(challenge.json["scram"] as? String))
        return body(try #require(last))
    }

    // MARK: Signing in

    /// The two steps of a sign-in; a hundred others connect before each step of the server.
    private func signIn(
        _ server: PanelServer, _ first: String, _ headers: [String] = [], beside crowd: Crowd,
        _ last: (PanelAnswer) throws -> String
    ) throws -> PanelAnswer {
        var others: [PanelClient] = []
        let step = {
            others += try connect(crowd, server)
            server.stepped?.settle()
        }
        let panel = try connect(server)
        try panel.send("POST", "/login", first, Self.browser + headers)
        try step()
        let answer = try panel.read()
        try step()
        try panel.send("POST", "/login", try last(answer), Self.browser + headers)
        try step()
        return try panel.read()
    }

    @Test(arguments: Crowd.allCases, [true, false])
    func aCodeAndATokenSignIn(beside crowd: Crowd, isCode: Bool) throws {
        let server = try server()
        for _ in 0..<2 {
            let link = try #require(server.server.panelAddress)
            let code = try #require(link.components(separatedBy: "/#code=").last)
            var scram = Scram.Client(token: isCode ? code : PanelServer.token("ops"))
            let answer = try signIn(server, Self.body(scram.first), beside: crowd) {
                try Self.answer(to: $0, &scram)
            }
            #expect(answer.status == 200 && answer.json["token"] as? String == (isCode ? "panel" : "ops"))
        }
    }

    /// A page that is reloaded, one that stays open across a restart, and a program.
    @Test(arguments: Crowd.allCases, [.browser, .page, nil] as [SignIn.Key?])
    func aStoredKeySignsIn(beside crowd: Crowd, by name: SignIn.Key?) throws {
        let server = try server()
        let keyID = ScramVerifier.id(of: PanelServer.token("ops"))
        let signIn = server.signIns.add(keyID: keyID, key: key, origin: server.endpoint.id)
        let nonce = "abcdefghijklmnopqrstuvwx"
        let first = name.map { #"{"nonce":"\#(nonce)","by":"\#($0.rawValue)"}"# } ?? "{}"
        let cookie = ["Cookie: tweaks-\(server.port)=\(signIn.id)"]
        let answer = try self.signIn(server, first, cookie, beside: crowd) { answer in
            let challenge = try #require(answer.json["challenge"] as? String)
            let text = name == nil ? challenge : "Client Proof,\(nonce),\(challenge)"
            let proof = Base64.encode(SHA256.code(text.utf8, key: name == .page ? signIn.openKey : key))
            return #"{"challenge":"\#(challenge)","answer":"\#(proof)"}"#
        }
        #expect(answer.status == 200 && answer.json["token"] as? String == "ops", "\(answer)")
    }

    // MARK: Places

    /// However a sign-in ends on a connection, it gives its place back.
    @Test(arguments: [
        ("/login", #"{"scram":"c=biws,r=abc,p=AAAA"}"#), ("/login", #"{"scram":"c="}"#),
        ("/login", #"{"scram":"n,,"}"#), ("/login", #"{"scram":"n,,n=unknown,r=x"}"#),
        ("/login", #"{"challenge":"abc","answer":"AAAA"}"#), ("/login", "{}"), ("/login", "{"),
        ("/login", #"{"scram":5}"#), ("/login", #"{"nonce":"abcdefghijklmnopqrstuvwx","by":"page"}"#),
        ("/logout", "{}"), ("/login?x", "{}"),
    ])
    func aSignInThatHasEndedKeepsNoPlace(_ path: String, _ body: String) throws {
        let server = try server(places: 1)
        let panel = try server.connect(nil)
        let scram = Scram.Client(token: PanelServer.token("ops"))
        #expect(try panel.ask("POST", "/login", Self.body(scram.first)).status == 200)
        try panel.ask("POST", path, body)
        try expectDisplaced(panel, server)
    }

    @Test func aWrongProofKeepsNoPlace() throws {
        let server = try server(places: 1)
        let panel = try server.connect(nil)
        var scram = Scram.Client(token: PanelServer.token("ops"))
        let last = try Self.answer(to: try panel.ask("POST", "/login", Self.body(scram.first)), &scram)
        #expect(try panel.ask("POST", "/login", last.replacing(/p=..../, with: "p=AAAA")).status == 401)
        try expectDisplaced(panel, server)
    }

    /// A request that is not a step of the sign-in leaves the place: browsers load files meanwhile.
    @Test func anotherRequestKeepsThePlace() throws {
        let server = try server(places: 1)
        let panel = try server.connect(nil)
        var scram = Scram.Client(token: PanelServer.token("ops"))
        let answer = try panel.ask("POST", "/login", Self.body(scram.first))
        #expect(try panel.ask("GET", "/api/openapi.json").status == 200)
        let others = try connect(.page, server)
        server.stepped?.settle()
        #expect(try panel.ask("POST", "/login", try Self.answer(to: answer, &scram)).status == 200)
        withExtendedLifetime(others) {}
    }

    /// A connection that is closed, or out of time, gives its place to the next one of its key.
    @Test func aConnectionThatHasEndedKeepsNoPlace() throws {
        let server = try server(places: 1)
        let scram = Scram.Client(token: PanelServer.token("ops"))
        let first = Self.body(scram.first)
        var closed: PanelClient? = try server.connect(nil)
        #expect(try closed?.ask("POST", "/login", first).status == 200)
        closed = nil
        let late = try server.connect(nil)
        #expect(try late.ask("POST", "/login", first).status == 200)
        server.pass(.seconds(61))
        #expect(try late.hasEnded())
        let next = try server.connect(nil)
        #expect(try next.ask("POST", "/login", first).status == 200)
        let others = try connect(.page, server)
        server.stepped?.settle()
        #expect(try next.ask("GET", "/api/openapi.json").status == 200)
        withExtendedLifetime(others) {}
    }

    /// Browsers show cookies to all programs at a host, so that a cookie alone takes places of its own sign-in only.
    @Test func aCookieAloneDisplacesNoSignInByCode() throws {
        let server = try server(places: 2)
        let signIn = server.signIns.add(keyID: ScramVerifier.id(of: server.endpoint.secret), key: key)
        let code = try #require(server.server.panelAddress?.components(separatedBy: "/#code=").last)
        var scram = Scram.Client(token: code)
        let panel = try server.connect(nil)
        panel.host = PanelID.host(server.endpoint.id)
        let answer = try panel.ask("POST", "/login", Self.body(scram.first))
        let others = try (0..<4).map { _ in
            let other = try server.connect(nil)
            try other.send("POST", "/login", "{}", ["Cookie: tweaks-\(server.port)=\(signIn.id)"])
            return other
        }
        #expect(try panel.ask("POST", "/login", try Self.answer(to: answer, &scram)).status == 200)
        withExtendedLifetime(others) {}
    }

    /// Others take the place of a connection that has none of its own.
    private func expectDisplaced(_ panel: PanelClient, _ server: PanelServer) throws {
        let others = try (0..<2).map { _ in try connect(server) }
        for other in others { try other.send("GET", "/") }
        server.stepped?.settle()
        #expect(try panel.client.rest().isEmpty)
        withExtendedLifetime(others) {}
    }

    // MARK: A server with a thread

    /// Another thread opens connections as fast as they are answered, while browsers sign in one after the other.
    @Test func browsersSignInDuringARealFlood() throws {
        let server = try PanelServer([], hasThread: true)
        let host = "\(PanelID.host(server.endpoint.id)):\(server.port)"
        let flood = Flood(server.port, "GET / HTTP/1.1\r\nHost: \(host)\r\n\r\n")
        defer { flood.end() }
        flood.hasBegun.waitBlocking()
        for _ in 0..<8 {
            let link = try #require(server.server.panelAddress)
            var scram = Scram.Client(token: try #require(link.components(separatedBy: "/#code=").last))
            let (panel, answer) = try begin(server, Self.body(scram.first))
            let signedIn = try panel.ask("POST", "/login", try Self.answer(to: answer, &scram), Self.browser)
            #expect(signedIn.status == 200)
            let cookie = try #require(signedIn["Set-Cookie"]?.split(separator: ";").first)
            let (page, next) = try begin(server, "{}", ["Cookie: \(cookie)"])
            let challenge = try #require(next.json["challenge"] as? String)
            let proof = Base64.encode(SHA256.code(challenge.utf8, key: scram.sessionKey))
            let body = #"{"challenge":"\#(challenge)","answer":"\#(proof)"}"#
            #expect(try page.ask("POST", "/login", body, Self.browser + ["Cookie: \(cookie)"]).status == 200)
        }
    }

    /// Sends the first message of a sign-in. A connection that is closed before its message has arrived, as it may be on
    /// a busy machine, is opened again.
    private func begin(
        _ server: PanelServer, _ body: String, _ headers: [String] = []
    ) throws -> (PanelClient, PanelAnswer) {
        for _ in 0..<100 {
            let panel = try connect(server)
            if let answer = try? panel.ask("POST", "/login", body, Self.browser + headers) { return (panel, answer) }
        }
        throw ClientError.ended("")
    }
}
