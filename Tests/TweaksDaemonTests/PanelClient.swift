// Requests of a browser to a daemon's panel.

import Foundation
import Testing
import TweaksDaemon
import TweaksTestSupport
import TweaksWire

/// The parts of a panel's address.
struct PanelAddress {
    let host: String
    let port: Int
    /// The code that signs in a browser.
    let code: String
    let token: String

    init(_ daemon: TweakDaemon) throws {
        let link = try #require(daemon.panelAddress)
        let url = try #require(URLComponents(string: link))
        code = try #require(url.fragment?.components(separatedBy: "code=").last)
        token = try #require(daemon.panelToken)
        (host, port) = (try #require(url.host), try #require(url.port))
    }

    /// Sends a request with the token.
    func get(_ target: String, host: String = "127.0.0.1") throws -> TestClient {
        let client = try TestClient(port: port, address: host)
        let authorization = "Authorization: Bearer \(token)"
        try client.send("GET \(target) HTTP/1.1\r\nHost: \(host):\(port)\r\n\(authorization)\r\n\r\n")
        return client
    }
}

/// A browser with a cookie and the key of its sign-in.
struct PanelBrowser {
    let port: Int
    var cookie: String?
    var key: [UInt8] = []

    func post(_ path: String, _ body: String) throws -> String {
        let client = try TestClient(port: port)
        let head = ["POST \(path) HTTP/1.1", "Host: 127.0.0.1:\(port)", "Connection: close"]
        let type = ["Content-Type: application/json", "Content-Length: \(body.utf8.count)", "", body]
        try client.send((head + (cookie.map { ["Cookie: \($0)"] } ?? []) + type).joined(separator: "\r\n"))
        return try client.rest()
    }

    private func field(_ name: String, of reply: String) -> String {
        String(reply.components(separatedBy: "\"\(name)\":\"").last?.prefix { $0 != "\"" } ?? "")
    }

    /// Signs in with the panel's own token.
    init(signingInWith token: String, _ port: Int) throws {
        self.port = port
        var scram = Scram.Client(token: token)
        let last = scram.answer(field("scram", of: try post("/login", #"{"scram":"\#(scram.first)"}"#)))
        let reply = try post("/login", #"{"scram":"\#(try #require(last))"}"#)
        let rest = reply.components(separatedBy: "Set-Cookie: ").dropFirst().first
        cookie = String(try #require(rest?.prefix { $0 != ";" }))
        key = scram.sessionKey
    }

    init(port: Int, cookie: String, key: [UInt8]) { (self.port, self.cookie, self.key) = (port, cookie, key) }

    /// Answers a challenge with the key, as a reloaded page does.
    /// - Returns: The start of the status line.
    func resume() throws -> String {
        let challenge = field("challenge", of: try post("/login", "{}"))
        let answer = Base64.encode(SHA256.code(challenge.utf8, key: key))
        return String(try post("/login", #"{"challenge":"\#(challenge)","answer":"\#(answer)"}"#).prefix(12))
    }
}
