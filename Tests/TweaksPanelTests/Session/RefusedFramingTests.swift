// Tests requests with ambiguous framing: one response, the end of the connection, and no request after it.

import Testing
import Tweaks
import TweaksTestSupport

/// A refused request, and its status.
struct Refused: Sendable, CustomTestStringConvertible {
    /// `AUTH` stands for the header with the token, `HOST` for that of the server; `hidden` follows.
    let text: String
    let status: Int

    var testDescription: String { text.debugDescription }

    /// A change that must not be made.
    static let hidden = """
        PATCH /api/tweaks HTTP/1.1\r\nHOST\r\nAUTH\r\nContent-Type: application/json\r\nContent-Length: 54\r\n\r
        {"changes":[{"path":"Content/Text/Size","value":99 }]}
        """

    /// A change with these headers.
    private static func change(_ headers: String, _ status: Int = 400, body: String = "") -> Refused {
        let head = "PATCH /api/tweaks HTTP/1.1\r\nHOST\r\nAUTH\r\nContent-Type: application/json\r\n"
        return Refused(text: "\(head)\(headers)\r\n\r\n\(body)", status: status)
    }

    private static let chunked = "Transfer-Encoding: chunked"

    static let all = [
        change("Content-Length: 0\r\nContent-Length: 300"), change("Content-Length: 0, 300"),
        change("Content-Length: +0"), change("Content-Length: -1"), change("Content-Length: 0x10"),
        change("X: y", 411), change(chunked, 411, body: "0\r\n\r\n"),
        change("Content-Length: 0\r\n\(chunked)", body: "0\r\n\r\n"),
        change("Content-Length : 0"), change("Content-Length: 0\r\n 300"),
        change("X: y\nContent-Length: 300"), change("X: y\rContent-Length: 300"),
        change("X: \0\r\nContent-Length: 0"), change("Content-Length: 99999999", 413),
        change("Content-Length: 300\r\nExpect: the-unexpected", 417),
        Refused(text: "GET / HTTP/1.1\nHOST\n\n", status: 400),
        Refused(text: "BREW / HTTP/1.1\r\nHOST\r\n\r\n", status: 405),
        Refused(text: "CONNECT example.org:443 HTTP/1.1\r\nHOST\r\n\r\n", status: 405),
        Refused(text: "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", status: 505),
        Refused(text: "GET / HTTP/1.2\r\nHOST\r\n\r\n", status: 505),
        Refused(text: "GET /../etc/passwd HTTP/1.1\r\nHOST\r\n\r\n", status: 400),
        Refused(
            text: "GET / HTTP/1.1\r\nHOST\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n", status: 400),
    ]
}

@Suite(.blocking) struct RefusedFramingTests {
    private func bytes(_ text: String, _ panel: PanelClient) -> [UInt8] {
        let filled = text.replacing("HOST", with: "Host: 127.0.0.1:\(panel.port)")
            .replacing("AUTH", with: "Authorization: Bearer \(PanelServer.token("admin"))")
        return Array(filled.utf8)
    }

    /// Otherwise the other tests would show nothing.
    @Test func theHiddenRequestIsValid() throws {
        let (server, panel) = try PanelServer.connected()
        try panel.client.send(bytes(Refused.hidden, panel))
        #expect(try panel.read().revision == 1)
        #expect(server.number("Content/Text/Size") == 99)
    }

    @Test(arguments: Refused.all) func nothingAfterARefusedRequestIsCarriedOut(_ refused: Refused) throws {
        for isWhole in [true, false] {
            let (server, panel) = try PanelServer.connected()
            let all = bytes(refused.text + Refused.hidden, panel)
            // Sent byte by byte, it may be refused before its end.
            if isWhole { try panel.client.send(all) } else { try? panel.client.sendBytewise(all) }
            let answer = try panel.read()
            #expect(answer.status == refused.status && answer["Connection"] == "close", "\(answer)")
            #expect(answer.code != nil && answer.message?.isEmpty == false)
            #expect(try panel.hasEnded())
            #expect(server.registry.revision == 0)
            #expect(try server.connect().ask("GET", "/api/tweaks").status == 200)
        }
    }

    /// A request that is refused for another reason is read to its end.
    @Test(arguments: [
        ("Content-Type: text/plain", 415), ("Content-Type: application/json\r\nOrigin: http://evil.example", 403),
        ("Content-Type: application/json", 400),
    ])
    func aRequestInARefusedBodyIsNotCarriedOut(_ headers: String, _ status: Int) throws {
        let (server, panel) = try PanelServer.connected()
        let body = bytes(Refused.hidden, panel)
        let head = "PATCH /api/tweaks HTTP/1.1\r\nHOST\r\nAUTH\r\n\(headers)\r\nContent-Length: \(body.count)\r\n\r\n"
        try panel.client.send(bytes(head, panel) + body)
        #expect(try panel.read().status == status)
        #expect(try panel.ask("GET", "/api/tweaks").revision == 0)
        #expect(server.registry.revision == 0)
    }

    @Test func longHeadsAreRefused() throws {
        let server = try PanelServer()
        let long = String(repeating: "x", count: 9_000)
        let cases = [
            ("GET /\(long) HTTP/1.1\r\n", 414), ("GET / HTTP/1.1\r\nHOST\r\nX: \(long)\r\n\r\n", 431),
            ("GET / HTTP/1.1\r\nHOST\r\n" + String(repeating: "X: y\r\n", count: 200) + "\r\n", 431),
        ]
        for (text, status) in cases {
            let panel = try server.connect()
            try panel.client.send(bytes(text, panel))
            #expect(try panel.read().status == status)
            #expect(try panel.hasEnded())
        }
    }

    /// Without a token only short bodies are accepted.
    @Test func longBodiesNeedAToken() throws {
        let server = try PanelServer()
        let text = "{\"token\":\"\(String(repeating: "x", count: 10_000))\"}"
        for name in [nil, "admin"] {
            let panel = try server.connect(name)
            #expect(try panel.ask("POST", "/login", text).status == (name == nil ? 413 : 400))
        }
        let lines = String(repeating: "# nothing but words\\n", count: 20_000)
        let body = "{\"text\":\"\(lines)Content/Text/Size = 44\"}"
        #expect(try server.connect().ask("POST", "/api/import", body).revision == 1)
        // The token is checked once.
        let panel = try server.connect()
        let request = panel.request("POST", "/api/import", body, ["Expect: 100-continue"])
        try panel.client.send(String(request.dropLast(body.count)))
        #expect(try panel.read().status == 100)
        try panel.client.send(body + panel.request("GET", "/api/whoami"))
        #expect(try panel.read().status == 200)
        #expect(try panel.read().items("tokens").count == 1)
    }

    /// An invalid token, or another origin.
    @Test func longBodiesAreRefusedBeforeTheyAreSent() throws {
        let server = try PanelServer()
        for (token, origin, status) in [("nobody", nil, 401), ("admin", "http://evil.example", 403)] {
            let panel = try server.connect()
            panel.token = PanelServer.token(token)
            let headers = ["Content-Type: application/json", "Content-Length: 1000000"]
            try panel.send("POST", "/api/import", nil, headers + (origin.map { ["Origin: \($0)"] } ?? []))
            #expect(try panel.read().status == status)
            #expect(try panel.hasEnded())
        }
        #expect(server.registry.revision == 0)
    }
}
