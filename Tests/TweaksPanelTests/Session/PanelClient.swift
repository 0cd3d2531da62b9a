// An HTTP client of the panel that can send any bytes.

import Foundation
import Testing
import TweaksTestSupport
import Tweaks
import TweaksWire

/// A response.
struct PanelAnswer {
    var status = 0
    var headers: [(name: String, value: String)] = []
    var body = ""

    /// The value of a header, if it occurs once.
    subscript(_ name: String) -> String? {
        let found = headers.filter { $0.name.lowercased() == name.lowercased() }
        return found.count == 1 ? found[0].value : nil
    }

    /// The body as JSON.
    var json: [String: Any] { object(body) }

    var code: String? { (json["error"] as? [String: Any])?["code"] as? String }
    var message: String? { (json["error"] as? [String: Any])?["message"] as? String }
    var revision: Int? { json["rev"] as? Int }
    /// The paths of its tweaks, in order.
    var paths: [String] { items("tweaks").compactMap { $0["path"] as? String } }

    /// The objects of a list.
    func items(_ name: String) -> [[String: Any]] { json[name] as? [[String: Any]] ?? [] }
}

/// One server-sent event.
struct PanelEvent {
    var id: String?
    var name = ""
    var data = ""

    var json: [String: Any] { object(data) }
    var path: String? { json["path"] as? String }
    var revision: Int? { json["rev"] as? Int }
    /// The paths of a snapshot.
    var paths: [String] { (json["tweaks"] as? [[String: Any]] ?? []).compactMap { $0["path"] as? String } }
}

private func object(_ text: String) -> [String: Any] {
    (try? JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any]) ?? [:]
}

/// A connection to the panel.
final class PanelClient {
    let client: TestClient
    let port: Int
    /// The token of each request.
    var token: String?
    /// The host that requests name.
    var host = "127.0.0.1"
    /// The bytes of an incomplete event.
    private var stream: [UInt8] = []

    init(_ client: TestClient, port: Int, token: String?) {
        (self.client, self.port, self.token) = (client, port, token)
    }

    // MARK: Requests

    /// The bytes of a request.
    func request(_ method: String, _ target: String, _ body: String? = nil, _ headers: [String] = []) -> String {
        var lines = ["\(method) \(target) HTTP/1.1", "Host: \(host):\(port)"]
        if let token { lines.append("Authorization: Bearer \(token)") }
        if let body { lines += ["Content-Type: application/json", "Content-Length: \(body.utf8.count)"] }
        return (lines + headers + ["", body ?? ""]).joined(separator: "\r\n")
    }

    func send(_ method: String, _ target: String, _ body: String? = nil, _ headers: [String] = []) throws {
        try client.send(request(method, target, body, headers))
    }

