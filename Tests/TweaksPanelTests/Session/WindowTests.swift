// Windows of browsers: several connections that are one session to people; and the names that people give there.

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
            #expect(try panel.patch([("Content/Text/Size", "\(value)")], "", Self.ada).status == 200)
        }
        let entries = try sessions(first, Self.ada)
        #expect(entries.count == 1)
        #expect(entries.first?["identity"] as? String == "token admin (Ada)")
        #expect(entries.first?["person"] as? String == "Ada")
        #expect(entries.first?["commits"] as? Int == 2 && entries.first?["watches"] as? Int == 1)
        #expect(entries.first?["own"] as? Bool == true)
        // One goes: the window is still the same session, with all that it has done.
        let number = try #require(entries.first?["session"] as? Int)
        second.client.endInput()
        #expect(try second.hasEnded())
        #expect(try sessions(first, Self.ada).first?["commits"] as? Int == 2)
        #expect(try first.ask("GET", "/api/whoami", nil, Self.ada).json["session"] as? Int == number)
        // Of all of this one session was told to have opened, and none to have ended.
        let told = server.events.all.filter { $0.session.transport == .http }.compactMap { event -> String? in
            guard case .state = event.kind else { return nil }
            switch event.session.state {
            case .open: return "open \(event.session.id)"
            case .closed: return "closed \(event.session.id)"
            default: return nil
            }
        }
        #expect(told == ["open \(number)"])
    }

    /// The stream has begun before the name was given, and is there for longer than any other connection.
    @Test func aNameIsThatOfTheWholeWindow() throws {
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

    /// A connection that has only signed in is one of its window, not another session.
    @Test func signingInIsDoneInAWindow() throws {
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
        // Without one, each connection is a session.
        second.token = PanelServer.token("admin")
        #expect(try sessions(second, []).count == 2)
    }

    /// Who ends the session of a window ends all its connections.
    @Test func kickingAWindow() throws {
        let server = try PanelServer()
        let (stream, first, line) = (try server.connect(), try server.connect(), try server.connectByLine())
        _ = try stream.stream("", Self.window)
        let number = try #require(try sessions(first).first { $0["own"] as? Bool == true }?["session"] as? Int)
        #expect(try line.ask("kick \(number)") == ["ok kicked \(number)"])
        #expect(try stream.event()?.name == "closing")
        #expect(try first.hasEnded())
        #expect(try line.ask("sessions").count == 2)
    }

    @Test func namesAreShownAndOwned() throws {
        let server = try PanelServer()
        let (panel, line) = (try server.connect(), try server.connectByLine())
        try line.ask("watch Content")
        // Encoded as in an address.
        _ = try panel.patch([("Content/Text/Size", "72")], "", ["Tweaks-Name: Zo%C3%AB"])
        #expect(try line.line().hasSuffix(" by token admin (Zoë)"))
        // The next request of the same connection is somebody else's.
        _ = try panel.patch([("Content/Text/Size", "80")])
        #expect(try line.line().hasSuffix(" by token admin"))
        let history = try panel.ask("GET", "/api/history").items("history").compactMap { $0["by"] as? String }
        #expect(history == ["token admin", "token admin (Zoë)"])
        let other = try panel.ask("POST", "/api/undo", #"{"mine":true}"#, ["Tweaks-Name: Bob"])
        #expect(other.status == 409 && other.message?.contains("of token admin (Bob)'s own") == true)
        let late = try panel.ask("POST", "/api/undo", #"{"mine":true}"#, ["Tweaks-Name: Zo%C3%AB"])
        #expect(late.status == 409 && late.message?.contains("by token admin;") == true)
        let undone = try panel.ask("POST", "/api/undo", "{}", ["Tweaks-Name: Bob"])
        #expect(undone.json["by"] as? String == "token admin" && undone.json["undid"] as? Int == 2)
        let change = try #require(undone.items("changes").first)
        #expect(change["was"] as? Double == 72 && change["value"] as? Double == 80)
    }

    @Test(arguments: [
        "Tweaks-Name: a(b", "Tweaks-Name: %zz", "Tweaks-Name: %FF", "Tweaks-Name: a%0Ab", "Tweaks-Name: a%E2%80%AEb",
        "Tweaks-Name: \(String(repeating: "x", count: 41))", "Tweaks-Window: short", "Tweaks-Window: a b c d e f g",
        "Tweaks-Window: \(String(repeating: "x", count: 65))",
    ]) func whatIsNone(_ header: String) throws {
        let panel = try PanelServer().connect()
        let answer = try panel.patch([("Content/Text/Size", "72")], "", [header])
        #expect(answer.status == 400, "\(answer.body)")
        #expect(try panel.ask("GET", "/api/whoami").json["identity"] as? String == "token admin")
    }
}
