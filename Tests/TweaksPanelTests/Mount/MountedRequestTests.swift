// Tests requests of a router: routes, callers, origins, and what no client may send.

import Foundation
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import TweaksPanel

@Suite(.blocking) struct MountedRequestTests {
    // MARK: Routes

    @Test(arguments: [
        ("GET", "/tweaks/", nil, 200, "text/html; charset=utf-8"),
        ("GET", "/tweaks/api/tweaks?pattern=Content", nil, 200, "application/json"),
        ("GET", "/tweaks/api/tweaks/Content/Text/Font%20Name", nil, 200, "application/json"),
        ("GET", "/tweaks/api/export", nil, 200, "text/plain; charset=utf-8"),
        ("PATCH", "/tweaks/api/tweaks", PanelClient.size(72), 200, "application/json"),
        ("POST", "/tweaks/api/actions/Player/Audio/Mute", "{}", 200, "application/json"),
        ("GET", "/tweaks/api/openapi.json", nil, 200, "application/json"),
        ("GET", "/tweaks/api/tweak", nil, 404, "application/json"),
        ("DELETE", "/tweaks/api/tweaks", nil, 405, "application/json"),
        ("BREW", "/tweaks/api/tweaks", nil, 405, "application/json"),
        ("GET", "/tweaks/panel/0/main.js", nil, 404, "application/json"),
        ("POST", "/tweaks/login", "{}", 404, "application/json"),
        ("POST", "/tweaks/logout", "{}", 404, "application/json"),
        ("GET", "/", nil, 404, "application/json"),
        ("GET", "/tweakses/", nil, 404, "application/json"),
        ("GET", "/Tweaks/", nil, 404, "application/json"),
        ("GET", "/tweaks/api/tweaks?patern=Content", nil, 400, "application/json"),
    ])
    func requestsAreAnswered(
        _ method: String, _ target: String, _ body: String?, _ status: Int, _ type: String
    ) async throws {
        let answer = try await MountedPanel().ask(method, target, body)
        #expect(answer.status == status, "\(answer.body)")
        #expect(answer["Content-Type"] == type)
        #expect(answer["Content-Security-Policy"]?.contains("script-src 'self'") == true)
        #expect(answer["X-Content-Type-Options"] == "nosniff" && answer["Cache-Control"] == "no-store")
        #expect(answer["Connection"] == nil && answer["Transfer-Encoding"] == nil)
        #expect(answer["Content-Length"] == "\(answer.body.utf8.count)")
    }

    @Test(arguments: [
        ("/tweaks", "/tweaks", "tweaks/"), ("/tweaks", "/tweaks?a=//b", "tweaks/?a=//b"), ("/a/b/", "/a/b", "b/"),
    ])
    func thePathWithoutItsSlashLeadsToThePage(_ path: String, _ target: String, _ location: String) async throws {
        let answer = try await MountedPanel(below: path).ask("GET", target)
        #expect(answer.status == 308 && answer["Location"] == location && answer.body.isEmpty)
    }

    @Test(arguments: [("/", "/api/whoami"), ("", "/api/whoami"), ("/a/b", "/a/b/api/whoami")])
    func anyPathIsPossible(_ path: String, _ target: String) async throws {
        #expect(try await MountedPanel(below: path).ask("GET", target).status == 200)
    }

    @Test func aHeadHasNoBody() async throws {
        let panel = try MountedPanel()
        let whole = try await panel.ask("GET", "/tweaks/")
        let head = try await panel.ask("HEAD", "/tweaks/")
        #expect(head.status == 200 && head.body.isEmpty && head["Content-Length"] == whole["Content-Length"])
        #expect(try await panel.ask("HEAD", "/tweaks/api/events").body.isEmpty)
        #expect(try await panel.ask("HEAD", "/elsewhere").body.isEmpty)
        let refused = try await MountedPanel { $0.sessionsPerPeer = 0 }.ask("HEAD", "/tweaks/")
        #expect(refused.status == 429 && refused.body.isEmpty && refused["Content-Length"] != "0")
    }

