// Tests windows of browsers: several connections that are one session, and the names of users there.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct WindowTests {
    private static let window = ["Tweaks-Window: abcdefgh12345678"]
    private static let ada = window + ["Tweaks-Name: Ada"]

    private func sessions(_ panel: PanelClient, _ headers: [String] = window) throws -> [[String: Any]] {
        try panel.ask("GET", "/api/sessions", nil, headers).items("sessions")
    }

    @Test func aWindowIsOneSession() throws {
        let server = try PanelServer()
        let (stream, first, second) = (try server.connect(), try server.connect(), try server.connect())
        _ = try stream.stream("", Self.ada)
        for (panel, value) in [(first, 70), (second, 71)] {
            #expect(try panel.set(size: value, "", Self.ada).status == 200)
        }
        let entries = try sessions(first, Self.ada)
        #expect(entries.count == 1)
        #expect(entries.first?["identity"] as? String == "token admin (Ada)")
        #expect(entries.first?["person"] as? String == "Ada")
        #expect(entries.first?["commits"] as? Int == 2 && entries.first?["watches"] as? Int == 1)
        #expect(entries.first?["own"] as? Bool == true)
        // A connection ends: the window is still the same session, with the same counts.
        let number = try #require(entries.first?["session"] as? Int)
        second.client.endInput()
        #expect(try second.hasEnded())
        #expect(try sessions(first, Self.ada).first?["commits"] as? Int == 2)
        #expect(try first.ask("GET", "/api/whoami", nil, Self.ada).json["session"] as? Int == number)
        // The events have one opened session, and no closed one.
        let states = server.events.all.filter { $0.session.transport == .http }.compactMap { event -> String? in
            guard case .state = event.kind else { return nil }
            switch event.session.state {
            case .open: return "open \(event.session.id)"
            case .closed: return "closed \(event.session.id)"
            default: return nil
            }
        }
        #expect(states == ["open \(number)"])
    }

    /// The stream began before the name was given.
    @Test func aNameAppliesToTheWholeWindow() throws {
        let server = try PanelServer()
        let (stream, panel, line) = (try server.connect(), try server.connect(), try server.connectByLine())
        _ = try stream.stream("", Self.window)
        for (headers, identity) in [(Self.ada, "token admin (Ada)"), (Self.window, "token admin")] {
            let entry = try #require(try sessions(panel, headers).first { $0["own"] as? Bool == true })
            #expect(entry["identity"] as? String == identity)
            #expect(entry["person"] as? String == (headers == Self.ada ? "Ada" : nil))
            #expect(try line.ask("sessions").contains { $0.contains(" \(identity), ") })
        }
    }

    @Test func aSignInBelongsToItsWindow() throws {
        let server = try PanelServer()
        let (first, second) = (try server.connect(nil), try server.connect())
        #expect(try first.signIn("admin", Self.ada).answer.status == 200)
        #expect(try sessions(second, Self.ada).count == 1)
    }

    @Test func anotherWindowIsAnotherSession() throws {
        let server = try PanelServer(.named("ops", .admin))
        let (first, second) = (try server.connect(), try server.connect())
        _ = try first.ask("GET", "/api/whoami", nil, Self.window)
        #expect(try sessions(second, ["Tweaks-Window: another-window"]).count == 2)
        // The same name with another token is another window, too.
        second.token = PanelServer.token("ops")
        let entries = try sessions(second)
        #expect(entries.compactMap { $0["identity"] as? String } == ["token admin", "token ops"])
        // Without a window, each connection is a session.
        second.token = PanelServer.token("admin")
        #expect(try sessions(second, []).count == 2)
    }

    @Test func kickingAWindowEndsItsConnections() throws {
        let server = try PanelServer()
        let (stream, first, line) = (try server.connect(), try server.connect(), try server.connectByLine())
        _ = try stream.stream("", Self.window)
        let number = try #require(try sessions(first).first { $0["own"] as? Bool == true }?["session"] as? Int)
        #expect(try line.ask("kick \(number)") == ["ok kicked \(number)"])
        #expect(try stream.event()?.name == "closing")
        #expect(try first.hasEnded())
        #expect(try line.ask("sessions").count == 2)
    }

    @Test func namesAreShownAndOwnTheirChanges() throws {
        let (server, panel, line) = try PanelServer.connectedWithLine()
        try line.ask("watch Content")
        // Percent-encoded.
        _ = try panel.set(size: 72, "", ["Tweaks-Name: Zo%C3%AB"])
        #expect(try line.line().hasSuffix(" by token admin (Zoë)"))
        _ = try server.connect().set(size: 80)
        #expect(try line.line().hasSuffix(" by token admin"))
        let history = try panel.ask("GET", "/api/history").items("history").compactMap { $0["by"] as? String }
        #expect(history == ["token admin", "token admin (Zoë)"])
        let other = try panel.ask("POST", "/api/undo", #"{"mine":true}"#, ["Tweaks-Name: Bob"])
        #expect(other.status == 409 && other.message?.contains("by token admin (Bob)") == true)
        let late = try panel.ask("POST", "/api/undo", #"{"mine":true}"#, ["Tweaks-Name: Zo%C3%AB"])
        #expect(late.status == 409 && late.message?.contains("by token admin;") == true)
        let undone = try panel.ask("POST", "/api/undo", "{}", ["Tweaks-Name: Bob"])
        #expect(undone.json["by"] as? String == "token admin" && undone.json["undid"] as? Int == 2)
        let change = try #require(undone.items("changes").first)
        #expect(change["was"] as? Double == 72 && change["value"] as? Double == 80)
        #expect(try line.line().hasSuffix(" by token admin (Bob)"))
        // The next request of the same connection has no name.
        _ = try panel.set(size: 81)
        #expect(try line.line().hasSuffix(" by token admin"))
    }

    @Test(arguments: [
        "Tweaks-Name: a(b", "Tweaks-Name: %zz", "Tweaks-Name: %FF", "Tweaks-Name: a%0Ab", "Tweaks-Name: a%E2%80%AEb",
        "Tweaks-Name: \(String(repeating: "x", count: 41))", "Tweaks-Window: short", "Tweaks-Window: a b c d e f g",
        "Tweaks-Window: \(String(repeating: "x", count: 65))",
    ]) func invalidNamesAndWindowsAreRefused(_ header: String) throws {
        let panel = try PanelServer().connect()
        let answer = try panel.set(size: 72, "", [header])
        #expect(answer.status == 400, "\(answer.body)")
        #expect(try panel.ask("GET", "/api/whoami").json["identity"] as? String == "token admin")
    }
}
