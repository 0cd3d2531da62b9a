// Who asks: bearer, cookie, wrong tokens, several tokens on one connection, and tokens that end.

import Foundation
import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct TokenServingTests {
    private static let size = "/api/tweaks/Content/Text/Size"
    private static let ops = TokenEntry.named("ops", "write:Content", "run:Player", expires: 2_000_000)

    // MARK: Showing one

    @Test(arguments: [
        ("GET", "/api/whoami"), ("GET", "/api/tweaks"), ("GET", "/api/events"),
        ("POST", "/api/undo"), ("PATCH", "/api/tweaks"), ("DELETE", "/api/sessions/1"),
    ])
    func withoutAToken(_ method: String, _ target: String) throws {
        let server = try PanelServer()
        let panel = try server.connect(nil)
        let body = method == "POST" ? "{}" : method == "PATCH" ? PanelClient.changes([("A/B/C", "1")]) : nil
        for token in [nil, "x", PanelServer.token("nobody")] {
            panel.token = token
            let answer = try panel.ask(method, target, body)
            #expect(answer.status == 401, "\(token ?? "")")
            #expect(answer.code == (token == nil ? "auth-required" : "denied"))
            #expect(answer["WWW-Authenticate"] == "Bearer realm=\"tweaks\"")
        }
        // A token that is one is all it takes, on the same connection.
        panel.token = PanelServer.token("admin")
        #expect(try panel.ask("GET", Self.size).status == 200)
        panel.token = nil
        #expect(try panel.ask("GET", Self.size).status == 401)
    }

    @Test func thePageNeedsNone() throws {
        let panel = try PanelServer().connect(nil)
        #expect(try panel.ask("GET", "/").status == 200)
        #expect(try panel.ask("GET", "/api/openapi.json").status == 200)
        #expect(try panel.ask("POST", "/logout", "{}").status == 204)
    }

    /// The answer does not come before its time, and after several the connection ends.
    @Test func wrongOnes() throws {
        let server = try PanelServer { $0.authenticationFailures = 3 }
        let panel = try server.connect("nobody")
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

    /// While somebody waits for the answer to a wrong token, others are served, and nothing behind it is.
    @Test func wrongOnesAreAnsweredLate() throws {
        let server = try PanelServer(hasThread: true) { $0.authenticationDelay = .seconds(3_600) ... .seconds(3_600) }
        let (panel, good) = (try server.connect("nobody"), try server.connect())
        try panel.send("GET", Self.size)
        panel.token = PanelServer.token("admin")
        try panel.send("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "44")]))
        for _ in 1...20 { #expect(try good.ask("GET", Self.size).json["value"] as? Double == 60) }
        #expect(!panel.client.hasInput && server.registry.revision == 0)
        server.server.stop()
    }

    /// Who writes a header does not mean the cookie.
    @Test func theHeaderWinsOverTheCookie() throws {
        let server = try PanelServer(Self.ops)
        let panel = try server.connect("ops")
        let cookie = server.page("admin")
        #expect(try panel.ask("GET", "/api/whoami", nil, cookie).json["identity"] as? String == "token ops")
        panel.token = PanelServer.token("nobody")
        #expect(try panel.ask("GET", "/api/whoami", nil, cookie).status == 401)
    }

    // MARK: Two on one connection

    @Test func rightsAreNotMixed() throws {
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

    /// A wrong token behind a good one ends what the good one gave.
    @Test func aWrongOneBehindAGoodOne() throws {
        let panel = try PanelServer().connect()
        #expect(try panel.ask("GET", Self.size).status == 200)
        panel.token = PanelServer.token("nobody")
        #expect(try panel.ask("GET", Self.size).status == 401)
        #expect(try panel.signIn("nobody").answer.status == 401)
        panel.token = PanelServer.token("admin")
        #expect(try panel.ask("GET", Self.size).status == 200)
    }

    /// What was to hold for a request that was turned away does not hold for the next one, nor is it missing there.
    @Test func aWrongOneDoesNotChangeHowTheDiskIsWaitedFor() throws {
        let store = GatedStore(isRequired: false)
        let server = try PanelServer(store: store)
        let (panel, line) = (try server.connect(), try server.connectByLine())
        try panel.patch([("Content/Text/Size", "40")], #","settled":false"#)
        panel.token = PanelServer.token("nobody")
        #expect(try panel.patch([("Content/Text/Size", "41")]).status == 401)
        panel.token = PanelServer.token("admin")
        try panel.send("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "42")]))
        #expect(server.registry.revision >= 2)
        try server.settle(line)
        #expect(!panel.client.hasInput)
        store.finish(2)
        #expect(try panel.read().revision == 2)
    }

    // MARK: Tokens that end

    /// How a token ends, or becomes less or more.
    enum Ending: CaseIterable { case expired, revoked, replaced, narrowed, widened }

    private func end(_ ending: Ending, _ server: PanelServer, _ line: TestClient) throws {
        switch ending {
        case .expired:
            server.setTime(2_000_000)
            try server.settle(line)
        case .revoked: try server.take([], line)
        case .replaced: try server.take([.named("ops", "write:Content", secret: "another")], line)
        case .narrowed: try server.take([.named("ops", "read:Player")], line)
        case .widened: try server.take([.named("ops", .admin)], line)
        }
    }

    @Test(arguments: Ending.allCases) func whileAStreamRuns(_ ending: Ending) throws {
        let server = try PanelServer(Self.ops)
        let (panel, line) = (try server.connect("ops"), try server.connectByLine())
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

    /// Even where its first event is still on its way: what was said is not torn.
    @Test func whileASnapshotIsSent() throws {
        let registry = ExampleTweaks().registry
        for number in 0..<quantity(20_000, few: 5_000) {
            _ = Tweak("Content", "Many", "Number \(number)", number, registry: registry)
        }
        let server = try PanelServer(.named("ops", .write), registry: registry)
        let (panel, line) = (try server.connect("ops"), try server.connectByLine())
        try panel.send("GET", "/api/events")
        _ = try panel.readHead()
        try server.take([.named("ops", .read)], line)
        #expect(try panel.event()?.name == "hello")
        let snapshot = try #require(try panel.event())
        #expect(snapshot.name == "snapshot" && snapshot.json["ok"] as? Bool == true)
        #expect(try panel.event()?.name == "closing")
        #expect(try panel.event().map(\.name) == nil)
    }

    @Test(arguments: [Ending.expired, .revoked, .narrowed]) func whileAChangeWaitsForTheDisk(_ ending: Ending) throws {
        let store = GatedStore(isRequired: false)
        let server = try PanelServer(Self.ops, store: store)
        let (panel, line) = (try server.connect("ops"), try server.connectByLine())
        let change = panel.request("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "44")]))
        try panel.client.send(change + change)
        #expect(server.registry.revision >= 1)
        try end(ending, server, line)
        store.finish(1)
        // It was made, and is answered; the next one is not made.
        #expect(try panel.read().revision == 1)
        if ending == .narrowed { #expect(try panel.read().status == 403) }
        if ending != .narrowed {
            let rest = try panel.client.rest()
            #expect(rest.isEmpty || rest.hasPrefix("HTTP/1.1 503 "))
        }
        #expect(server.registry.revision == 1)
    }

    /// Where changes are written first, it is not made at all.
    @Test(arguments: [Ending.expired, .revoked, .narrowed]) func whileAChangeIsWritten(_ ending: Ending) throws {
        let store = GatedStore(isRequired: true)
        let server = try PanelServer(Self.ops, store: store)
        let (panel, line) = (try server.connect("ops"), try server.connectByLine())
        try panel.send("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "44")]))
        #expect(store.proposals >= 1)
        try end(ending, server, line)
        store.answerProposals()
        #expect(try panel.read().status == 404)
        #expect(server.registry.revision == 0 && store.withdrawn == 1)
    }

    @Test(arguments: [Ending.expired, .revoked, .narrowed]) func whileAnActionRuns(_ ending: Ending) throws {
        let registry = ExampleTweaks().registry
        let (began, gate) = (Gate(), Gate())
        tweakAction("Player", "Audio", "Long", registry: registry) { _ in
            began.open()
            await gate.wait()
            return "done"
        }
        let server = try PanelServer(Self.ops, registry: registry)
        let (panel, line) = (try server.connect("ops"), try server.connectByLine())
        let change = panel.request("PATCH", "/api/tweaks", PanelClient.changes([("Content/Text/Size", "44")]))
        try panel.client.send(panel.request("POST", "/api/actions/Player/Audio/Long", "{}") + change)
        began.waitBlocking()
        try end(ending, server, line)
        gate.open()
        #expect(try panel.read().json["output"] as? String == "done")
        #expect(try panel.read().status == (ending == .narrowed ? 403 : 503))
        #expect(registry.revision == 0)
    }
}

extension TweakSessionEvent {
    fileprivate var isAuthenticationFailure: Bool { if case .authenticationFailed = kind { true } else { false } }
}
