// Requests whose framing is in doubt: one answer, the end of the connection, and nothing of what stands behind is done.

import Foundation
import Testing
import Tweaks
import TweaksTestSupport

/// Bytes that are refused, and with which status.
struct Refused: Sendable, CustomTestStringConvertible {
    let name: String
    let status: Int
    /// In which `AUTH` becomes the token's header and `HOST` the server's; behind it stands `hidden`.
    let text: String

    init(_ name: String, _ status: Int, _ text: String) { (self.name, self.status, self.text) = (name, status, text) }

    var testDescription: String { name }

    /// A change that must not be made.
    static let hidden = """
        PATCH /api/tweaks HTTP/1.1\r\nHOST\r\nAUTH\r\nContent-Type: application/json\r\nContent-Length: 54\r\n\r
        {"changes":[{"path":"Content/Text/Size","value":99 }]}
        """

    private static let head = "PATCH /api/tweaks HTTP/1.1\r\nHOST\r\nAUTH\r\nContent-Type: application/json\r\n"

    static let all = [
        Refused("two lengths", 400, head + "Content-Length: 0\r\nContent-Length: 300\r\n\r\n"),
        Refused("two lengths in one", 400, head + "Content-Length: 0, 300\r\n\r\n"),
        Refused("a signed length", 400, head + "Content-Length: +0\r\n\r\n"),
        Refused("a negative length", 400, head + "Content-Length: -1\r\n\r\n"),
        Refused("a hexadecimal length", 400, head + "Content-Length: 0x10\r\n\r\n"),
        Refused("no length", 411, head + "\r\n"),
        Refused("chunked", 411, head + "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Refused("chunked and a length", 400, head + "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        Refused("a blank before the colon", 400, head + "Content-Length : 0\r\n\r\n"),
        Refused("a folded header", 400, head + "Content-Length: 0\r\n 300\r\n\r\n"),
        Refused("bare LF", 400, "GET / HTTP/1.1\nHOST\n\n"),
        Refused("bare LF behind a header", 400, head + "X: y\nContent-Length: 300\r\n\r\n"),
        Refused("bare CR", 400, head + "X: y\rContent-Length: 300\r\n\r\n"),
        Refused("NUL", 400, head + "X: \0\r\nContent-Length: 0\r\n\r\n"),
        Refused("an unknown method", 405, "BREW / HTTP/1.1\r\nHOST\r\n\r\n"),
        Refused("CONNECT", 405, "CONNECT example.org:443 HTTP/1.1\r\nHOST\r\n\r\n"),
        Refused("HTTP/2's preface", 505, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
        Refused("HTTP/1.2", 505, "GET / HTTP/1.2\r\nHOST\r\n\r\n"),
        Refused("a path that climbs", 400, "GET /../etc/passwd HTTP/1.1\r\nHOST\r\n\r\n"),
        Refused("a body too long to be acceptable", 413, head + "Content-Length: 99999999\r\n\r\n"),
        Refused("an expectation", 417, head + "Content-Length: 300\r\nExpect: the-unexpected\r\n\r\n"),
        Refused(
            "a handshake of WebSocket", 400,
            "GET / HTTP/1.1\r\nHOST\r\nUpgrade: websocket\r\n"
                + "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n"
        ),
    ]
}

@Suite(.blocking) struct RefusedFramingTests {
    private func bytes(_ text: String, _ panel: PanelClient) -> [UInt8] {
        let token = PanelServer.token("admin")
        let filled = text.replacingOccurrences(of: "HOST", with: "Host: 127.0.0.1:\(panel.port)")
            .replacingOccurrences(of: "AUTH", with: "Authorization: Bearer \(token)")
        return Array(filled.utf8)
    }

    /// Without it, none of the others would show anything.
    @Test func theHiddenRequestIsOne() throws {
        let server = try PanelServer()
        let panel = try server.connect()
        try panel.client.send(bytes(Refused.hidden, panel))
        #expect(try panel.read().revision == 1)
        #expect(server.number("Content/Text/Size") == 99)
    }

    @Test(arguments: Refused.all) func nothingBehindIsDone(_ refused: Refused) throws {
        for isWhole in [true, false] {
            let server = try PanelServer()
            let panel = try server.connect()
            let all = bytes(refused.text + Refused.hidden, panel)
            // Byte by byte the server may have closed in the midst of it.
            if isWhole { try panel.client.send(all) } else { try? panel.client.drip(all) }
            let answer = try panel.read()
            #expect(answer.status == refused.status && answer["Connection"] == "close", "\(answer)")
            #expect(answer.code != nil && answer.message?.isEmpty == false)
            #expect(try panel.hasEnded())
            #expect(server.registry.revision == 0)
            #expect(try server.connect().ask("GET", "/api/tweaks").status == 200)
        }
    }

    /// A request that is refused for another reason is read to its end: what is hidden in its body is its body.
    @Test(arguments: [
        ("Content-Type: text/plain", 415), ("Content-Type: application/json\r\nOrigin: http://evil.example", 403),
        ("Content-Type: application/json", 400),
    ])
    func whatIsHiddenInABody(_ headers: String, _ status: Int) throws {
        let server = try PanelServer()
        let panel = try server.connect()
        let body = bytes(Refused.hidden, panel)
        let head = "PATCH /api/tweaks HTTP/1.1\r\nHOST\r\nAUTH\r\n\(headers)\r\nContent-Length: \(body.count)\r\n\r\n"
        try panel.client.send(bytes(head, panel) + body)
        #expect(try panel.read().status == status)
        #expect(try panel.ask("GET", "/api/tweaks").revision == 0)
        #expect(server.registry.revision == 0)
    }

    @Test func bigHeads() throws {
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

    /// Who has shown nothing like a token has nothing long to say.
    @Test func longBodies() throws {
        let server = try PanelServer()
        let text = "{\"token\":\"\(String(repeating: "x", count: 10_000))\"}"
        for name in [nil, "admin"] {
            let panel = try server.connect(name)
            #expect(try panel.ask("POST", "/login", text).status == (name == nil ? 413 : 400))
        }
        let lines = String(repeating: "# nothing but words\\n", count: 20_000)
        let body = "{\"text\":\"\(lines)Content/Text/Size = 44\"}"
        #expect(try server.connect().ask("POST", "/api/import", body).revision == 1)
        // The token is looked at once, however the request comes.
        let panel = try server.connect()
        let request = panel.request("POST", "/api/import", body, ["Expect: 100-continue"])
        try panel.client.send(String(request.dropLast(body.count)))
        #expect(try panel.read().status == 100)
        try panel.client.send(body + panel.request("GET", "/api/whoami"))
        #expect(try panel.read().status == 200)
        #expect(try panel.read().items("tokens").count == 1)
    }

    /// What looks like a token is none: nobody waits for what it has to say.
    @Test func longBodiesOfStrangers() throws {
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
