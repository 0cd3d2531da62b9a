// Tests the origin of requests end to end: pages of other sites change nothing.

import Testing
import Tweaks
import TweaksPanel
import TweaksTestSupport

@Suite(.blocking) struct OriginServingTests {
    private static let change = PanelClient.size(44)

    /// Method, target, host, headers, status.
    @Test(arguments: [
        ("PATCH", "/api/tweaks", "127.0.0.1:PORT", [], 200),
        ("PATCH", "/api/tweaks", "PAGE", ["Origin: http://PAGE"], 200),
        ("PATCH", "/api/tweaks", "PAGE", ["Sec-Fetch-Site: same-origin"], 200),
        ("PATCH", "/api/tweaks", "PAGE", ["Origin: http://127.0.0.1:PORT"], 403),
        ("PATCH", "/api/tweaks", "PAGE", ["Sec-Fetch-Site: same-site"], 403),
        ("PATCH", "/api/tweaks", "localhost:PORT", ["Origin: http://localhost:PORT"], 403),
        ("PATCH", "/api/tweaks", "[::1]:PORT", ["Sec-Fetch-Site: same-origin"], 403),
        // A page of an earlier start has a key; it sends no token.
        ("PATCH", "/api/tweaks", "EARLIER", ["Origin: http://EARLIER"], 421),
        ("PATCH", "/api/tweaks", "evil.example", [], 421),
        ("PATCH", "/api/tweaks", "127.0.0.1", [], 421),
        ("PATCH", "/api/tweaks", "localhost.evil.example:PORT", [], 421),
        ("PATCH", "/api/tweaks", "127.0.0.1:PORT", ["Origin: http://evil.example"], 403),
        ("PATCH", "/api/tweaks", "127.0.0.1:PORT", ["Origin: null"], 403),
        ("PATCH", "/api/tweaks", "127.0.0.1:PORT", ["Origin: http://127.0.0.1:1"], 403),
        ("PATCH", "/api/tweaks", "127.0.0.1:PORT", ["Origin: https://127.0.0.1:PORT"], 403),
        ("PATCH", "/api/tweaks", "127.0.0.1:PORT", ["Sec-Fetch-Site: cross-site"], 403),
        ("PATCH", "/api/tweaks", "127.0.0.1:PORT", ["Sec-Fetch-Site: same-site"], 403),
        ("PATCH", "/api/tweaks", "127.0.0.1:PORT", ["Sec-Fetch-Site: none"], 403),
        ("GET", "/api/tweaks", "evil.example:PORT", [], 421),
        ("GET", "/api/tweaks", "127.0.0.1:PORT", ["Sec-Fetch-Site: cross-site"], 403),
        ("GET", "/api/events", "127.0.0.1:PORT", ["Origin: http://evil.example"], 403),
        ("GET", "/api/events", "127.0.0.1:PORT", ["Sec-Fetch-Site: none"], 403),
        ("GET", "/", "rebound.evil.example:PORT", [], 421),
        ("GET", "/", "127.0.0.1:PORT", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], 403),
        (
            "GET", "/", "127.0.0.1:PORT",
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"], 200
        ),
        (
            "GET", "/", "127.0.0.1:PORT",
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"], 403
        ),
    ])
    func hostOriginAndSiteDecide(
        _ method: String, _ target: String, _ host: String, _ headers: [String], _ status: Int
    ) throws {
        let (server, panel) = try PanelServer.connected()
        let request = panel.request(method, target, method == "GET" ? nil : Self.change, headers)
            .replacing("Host: 127.0.0.1:\(panel.port)", with: "Host: \(host)")
            .replacing("PAGE", with: "\(PanelID.host(server.endpoint.id)):PORT")
            .replacing("EARLIER", with: "\(PanelID.host(PanelID.make())):PORT")
            .replacing("PORT", with: "\(panel.port)")
        try panel.client.send(request)
        let answer = try panel.read()
        #expect(answer.status == status, "\(answer.body)")
        #expect(server.registry.revision == (method == "PATCH" && status == 200 ? 1 : 0))
        // No site is permitted to read the response.
        #expect(answer.headers.allSatisfy { !$0.name.lowercased().hasPrefix("access-control") })
    }

    /// Types that a page of another site can post without a preflight, with credentials that it does not have.
    @Test(arguments: [
        ("text/plain", change), ("text/plain;charset=UTF-8", change),
        ("application/x-www-form-urlencoded", "changes=%5B%5D&path=Content/Text/Size&value=44"),
        (
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"changes\"\r\n\r\n44\r\n--x--\r\n"
        ),
        ("application/json, text/plain", change), ("application/jsonp", change), ("", change),
    ])
    func formsOfOtherSitesAreRefused(_ type: String, _ body: String) throws {
        let (server, panel) = try PanelServer.connected(as: nil)
        for (method, target) in [
            ("POST", "/api/reset"), ("PATCH", "/api/tweaks"), ("POST", "/api/actions/Player/Audio/Mute"),
            ("POST", "/login"), ("POST", "/logout"),
        ] {
            let text = panel.request(method, target, body, server.page("admin"))
                .replacing("Content-Type: application/json", with: type.isEmpty ? "X: y" : "Content-Type: \(type)")
            try panel.client.send(text)
            let answer = try panel.read()
            #expect(answer.status == 415 && answer["Set-Cookie"] == nil)
        }
        #expect(server.registry.revision == 0)
    }

    @Test func preflightsAreRefused() throws {
        let panel = try PanelServer().connect()
        let headers = ["Origin: http://evil.example", "Access-Control-Request-Method: PATCH"]
        let answer = try panel.ask("OPTIONS", "/api/tweaks", nil, headers)
        #expect(answer.status == 403 || answer.status == 405)
        #expect(answer.headers.allSatisfy { !$0.name.lowercased().hasPrefix("access-control") })
    }

    @Test func webSocketsAreRefused() throws {
        let panel = try PanelServer().connect()
        let key = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="
        let headers = ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13", key]
        let answer = try panel.ask("GET", "/api/events", nil, headers)
        #expect(answer.status == 400 && answer["Upgrade"] == nil && answer["Sec-WebSocket-Accept"] == nil)
        // The next bytes would not be HTTP.
        #expect(try panel.hasEnded())
    }
}
