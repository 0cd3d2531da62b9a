// Where a request comes from, end to end: other sites' pages change nothing here.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

@Suite(.blocking) struct OriginServingTests {
    private static let change = PanelClient.changes([("Content/Text/Size", "44")])

    private func request(
        _ panel: PanelClient, _ method: String, _ target: String, host: String, _ headers: [String]
    ) -> String {
        let body = method == "GET" ? nil : Self.change
        let text = panel.request(
            method, target, body, headers.map { $0.replacingOccurrences(of: "PORT", with: "\(panel.port)") })
        return text.replacingOccurrences(
            of: "Host: 127.0.0.1:\(panel.port)", with: host.replacingOccurrences(of: "PORT", with: "\(panel.port)"))
    }

    /// (method, target, host, headers, status)
    @Test(arguments: [
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1:PORT", [], 200),
        ("PATCH", "/api/tweaks", "Host: localhost:PORT", ["Origin: http://localhost:PORT"], 200),
        ("PATCH", "/api/tweaks", "Host: [::1]:PORT", ["Sec-Fetch-Site: same-origin"], 200),
        ("PATCH", "/api/tweaks", "Host: evil.example", [], 421),
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1", [], 421),
        ("PATCH", "/api/tweaks", "Host: localhost.evil.example:PORT", [], 421),
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1:PORT", ["Origin: http://evil.example"], 403),
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1:PORT", ["Origin: null"], 403),
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1:PORT", ["Origin: http://127.0.0.1:1"], 403),
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1:PORT", ["Origin: https://127.0.0.1:PORT"], 403),
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1:PORT", ["Sec-Fetch-Site: cross-site"], 403),
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1:PORT", ["Sec-Fetch-Site: same-site"], 403),
        ("PATCH", "/api/tweaks", "Host: 127.0.0.1:PORT", ["Sec-Fetch-Site: none"], 403),
        ("GET", "/api/tweaks", "Host: evil.example:PORT", [], 421),
        ("GET", "/api/tweaks", "Host: 127.0.0.1:PORT", ["Sec-Fetch-Site: cross-site"], 403),
        ("GET", "/api/events", "Host: 127.0.0.1:PORT", ["Origin: http://evil.example"], 403),
        ("GET", "/api/events", "Host: 127.0.0.1:PORT", ["Sec-Fetch-Site: none"], 403),
        ("GET", "/", "Host: rebound.evil.example:PORT", [], 421),
        ("GET", "/", "Host: 127.0.0.1:PORT", ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"], 403),
        (
            "GET", "/", "Host: 127.0.0.1:PORT",
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"], 200
        ),
        (
            "GET", "/", "Host: 127.0.0.1:PORT",
            ["Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe"], 403
        ),
    ])
    func rules(_ method: String, _ target: String, _ host: String, _ headers: [String], _ status: Int) throws {
        let server = try PanelServer()
        let panel = try server.connect()
        try panel.client.send(request(panel, method, target, host: host, headers))
        let answer = try panel.read()
        #expect(answer.status == status, "\(answer.body)")
        #expect(server.registry.revision == (method == "PATCH" && status == 200 ? 1 : 0))
        // No site is told that it may read what it has asked for.
        #expect(answer.headers.allSatisfy { !$0.name.lowercased().hasPrefix("access-control") })
    }

    /// What a page of another site can post without asking first, with what it would not even have.
    @Test(arguments: [
        ("text/plain", change), ("text/plain;charset=UTF-8", change),
        ("application/x-www-form-urlencoded", "changes=%5B%5D&path=Content/Text/Size&value=44"),
        (
            "multipart/form-data; boundary=x",
            "--x\r\nContent-Disposition: form-data; name=\"changes\"\r\n\r\n44\r\n--x--\r\n"
        ),
        ("application/json, text/plain", change), ("application/jsonp", change), ("", change),
    ])
    func formPosts(_ type: String, _ body: String) throws {
        let server = try PanelServer()
        let panel = try server.connect(nil)
        for (method, target) in [
            ("POST", "/api/reset"), ("PATCH", "/api/tweaks"), ("POST", "/api/actions/Player/Audio/Mute"),
            ("POST", "/login"), ("POST", "/logout"),
        ] {
            let text = panel.request(method, target, body, server.page("admin"))
                .replacingOccurrences(
                    of: "Content-Type: application/json", with: type.isEmpty ? "X: y" : "Content-Type: \(type)")
            try panel.client.send(text)
            let answer = try panel.read()
            #expect(answer.status == 415 && answer["Set-Cookie"] == nil)
        }
        #expect(server.registry.revision == 0)
    }

    /// What a browser asks before it sends JSON across sites is not granted.
    @Test func preflights() throws {
        let panel = try PanelServer().connect()
        let answer = try panel.ask(
            "OPTIONS", "/api/tweaks", nil,
            ["Origin: http://evil.example", "Access-Control-Request-Method: PATCH"])
        #expect(answer.status == 403 || answer.status == 405)
        #expect(answer.headers.allSatisfy { !$0.name.lowercased().hasPrefix("access-control") })
    }

    @Test func webSocketsAreRefused() throws {
        let server = try PanelServer()
        let panel = try server.connect()
        try panel.send(
            "GET", "/api/events", nil,
            [
                "Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
            ])
        let answer = try panel.read()
        #expect(answer.status == 400 && answer["Upgrade"] == nil && answer["Sec-WebSocket-Accept"] == nil)
        // What it would say next is no HTTP.
        #expect(try panel.hasEnded())
    }
}