    @discardableResult
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, _ headers: [String] = []
    ) throws -> PanelAnswer {
        try send(method, target, body, headers)
        return try read(isHead: method == "HEAD")
    }

    /// Signs in with a token of `PanelServer` by SCRAM, as the page does.
    /// - Returns: The last answer; the headers of a page that is signed in by it; and the key of the browser.
    func signIn(
        _ name: String, _ headers: [String] = []
    ) throws -> (answer: PanelAnswer, page: [String], key: [UInt8]) {
        var scram = Scram.Client(token: PanelServer.token(name))
        let first = try ask("POST", "/login", #"{"scram":"\#(scram.first)"}"#, headers)
        let last = scram.answer(try #require(first.json["scram"] as? String))
        let answer = try ask("POST", "/login", #"{"scram":"\#(try #require(last))"}"#, headers)
        guard answer.status == 200 else { return (answer, [], []) }
        #expect(scram.accepts(try #require(answer.json["scram"] as? String)))
        let cookie = try #require(answer["Set-Cookie"]?.split(separator: ";").first)
        let key = try #require(answer.json["key"] as? String)
        return (answer, ["Cookie: \(cookie)", "Tweaks-Key: \(key)"], scram.sessionKey)
    }

    /// Answers a challenge, as a page does that is loaded in a signed-in browser.
    func resume(_ cookie: String, _ key: [UInt8]) throws -> PanelAnswer {
        let challenge = try #require(try ask("POST", "/login", "{}").json["challenge"] as? String)
        let answer = Base64.encode(SHA256.code(challenge.utf8, key: key))
        return try ask("POST", "/login", #"{"challenge":"\#(challenge)","answer":"\#(answer)"}"#, [cookie])
    }

    /// Sets tweaks to JSON values.
    @discardableResult
    func patch(_ changes: [(String, String)], _ more: String = "", _ headers: [String] = []) throws -> PanelAnswer {
        try ask("PATCH", "/api/tweaks", Self.changes(changes, more), headers)
    }

    /// Sets `Content/Text/Size`.
    @discardableResult
    func set(size: Int, _ more: String = "", _ headers: [String] = []) throws -> PanelAnswer {
        try ask("PATCH", "/api/tweaks", Self.size(size, more), headers)
    }

    func send(size: Int) throws { try client.send(request(size: size)) }

    func request(size: Int) -> String { request("PATCH", "/api/tweaks", Self.size(size)) }

    static func size(_ size: Int, _ more: String = "") -> String {
        changes([("Content/Text/Size", "\(size)")], more)
    }

    static func changes(_ changes: [(String, String)], _ more: String = "") -> String {
        let list = changes.map { #"{"path":"\#($0.0)","value":\#($0.1)}"# }.joined(separator: ",")
        return #"{"changes":[\#(list)]\#(more)}"#
    }

    // MARK: Responses

    /// The next response.
    func read(isHead: Bool = false) throws -> PanelAnswer {
        var answer = try readHead()
        if isHead || [100, 204, 304].contains(answer.status) { return answer }
        if let length = answer["Content-Length"].flatMap({ Int($0) }) {
            answer.body = String(decoding: try client.bytes(length), as: UTF8.self)
        } else if answer["Transfer-Encoding"] == "chunked" {
            while let chunk = try readChunk() { answer.body += chunk }
        } else {
            answer.body = try client.rest()
        }
        return answer
    }

    func readHead() throws -> PanelAnswer {
        var lines = try client.read(through: "\r\n\r\n").components(separatedBy: "\r\n").dropLast(2)[...]
        let words = lines.removeFirst().split(separator: " ", maxSplits: 2)
        guard words.count == 3, words[0] == "HTTP/1.1", let status = Int(words[1]) else {
            throw ClientError.ended("no response: \(words)")
        }
        let headers = lines.map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
        return PanelAnswer(status: status, headers: headers)
    }

    /// The next chunk; nil for the last one.
    func readChunk() throws -> String? {
        let line = try client.read(through: "\r\n").dropLast(1)
        guard let size = Int(line, radix: 16) else { throw ClientError.ended("no chunk: \(line)") }
        let bytes = try client.bytes(size + 2).dropLast(2)
        return size == 0 ? nil : String(decoding: bytes, as: UTF8.self)
    }

    /// Whether the server ends the connection without sending anything before.
    func hasEnded() throws -> Bool { try client.rest().isEmpty }

    // MARK: Events

    /// Starts a stream, and reads its first two events.
    func stream(
        _ query: String = "", _ headers: [String] = []
    ) throws -> (hello: PanelEvent, snapshot: PanelEvent) {
        try send("GET", "/api/events\(query)", nil, headers)
        let head = try readHead()
        try #require(head.status == 200 && head["Content-Type"] == "text/event-stream")
        let hello = try #require(try event())
        let snapshot = try #require(try event())
        try #require(hello.name == "hello" && snapshot.name == "snapshot")
        return (hello, snapshot)
    }

    /// The next event except heartbeats; nil at the end of the stream.
    func event() throws -> PanelEvent? {
        while let event = try eventOrHeartbeat() {
            if !event.name.isEmpty { return event }
        }
        return nil
    }

    /// The next event; a heartbeat has no name.
    func eventOrHeartbeat() throws -> PanelEvent? {
        while true {
            if let end = stream.firstRange(of: Array("\n\n".utf8)) {
                let text = String(decoding: stream[..<end.lowerBound], as: UTF8.self)
                stream.removeSubrange(..<end.upperBound)
                return Self.event(text)
            }
            guard let chunk = try readChunk() else { return nil }
            stream += Array(chunk.utf8)
        }
    }

    static func event(_ text: String) -> PanelEvent {
        var event = PanelEvent()
        for line in text.split(separator: "\n") {
            if line.hasPrefix("id: ") { event.id = String(line.dropFirst(4)) }
            if line.hasPrefix("event: ") { event.name = String(line.dropFirst(7)) }
            if line.hasPrefix("data: ") { event.data += line.dropFirst(6) }
        }
        return event
    }
}