    @Test func aResponseWithoutABodyIsWhole() async throws {
        let panel = try MountedPanel()
        let flags = "/tweaks/ofrep/v1/evaluate/flags"
        let tag = try #require(try await panel.ask("POST", flags, "{}")["ETag"])
        let known = try await panel.ask("POST", flags, "{}", ["If-None-Match: \(tag)"])
        #expect(known.status == 304 && known.body.isEmpty)
    }

    @Test func thePageIsRelativeAndSaysThatTheSiteSignsIn() async throws {
        let panel = try MountedPanel()
        let page = try await panel.ask("GET", "/tweaks/").body
        #expect(page.contains("<html data-mounted lang=\"en\""))
        #expect(!String(decoding: PanelPage.plain.markup.body, as: UTF8.self).contains("data-mounted "))
        let addresses = page.matches(of: /(?:href|src)="([^"#]+)"/).map { String($0.1) }
        #expect(addresses.count > 50 && addresses.allSatisfy { $0.hasPrefix("panel/") })
        for address in Set(addresses) {
            let file = try await panel.ask("GET", "/tweaks/\(address)")
            #expect(file.status == 200 && file["Cache-Control"] == "public, max-age=31536000, immutable", "\(address)")
        }
    }

    // MARK: Callers

    @Test func aCallerIsNamedEverywhere() async throws {
        let panel = try MountedPanel()
        var changes = panel.registry.changes.makeAsyncIterator()
        let set = try await panel.ask(
            "PATCH", "/tweaks/api/tweaks", PanelClient.size(72), ["Tweaks-Name: Ada", "User-Agent: x Firefox/1"])
        #expect(set.status == 200)
        let origin = try #require(await changes.next()?.origin)
        #expect(origin.identity == "caller ada" && origin.name == "Ada")
        #expect(origin.connection?.transport == "http" && origin.connection?.peer == "router Firefox")
        let who = try await panel.ask("GET", "/tweaks/api/whoami").json
        #expect(who["identity"] as? String == "caller ada" && who["transport"] as? String == "http")
        #expect(who["scopes"] as? [String] == ["admin"] && who["state"] as? String == "open")
        let history = try await panel.ask("GET", "/tweaks/api/history").items("history")
        #expect(history.map { $0["by"] as? String } == ["caller ada (Ada)"])
        let sessions = try await panel.ask("GET", "/tweaks/api/sessions").items("sessions")
        #expect(sessions.map { $0["identity"] as? String } == ["caller ada"])
        #expect(sessions.first?["own"] as? Bool == true)
    }

    @Test(arguments: [
        ([TweakScope.read], "GET", "/tweaks/api/tweaks", nil, 200),
        ([.read], "PATCH", "/tweaks/api/tweaks", PanelClient.size(72), 403),
        (["write:Content"], "PATCH", "/tweaks/api/tweaks", PanelClient.size(72), 200),
        (["write:Player"], "PATCH", "/tweaks/api/tweaks", PanelClient.size(72), 404),
        (["read:Player"], "GET", "/tweaks/api/tweaks/Content/Text/Size", nil, 404),
        ([.read], "GET", "/tweaks/api/sessions", nil, 403), ([], "GET", "/tweaks/api/tweaks", nil, 403),
        ([], "GET", "/tweaks/api/events", nil, 403), ([], "GET", "/tweaks/api/whoami", nil, 200),
    ])
    func scopesAreTheRights(
        _ scopes: [TweakScope], _ method: String, _ target: String, _ body: String?, _ status: Int
    ) async throws {
        let panel = try MountedPanel()
        let answer = try await panel.ask(method, target, body, as: TweakPanelCaller(name: "bob", scopes: scopes))
        #expect(answer.status == status, "\(answer.body)")
        #expect((panel.registry.revision > 0) == (body != nil && status == 200))
    }

    @Test(arguments: ["", "a\nb", "a\u{0}", "a\u{202E}b", String(repeating: "a", count: 257)])
    func aNameThatCannotBeShownIsTheProgramsMistake(_ name: String) async throws {
        let panel = try MountedPanel()
        let caller = TweakPanelCaller(name: name, scopes: [.admin])
        let answer = try await panel.ask("GET", "/tweaks/api/whoami", as: caller)
        #expect(answer.status == 500 && answer.message?.hasPrefix("the caller's name") == true)
        #expect(panel.events.all.isEmpty)
    }

    /// Its own words could be those of a token, or of the program.
    @Test func aCallerIsNoOneElse() async throws {
        let panel = try MountedPanel()
        let caller = TweakPanelCaller(name: "token ops", scopes: [.admin])
        let who = try await panel.ask("GET", "/tweaks/api/whoami", as: caller).json
        #expect(who["identity"] as? String == "caller token ops")
    }

    @Test func aDragOverManyRequestsIsOneEntry() async throws {
        let panel = try MountedPanel()
        for value in 20..<24 {
            let body = PanelClient.size(value, value < 23 ? #","settled":false"# : "")
            #expect(try await panel.ask("PATCH", "/tweaks/api/tweaks", body, ["Tweaks-Drag: d1"]).status == 200)
        }
        // The same drag of another caller is another one.
        let bob = TweakPanelCaller(name: "bob", scopes: [.admin])
        _ = try await panel.ask("PATCH", "/tweaks/api/tweaks", PanelClient.size(30), ["Tweaks-Drag: d1"], as: bob)
        let history = try await panel.ask("GET", "/tweaks/api/history").items("history")
        #expect(history.map { $0["by"] as? String } == ["caller bob", "caller ada"])
    }

    // MARK: Origins

    @Test(arguments: [
        ([], 200), (["Origin: https://ops.example.org"], 200), (["Origin: HTTPS://OPS.example.org"], 200),
        (["Sec-Fetch-Site: same-origin"], 200), (["Sec-Fetch-Site: none"], 403),
        (["Origin: https://evil.test"], 403), (["Origin: http://ops.example.org"], 403), (["Origin: null"], 403),
        (["Origin: https://ops.example.org:444"], 403), (["Origin: https://ops.example.org.evil.test"], 403),
        (["Origin: https://ops.example.org", "Origin: https://evil.test"], 403),
        (["Sec-Fetch-Site: cross-site"], 403), (["Sec-Fetch-Site: same-site"], 403),
        (["Origin: https://ops.example.org", "Sec-Fetch-Site: cross-site"], 403),
    ])
    func onlyPagesOfTheSiteChangeAnything(_ headers: [String], _ status: Int) async throws {
        let panel = try MountedPanel(origins: ["https://OPS.example.org:443/"])
        let answer = try await panel.ask("PATCH", "/tweaks/api/tweaks", PanelClient.size(72), headers)
        #expect(answer.status == status && (panel.registry.revision > 0) == (status == 200), "\(answer.body)")
        if status == 403 { #expect(answer.code == "denied") }
    }

    @Test(arguments: [
        ("/tweaks/", "navigate", "document", 200), ("/tweaks/", "no-cors", "iframe", 403),
        ("/tweaks/api/export", "navigate", "document", 403),
    ])
    func aLinkOfAnotherSiteOpensThePageAlone(
        _ target: String, _ mode: String, _ destination: String, _ status: Int
    ) async throws {
        let headers = ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: \(mode)", "Sec-Fetch-Dest: \(destination)"]
        #expect(try await MountedPanel().ask("GET", target, nil, headers).status == status)
    }

    @Test func aBodyHasToBeMarkedAsJSON() async throws {
        let panel = try MountedPanel()
        for type in ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data"] {
            let request = TweakPanelRequest(
                method: "PATCH", target: "/tweaks/api/tweaks", headers: [("content-type", type)],
                body: Array(PanelClient.size(72).utf8))
            #expect(await panel.handler.respond(to: request, as: MountedPanel.ada).status == 415)
        }
        #expect(panel.registry.revision == 0)
    }

    @Test(arguments: [
        ("/tweaks", ["ops.example.org"]), ("/tweaks", ["https://"]), ("/tweaks", ["https://a.b/path"]),
        ("/tweaks", ["*"]), ("/tweaks", ["https://ok.test", "ftp://a.b"]), ("tweaks", []), ("/a//b", []),
        ("/a/../b", []), ("/a%2Fb", []),
        ("/a?b", []), ("/ä", []),
    ])
    func wrongArgumentsAreNamedInEveryAnswer(_ path: String, _ origins: [String]) async throws {
        let answer = try await MountedPanel(below: path, origins: origins).ask("GET", "/tweaks/")
        #expect(answer.status == 500 && answer.code == "internal")
        #expect(answer.message?.contains(origins.last ?? path) == true, "\(answer.body)")
    }

    // MARK: What no client may send

    @Test(arguments: [
        ("/tweaks/../etc", 400), ("/tweaks/./api", 400), ("/tweaks/%2E%2E/api", 400), ("/tweaks//api/tweaks", 400),
        ("/tweaks/api/tweaks#x", 400), ("/tweaks/api/tweaks HTTP/1.1\r\nX: y", 400), ("/tweaks/api\u{0}", 400),
        ("/tweaks/api/%00", 400), ("/tweaks/api/%0d%0a", 400), ("/tweaks/api/%FF", 400), ("/tweaks/api/%zz", 400),
        ("/tweaks/ä", 400), ("http://127.0.0.1/tweaks/", 404), ("*", 404), ("", 404), ("/tweaks/api%2Ftweaks", 404),
        ("/tweaks/api/tweaks/Content%2FText/a/Size", 400), ("/tw%65aks/", 404), ("/tweaks%2F", 404),
        ("/tweaks/" + String(repeating: "a", count: 8_192), 414),
        ("/tweaks/?" + String(repeating: "a", count: 8_192), 414),
    ])
    func hostileTargetsAreRefused(_ target: String, _ status: Int) async throws {
        let answer = try await MountedPanel().ask("GET", target)
        #expect(answer.status == status && answer.json["ok"] as? Bool == false, "\(answer.body)")
        #expect(answer.headers.allSatisfy { $0.name.lowercased() != "x" })
    }

    @Test(arguments: [
        ("a b", "c", 400), ("", "c", 400), ("a:b", "c", 400), ("X-A", "b\r\nSet-Cookie: c", 400), ("X-A", "\u{0}", 400),
        ("User-Agent", "a\nb", 400), ("X-A", "a\tb", 200), ("X-A", "ä", 200), ("X-A", "", 200),
        ("X-A", String(repeating: "a", count: 16_384), 431), ("Content-Length", "5", 200),
        ("Content-Length", "-1", 200), ("Transfer-Encoding", "chunked", 200), ("Upgrade", "h2c", 200),
        ("Host", "evil.test", 200), ("Expect", "100-continue", 200), ("Authorization", "Bearer nothing", 200),
        ("Cookie", "tweaks-0=a", 200), ("Tweaks-Key", "1.a", 200), ("Tweaks-Window", "short", 400),
        ("Last-Event-ID", "1-99999999999999999999", 200),
    ])
    func headersAreCheckedOrTheRouters(_ name: String, _ value: String, _ status: Int) async throws {
        let request = TweakPanelRequest(
            method: "GET", target: "/tweaks/api/whoami", headers: [(name, value)], body: [])
        let panel = try MountedPanel()
        #expect(await panel.handler.respond(to: request, as: MountedPanel.ada).status == status)
    }

    @Test func aRequestIsLimited() async throws {
        let panel = try MountedPanel()
        let many = (0...100).map { (name: "X-\($0)", value: "a") }
        let headers = TweakPanelRequest(method: "GET", target: "/tweaks/api/whoami", headers: many)
        #expect(await panel.handler.respond(to: headers, as: MountedPanel.ada).status == 431)
        let body = String(repeating: " ", count: 1 << 20)
        #expect(try await panel.ask("PATCH", "/tweaks/api/tweaks", body + "{}").status == 413)
        let most = String(body.dropLast(64)) + PanelClient.size(72)
        #expect(try await panel.ask("PATCH", "/tweaks/api/tweaks", most).status == 200)
        for method in ["", "GET /", "GET\r\n"] {
            #expect(try await panel.ask(method, "/tweaks/api/whoami").status == 400)
        }
    }
}
