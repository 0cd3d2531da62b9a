// Tests panel sessions as others see them: in lists, in events, and when they are ended.

import Foundation
import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct PanelSessionTests {
    private static let firefox = "User-Agent: Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0"

    @Test(arguments: [
        (firefox, " Firefox"),
        ("User-Agent: Mozilla/5.0 (X11) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/128.0 Safari/537.36", " Chrome"),
        ("User-Agent: Mozilla/5.0 AppleWebKit/605.1 (KHTML) Version/17.0 Safari/605.1", " Safari"),
        ("User-Agent: Mozilla/5.0 AppleWebKit/537.36 Chrome/128.0 Safari/537.36 Edg/128.0", " Edge"),
        ("User-Agent: curl/8.5.0", " curl/8.5.0"), ("X: y", ""),
        ("User-Agent: \(String(repeating: "x", count: 200))", " " + String(repeating: "x", count: 40)),
    ])
    func theListOfSessionsNamesTheBrowser(_ agent: String, _ name: String) throws {
        let (_, panel) = try PanelServer.connected()
        let list = try panel.ask("GET", "/api/sessions", nil, [agent]).items("sessions")
        let own = try #require(list.first)
        #expect(own["transport"] as? String == "http" && own["identity"] as? String == "token admin")
        let peer = try #require(own["peer"] as? String)
        #expect(peer.hasPrefix("127.0.0.1:") && peer.hasSuffix(name) && peer.split(separator: " ").count <= 2)
        // A second request with the header changes nothing.
        _ = try panel.ask("GET", "/api/whoami", nil, [agent])
        #expect(try panel.ask("GET", "/api/whoami").json["peer"] as? String == peer)
    }

    @Test func theOwnTokenHasAllRights() throws {
        let server = try PanelServer()
        let panel = try server.connect(nil)
        panel.token = server.server.panelToken
        #expect(try panel.set(size: 44).status == 200)
        #expect(try panel.ask("GET", "/api/whoami").json["identity"] as? String == "panel")
        #expect(try panel.ask("GET", "/api/history").items("history").first?["by"] as? String == "panel")
        let line = try server.connectByLine()
        #expect(try line.ask("sessions").contains { $0.contains("panel") && $0.contains("http") })
        // It stays valid when the tokens of the file change.
        try server.replace([], line)
        #expect(try panel.ask("GET", "/api/whoami").status == 200)
    }

    @Test func aKickedStreamIsClosed() throws {
        let (server, panel, line) = try PanelServer.connectedWithLine()
        let session = try #require(try panel.stream().hello.json["session"] as? Int)
        #expect(try line.ask("kick \(session)") == ["ok kicked \(session)"])
        let last = try #require(try panel.event())
        #expect(last.name == "closing" && last.data.contains("kicked by uid \(geteuid())"))
        #expect(try panel.event().map(\.name) == nil)
        #expect(server.events.all.contains { $0.session.state.reason == .kicked })
    }

    /// The page marks overrides; lines are about values.
    @Test func aChangeOfTheLayerAloneIsAnEvent() throws {
        let (_, panel, line) = try PanelServer.connectedWithLine()
        for request in ["Content/Text/Size = 60", "watch Content/Text/Size"] { try line.ask(request) }
        _ = try panel.stream()
        try line.ask("reset Content/Text/Size")
        let event = try #require(try panel.event()).json
        #expect(event["layer"] as? String == "default" && event["rev"] as? Int == 2)
        #expect(event["value"] as? Double == 60 && event["was"] as? Double == 60)
        try line.send("Content/Text/Size = 61\n")
        #expect(try line.lines(3).last?.hasPrefix("event 3 Content/Text/Size = 61") == true)
    }

    /// Runs an action with another request after it, and kicks the session.
    private func kickDuringAnAction(
        _ server: PanelServer
    ) throws -> (panel: PanelClient, line: TestClient, action: BlockedAction) {
        let action = BlockedAction("Player/Audio/Long", in: server.registry)
        let (panel, line) = (try server.connect(), try server.connectByLine())
        let session = try #require(try panel.ask("GET", "/api/whoami").json["session"] as? Int)
        try panel.send("POST", "/api/actions/Player/Audio/Long", "{}")
        try panel.send(size: 44)
        action.began.waitBlocking()
        #expect(try line.ask("kick \(session)") == ["ok kicked \(session)"])
        return (panel, line, action)
    }

    @Test func aKickedSessionGetsTheReplyOfItsActionAndNoMore() throws {
        let server = try PanelServer { $0.lingerTime = .seconds(3_600) }
        let (panel, _, action) = try kickDuringAnAction(server)
        action.released.open()
        let answer = try panel.read()
        #expect(answer.status == 200 && answer.json["output"] as? String == "done")
        let last = try panel.read()
        #expect(last.status == 503 && last.code == "closing" && last["Connection"] == "close")
        #expect(try panel.hasEnded())
        #expect(server.registry.revision == 0)
    }

    @Test func aKickedSessionEndsWithoutTheReplyOfAnEndlessAction() throws {
        let server = try PanelServer { $0.lingerTime = .seconds(3_600) }
        let (panel, line, action) = try kickDuringAnAction(server)
        server.pass(.seconds(3_600))
        let answer = try panel.read()
        #expect(answer.status == 503 && answer.code == "closing" && answer["Connection"] == "close")
        #expect(answer.body.contains("kicked by uid"))
        #expect(try panel.hasEnded())
        action.released.open()
        #expect(try line.ask("ping") == ["ok pong"])
        #expect(server.registry.revision == 0)
    }

    /// Method, the rest of the path, body.
    @Test(arguments: [
        ("GET", "", nil), ("PUT", "/other", "{}"), ("POST", "/look/load", "{}"), ("GET", "/look/diff", nil),
        ("POST", "/look/swap", "{}"), ("DELETE", "/look", nil),
    ])
    func aSlowDiskDelaysOnlyTheRequestsForPresets(_ method: String, _ address: String, _ body: String?) throws {
        let (reached, goOn) = (Gate(), Gate())
        let server = try PanelServer([], presets: ["look": ["Content/Text/Size = 72"]], gate: (reached, goOn))
        let (panel, other) = (try server.connect(), try server.connect())
        try panel.send(method, "/api/presets" + address, body)
        try panel.send("GET", "/api/whoami")
        reached.waitBlocking()
        for _ in 1...3 { #expect(try other.ask("GET", "/api/whoami").status == 200) }
        #expect(!panel.client.hasInput)
        goOn.open()
        let answer = try panel.read()
        #expect(answer.status == 200, "\(answer.body)")
        #expect(try panel.read().json["identity"] as? String == "token admin")
    }

    @Test func theProgramGetsEventsOfPanelSessions() throws {
        let (server, panel) = try PanelServer.connected(as: "nobody")
        #expect(try panel.ask("GET", "/api/whoami", nil, [Self.firefox]).status == 401)
        panel.token = PanelServer.token("admin")
        #expect(try panel.set(size: 5000).status == 422)
        let events = server.events.all.filter { $0.session.transport == .http }
        #expect(events.contains { if case .authenticationFailed = $0.kind { true } else { false } })
        #expect(events.contains { if case .authenticated("admin") = $0.kind { true } else { false } })
        let refused = try #require(events.first { if case .refused = $0.kind { true } else { false } })
        #expect(refused.session.peer.hasPrefix("127.0.0.1:") && refused.session.peer.hasSuffix(" Firefox"))
        #expect(refused.session.identity.description == "token admin")
    }
}
