// Tests responses, byte for byte.

import Foundation
import Testing

@testable import TweaksPanel

@Suite struct HTTPWriterTests {
    private static let writer = HTTPWriter(contentSecurityPolicy: "default-src 'none'")

    private static let security = """
        Content-Security-Policy: default-src 'none'\r
        X-Content-Type-Options: nosniff\r
        Referrer-Policy: no-referrer\r
        Cross-Origin-Resource-Policy: same-origin\r
        Cross-Origin-Opener-Policy: same-origin\r
        Cache-Control: no-store\r

        """

    private static func text(_ response: HTTPResponse, _ change: (inout ResponseFraming) -> Void = { _ in }) -> String {
        var framing = ResponseFraming()
        change(&framing)
        var bytes: [UInt8] = []
        writer.append(response, to: framing, into: &bytes)
        return String(decoding: bytes, as: UTF8.self)
    }

    private static let ok = HTTPResponse(.ok, [HTTPField("Content-Type", "text/plain")], body: Array("hé".utf8))

    @Test func aResponseHasTheCommonHeadersAndItsFraming() {
        let head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\nContent-Length: 3\r\n"
        let whole = "\(head)\(Self.security)\r\nhé"
        #expect(Self.text(Self.ok) == whole)
        #expect(Self.text(Self.ok) { $0.isHead = true } + "hé" == whole)
        #expect(Self.text(Self.ok) { $0.closes = true }.hasSuffix("\r\nConnection: close\r\n\r\nhé"))
        #expect(Self.text(Self.ok) { $0.version = .http10 }.hasSuffix("\r\nConnection: keep-alive\r\n\r\nhé"))
        #expect(Self.text(HTTPResponse(.notFound)).hasPrefix("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n"))
    }

    @Test(arguments: [HTTPStatus.noContent, .notModified]) func statusesWithoutBodyHaveNoLength(_ status: HTTPStatus) {
        let text = Self.text(HTTPResponse(status, body: [65]))
        #expect(text == "HTTP/1.1 \(status.rawValue)\r\n\(Self.security)\r\n")
    }

    @Test(
        arguments: [
            ("a\r\nSet-Cookie: x=y", "a  Set-Cookie: x=y"), ("a\nb", "a b"), ("a\rb", "a b"), ("a\u{0}b", "a b"),
            ("\u{7F}", " "), ("\u{1B}[2J", " [2J"), ("é", "é"), ("a\tb", "a b"), ("", ""),
        ])
    func aValueStaysOnItsLine(_ value: String, _ written: String) {
        let lines = Self.text(HTTPResponse(.ok, [HTTPField("X", value)])).components(separatedBy: "\r\n")
        #expect(lines[1...2] == ["X: \(written)", "Content-Length: 0"])
    }

    /// Invalid names, and headers that only the writer sets.
    @Test(
        arguments: [
            "", "a b", "a:", "a\r\nb", "é", "a\u{0}", "Content-Length", "transfer-encoding", "CONNECTION",
            "content-security-policy", "X-Content-Type-Options", "Referrer-Policy", "Cross-Origin-Resource-Policy",
            "Cross-Origin-Opener-Policy",
        ])
    func invalidAndReservedHeadersAreOmitted(_ name: String) {
        #expect(Self.text(HTTPResponse(.ok, [HTTPField(name, "x")])) == Self.text(HTTPResponse(.ok)))
    }

    @Test func aGivenCacheControlReplacesNoStore() {
        let text = Self.text(HTTPResponse(.ok, [HTTPField("Cache-Control", "immutable")]))
        #expect(text.contains("Cache-Control: immutable\r\n") && !text.contains("no-store"))
    }

    @Test func theFramingFollowsTheRequestOrTheFailure() {
        var request = HTTPRequest(method: "HEAD", path: [])
        (request.version, request.keepsAlive) = (.http10, false)
        let framing = ResponseFraming(request)
        #expect(framing.isHead && framing.closes && framing.version == .http10)
        #expect(ResponseFraming(HTTPRequest(method: "GET", path: [])) == ResponseFraming())
        #expect(ResponseFraming(.malformed("x; y")).closes)
        #expect(!ResponseFraming(HTTPFailure(.forbidden, "denied", "x; y")).closes)
    }

    private static func stream(_ change: (inout ResponseFraming) -> Void = { _ in }) -> (String, ResponseFraming) {
        var framing = ResponseFraming()
        change(&framing)
        var bytes: [UInt8] = []
        let stream = writer.appendStream(
            .ok, [HTTPField("Content-Type", "text/event-stream")], to: framing, into: &bytes)
        for part in ["", "abc", String(repeating: "x", count: 16), ""] { stream.append(part.utf8, to: &bytes) }
        stream.appendEnd(to: &bytes)
        return (String(decoding: bytes, as: UTF8.self), stream)
    }

    private static let head = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n"

    @Test func aStreamIsChunkedOrEndsTheConnection() {
        let (text, stream) = Self.stream()
        let chunks = "3\r\nabc\r\n10\r\nxxxxxxxxxxxxxxxx\r\n0\r\n\r\n"
        #expect(text == "\(Self.head)Transfer-Encoding: chunked\r\n\(Self.security)\r\n\(chunks)" && !stream.closes)
        let (old, oldStream) = Self.stream { $0.version = .http10 }
        #expect(old == "\(Self.head)\(Self.security)Connection: close\r\n\r\nabcxxxxxxxxxxxxxxxx" && oldStream.closes)
        let (head, _) = Self.stream { $0.isHead = true }
        #expect(head == "\(Self.head)Transfer-Encoding: chunked\r\n\(Self.security)\r\n")
    }

    @Test func theContinueResponseHasNoHeaders() {
        #expect(String(decoding: HTTPWriter.continueResponse, as: UTF8.self) == "HTTP/1.1 100 Continue\r\n\r\n")
    }

    @Test func everyStatusHasItsOwnReason() {
        let statuses = HTTPStatus.allCases
        #expect(Set(statuses.map(\.number)).count == statuses.count)
        let reasons = statuses.map { $0.rawValue.utf8.dropFirst("200 ".utf8.count) }
        #expect(Set(reasons.map { Array($0) }).count == statuses.count)
        #expect(reasons.allSatisfy { HTTPSyntax.isToken($0.filter { $0 != HTTPSyntax.space }) })
        #expect(statuses.allSatisfy { (100...599).contains($0.number) && $0.rawValue.hasPrefix("\($0.number) ") })
    }
}
