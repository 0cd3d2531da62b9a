// Tests tokens of requests: bearer, cookie, wrong ones, several on one connection, and tokens that end.

import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct TokenServingTests {
    private static let size = "/api/tweaks/Content/Text/Size"
    private static let ops = TokenEntry.named("ops", "write:Content", "run:Player", expires: 2_000_000)

    @Test(arguments: [
        ("GET", "/api/whoami"), ("GET", "/api/tweaks"), ("GET", "/api/events"),
        ("POST", "/api/undo"), ("PATCH", "/api/tweaks"), ("DELETE", "/api/sessions/1"),
    ])
    func requestsNeedAValidToken(_ method: String, _ target: String) throws {
        let (_, panel) = try PanelServer.connected(as: nil)
        let body = method == "POST" ? "{}" : method == "PATCH" ? PanelClient.changes([("A/B/C", "1")]) : nil
        for token in [nil, "x", PanelServer.token("nobody")] {
            panel.token = token
            let answer = try panel.ask(method, target, body)
            #expect(answer.status == 401, "\(token ?? "")")
            #expect(answer.code == (token == nil ? "auth-required" : "denied"))
            #expect(answer["WWW-Authenticate"] == "Bearer realm=\"tweaks\"")
        }
        // A valid token is accepted on the same connection.
        panel.token = PanelServer.token("admin")
        #expect(try panel.ask("GET", Self.size).status == 200)
        panel.token = nil
        #expect(try panel.ask("GET", Self.size).status == 401)
    }

    @Test func thePageNeedsNoToken() throws {
        let panel = try PanelServer().connect(nil)
        #expect(try panel.ask("GET", "/").status == 200)
        #expect(try panel.ask("GET", "/api/openapi.json").status == 200)
        #expect(try panel.ask("POST", "/logout", "{}").status == 204)
    }

    @Test func wrongTokensAreCountedAndEndTheConnection() throws {
        let (server, panel) = try PanelServer.connected(as: "nobody") { $0.authenticationFailures = 3 }
        let good = try server.connect()
        for round in 1...3 {
            let answer = try panel.ask("GET", Self.size)
            #expect(answer.status == 401 && answer.code == "denied")
            #expect(answer["Connection"] == (round == 3 ? "close" : nil))
        }
        #expect(try panel.hasEnded())
        #expect(try good.ask("GET", Self.size).status == 200)
        #expect(server.events.all.filter(\.isAuthenticationFailure).count == 3)
        #expect(try server.connectByLine().limitsHit() == ["authenticationFailures 1"])
    }

    /// Meanwhile others are served, and no later request of the same connection.
    @Test func wrongTokensAreAnsweredLate() throws {
        let (server, panel) = try PanelServer.connected(as: "nobody", hasThread: true) {
            $0.authenticationDelay = .seconds(3_600) ... .seconds(3_600)
            $0.timeToAuthenticate = .seconds(3_600)
        }
        let good = try server.connect()
        try panel.send("GET", Self.size)
        panel.token = PanelServer.token("admin")
        try panel.send(size: 44)
        for _ in 1...20 { #expect(try good.ask("GET", Self.size).json["value"] as? Double == 60) }
        #expect(!panel.client.hasInput && server.registry.revision == 0)
        server.server.stop()
    }

    @Test func theHeaderTakesPrecedenceOverTheCookie() throws {
        let (server, panel) = try PanelServer.connected(Self.ops, as: "ops")
        let cookie = server.page("admin")
        #expect(try panel.ask("GET", "/api/whoami", nil, cookie).json["identity"] as? String == "token ops")
        panel.token = PanelServer.token("nobody")
        #expect(try panel.ask("GET", "/api/whoami", nil, cookie).status == 401)
    }

    @Test func eachRequestHasTheRightsOfItsToken() throws {
        let server = try PanelServer(.named("see", "read:Content"), .named("act", "run:Player"))
        let panel = try server.connect("see")
        #expect(try panel.ask("GET", "/api/whoami").json["scopes"] as? [String] == ["read:Content"])
        panel.token = PanelServer.token("act")
        let whoami = try panel.ask("GET", "/api/whoami")
        #expect(whoami.json["scopes"] as? [String] == ["run:Player"])
        #expect(whoami.json["identity"] as? String == "token act")
        #expect(whoami.items("tokens").count == 1)
        #expect(try panel.ask("GET", Self.size).status == 404)
        #expect(try panel.ask("POST", "/api/actions/Player/Audio/Mute", "{}").status == 200)
        panel.token = PanelServer.token("see")
        #expect(try panel.ask("POST", "/api/actions/Player/Audio/Mute", "{}").status == 403)
    }

    @Test func aWrongTokenAfterAValidOneIsRefused() throws {
        let panel = try PanelServer().connect()
        #expect(try panel.ask("GET", Self.size).status == 200)
        panel.token = PanelServer.token("nobody")
        #expect(try panel.ask("GET", Self.size).status == 401)
        #expect(try panel.signIn("nobody").answer.status == 401)
        panel.token = PanelServer.token("admin")
        #expect(try panel.ask("GET", Self.size).status == 200)
    }

    @Test func aRefusedRequestDoesNotChangeTheWaitForTheDisk() throws {
        let store = GatedStore(isRequired: false)
        let (server, panel, line) = try PanelServer.connectedWithLine(store: store)
        try panel.set(size: 40, #","settled":false"#)
        panel.token = PanelServer.token("nobody")
        #expect(try panel.set(size: 41).status == 401)
        panel.token = PanelServer.token("admin")
        try panel.send(size: 42)
        #expect(server.registry.revision >= 2)
        try server.settle(line)
        #expect(!panel.client.hasInput)
        store.finish(2)
        #expect(try panel.read().revision == 2)
    }

    /// How a token ends, or gets other rights.
    enum Ending: CaseIterable { case expired, revoked, replaced, narrowed, widened }

    private func end(_ ending: Ending, _ server: PanelServer, _ line: TestClient) throws {
        switch ending {
        case .expired:
            server.setTime(2_000_000)
            try server.settle(line)
        case .revoked: try server.replace([], line)
        case .replaced: try server.replace([.named("ops", "write:Content", secret: "another")], line)
        case .narrowed: try server.replace([.named("ops", "read:Player")], line)
        case .widened: try server.replace([.named("ops", .admin)], line)
        }
    }

    @Test(arguments: Ending.allCases) func aTokenThatEndsEndsItsStream(_ ending: Ending) throws {
        let (server, panel, line) = try PanelServer.connectedWithLine(Self.ops, as: "ops")
        #expect(try panel.stream().snapshot.paths.count == 7)
        try line.ask("Content/Text/Size = 70")
        #expect(try panel.event()?.path == "Content/Text/Size")
        try end(ending, server, line)
        try line.ask("Content/Text/Size = 71")
        let last = try #require(try panel.event())
        #expect(last.name == "closing" && last.data.contains(#""code":"closing""#))
        #expect(try panel.event().map(\.name) == nil)
        #expect(try panel.hasEnded())
        #expect(server.events.all.contains { $0.session.state.reason == .revoked })
    }

    @Test func aTokenThatEndsDuringASnapshotEndsTheStreamAfterIt() throws {
        let registry = ExampleTweaks().registry
        for number in 0..<quantity(20_000, few: 5_000) {
            _ = Tweak("Content", "Many", "Number \(number)", number, registry: registry)
        }
        let server = try PanelServer(.named("ops", .write), registry: registry) { $0.lingerTime = .seconds(3_600) }
        let (panel, line) = (try server.connect("ops"), try server.connectByLine())
        try panel.send("GET", "/api/events")
        _ = try panel.readHead()
        try server.replace([.named("ops", .read)], line)
        #expect(try panel.event()?.name == "hello")
        let snapshot = try #require(try panel.event())
        #expect(snapshot.name == "snapshot" && snapshot.json["ok"] as? Bool == true)
        #expect(try panel.event()?.name == "closing")
        #expect(try panel.event().map(\.name) == nil)
    }

    @Test(arguments: [Ending.expired, .revoked, .narrowed])
    func aTokenThatEndsDuringTheWaitForTheDiskKeepsTheChange(_ ending: Ending) throws {
        let store = GatedStore(isRequired: false)
        let (server, panel, line) = try PanelServer.connectedWithLine(Self.ops, as: "ops", store: store)
        let change = panel.request(size: 44)
        try panel.client.send(change + change)
        #expect(server.registry.revision >= 1)
        try end(ending, server, line)
        store.finish(1)
        // The first change was made, and is answered; the second is not made.
        #expect(try panel.read().revision == 1)
        if ending == .narrowed {
            #expect(try panel.read().status == 403)
        } else {
            let rest = try panel.client.rest()
            #expect(rest.isEmpty || rest.hasPrefix("HTTP/1.1 503 "))
        }
        #expect(server.registry.revision == 1)
    }

    /// Where changes are written before they are made.
    @Test(arguments: [Ending.expired, .revoked, .narrowed])
    func aTokenThatEndsBeforeTheChangeIsMadeWithdrawsIt(_ ending: Ending) throws {
        let store = GatedStore(isRequired: true)
        let (server, panel, line) = try PanelServer.connectedWithLine(Self.ops, as: "ops", store: store)
        try panel.send(size: 44)
        #expect(store.proposals >= 1)
        try end(ending, server, line)
        store.answerProposals()
        #expect(try panel.read().status == 404)
        #expect(server.registry.revision == 0 && store.withdrawn == 1)
    }

    @Test(arguments: [Ending.expired, .revoked, .narrowed])
    func aTokenThatEndsDuringAnActionEndsTheNextRequest(_ ending: Ending) throws {
        let registry = ExampleTweaks().registry
        let action = BlockedAction("Player/Audio/Long", in: registry)
        let (server, panel, line) = try PanelServer.connectedWithLine(Self.ops, as: "ops", registry: registry) {
            $0.lingerTime = .seconds(3_600)
        }
        let change = panel.request(size: 44)
        try panel.client.send(panel.request("POST", "/api/actions/Player/Audio/Long", "{}") + change)
        action.began.waitBlocking()
        try end(ending, server, line)
        action.released.open()
        #expect(try panel.read().json["output"] as? String == "done")
        #expect(try panel.read().status == (ending == .narrowed ? 403 : 503))
        #expect(registry.revision == 0)
    }
}

extension TweakSessionEvent {
    fileprivate var isAuthenticationFailure: Bool { if case .authenticationFailed = kind { true } else { false } }
}
