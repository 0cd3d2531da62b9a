// Tests requests that are refused as ambiguous, invalid, or of another protocol; each ends the connection.

import Testing

@testable import TweaksPanel

@Suite struct HTTPRefusalTests {
    /// A stream that is refused.
    struct Case: Sendable, CustomTestStringConvertible {
        let stream: [UInt8]
        let status: HTTPStatus

        var testDescription: String { String(decoding: stream.prefix(100), as: UTF8.self).debugDescription }

        static func each(_ streams: [String], _ status: HTTPStatus = .badRequest) -> [Case] {
            streams.map { Case(stream: Array($0.utf8), status: status) }
        }

        /// Requests with these headers, and a body that looks like another request.
        static func headers(_ headers: [String], _ status: HTTPStatus = .badRequest) -> [Case] {
            each(
                headers.map { "POST /a HTTP/1.1\r\nHost: h\r\n\($0)\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n" }, status)
        }
    }

    private static let lengths = [
        "Content-Length: 1\r\nContent-Length: 2", "Content-Length: 1\r\nContent-Length: 1",
        "Content-Length: 1\r\ncontent-LENGTH: 1", "Content-Length: 5, 5", "Content-Length: 5,5", "Content-Length: +5",
        "Content-Length: -1", "Content-Length: -0", "Content-Length: 0x5", "Content-Length: 1e1", "Content-Length: 1.0",
        "Content-Length: 1 0", "Content-Length: 1_0", "Content-Length:", "Content-Length:  \t",
        // Int.max and one, far beyond, and a number of which the lowest 64 bits are 5.
        "Content-Length: 9223372036854775808", "Content-Length: 99999999999999999999999999999999999999",
        "Content-Length: 18446744073709551621",
        // Digits outside ASCII.
        "Content-Length: \u{0665}", "Content-Length: \u{FF15}", "Content-Length: \"5\"",
        "Content-Length: 5\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Transfer-Encoding: chunked\r\nContent-Length: 0", "Transfer-Encoding: \u{0B}chunked",
    ]

    private static let encodings = [
        "Transfer-Encoding: chunked", "TRANSFER-ENCODING: Chunked", "Transfer-Encoding: identity", "Transfer-Encoding:",
        "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x",
        "Transfer-Encoding: xchunked", "X: 1",
    ]

    private static let requestsWithoutLength = [
        "PUT / HTTP/1.1\r\nHost: h\r\n\r\n", "PATCH / HTTP/1.1\r\nHost: h\r\n\r\n{}",
        "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ]

    private static let headers = [
        // Folded lines.
        "X: a\r\n b\r\nContent-Length: 0", "X: a\r\n\tb\r\nContent-Length: 0", "Content-Length:\r\n 5",
        // Names.
        "Content-Length : 0", "Content-Length\t: 0", "Content Length: 0", "Content-Length 0", ": 0", ":", "X(a): 0",
        "X\": 0", "Hé: 0", "A/B: 0", "A\u{0}: 0",
        // Values.
        "X: a\u{0}b", "X: \u{1B}[2J", "X: \u{7F}", "X: a\u{0C}b",
        // A second host.
        "Host: h", "Host: x",
    ]

    private static let heads = [
        "GET / HTTP/1.1\r\nHost: h\r\n \r\n\r\n", "GET / HTTP/1.1\r\n Host: h\r\n\r\n", "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nX-Host: h\r\n\r\n", "GET / HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n",
        // LF and CR that are not CR LF.
        "GET / HTTP/1.1\nHost: h\n\n", "GET / HTTP/1.1\r\nHost: h\n\r\n", "GET / HTTP/1.1\r\nHost: h\r\n\n",
        "GET / HTTP/1.1\n\rHost: h\n\r\n\r", "GET / HTTP/1.1\rHost: h\r\r",
        "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n", "GET / HTTP/1.1\r\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", "\rGET / HTTP/1.1\r\nHost: h\r\n\r\n",
        "GET / HTTP/1.1\u{85}Host: h\r\n\r\n",
    ]

    private static let requestLines = [
        "GET\r\n", "GET / HTTP/1.1 x\r\n", "GET / HTTP/1.1 \r\n", " GET / HTTP/1.1\r\n", "GET  / HTTP/1.1\r\n",
        "GET\t/ HTTP/1.1\r\n", "GET /a b HTTP/1.1\r\n", "G(T / HTTP/1.1\r\n", "GET /\u{0} HTTP/1.1\r\n",
        "GET /é HTTP/1.1\r\n", "\u{FEFF}GET / HTTP/1.1\r\n", "GET / HTTP/\r\n", "GET / HTTP/1\r\n",
        "GET / HTTP/1.10\r\n", "GET / http/1.1\r\n", "GET / HTTP/1,1\r\n", "GET / ICY/1.1\r\n", "RTSP/1.0 200 OK\r\n",
        "HTTP/1.1 200 OK\r\n", "SSH-2.0-OpenSSH_9.6\r\n", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n",
    ]

    private static let versions = [
        "json on\r\n", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", "GET /\r\n", "GET / HTTP/1.2\r\nHost: h\r\n\r\n",
        "GET / HTTP/3.0\r\n", "GET / HTTP/0.0\r\n",
    ]

    private static let methods = [
        "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", "BREW / HTTP/1.1\r\nHost: h\r\n\r\n",
        "get / HTTP/1.1\r\nHost: h\r\n\r\n",
    ]

    private static let expectations = [
        "Expect: 200-ok\r\nContent-Length: 1", "Expect: 100-continue, x\r\nContent-Length: 1",
    ]

    /// SOCKS, TLS, an old TLS, and telnet.
    private static let otherProtocols: [[UInt8]] = [
        [5, 1, 0], [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + [UInt8](repeating: 10, count: 40),
        [0x80, 0x2E, 1, 3, 1], [0xFF, 0xFD, 6],
    ]

    private static let all =
        Case.headers(lengths + headers) + Case.headers(encodings, .lengthRequired)
        + Case.each(requestsWithoutLength, .lengthRequired) + Case.each(heads + requestLines)
        + Case.each(versions, .versionNotSupported) + Case.each(methods, .methodNotAllowed)
        + Case.headers(expectations, .expectationFailed)
        + otherProtocols.map { Case(stream: $0, status: .badRequest) }

    /// No request after it is parsed either.
    @Test(arguments: all) func isRefusedAndEndsTheConnection(_ sample: Case) throws {
        let reading = HTTPReading.every(sample.stream)
        // An unknown expectation is refused when the body begins.
        let events = reading.events.filter { if case .head = $0 { false } else { true } }
        guard events.count == 1, case .failure(let failure) = events[0] else {
            Issue.record("\(reading.events)")
            return
        }
        #expect(failure.status == sample.status && failure.endsConnection)
        #expect(failure.message.contains("; "), "the problem; the remedy")
        #expect(!reading.hasBegun && reading.count == 0)
        let good = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        #expect(HTTPReading(sample.stream + good + good).requests == [])
        #expect(HTTPReading(good + sample.stream + good).requests == [.sample("GET")])
    }

    @Test(arguments: (0...0x1F).map { UInt8($0) } + [0x7F]) func controlCharactersAreRefusedInLines(_ byte: UInt8) {
        let line = Array("GET /".utf8) + [byte] + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        #expect(HTTPReading.every(line).failure?.status == .badRequest)
        let header = Array("GET / HTTP/1.1\r\nHost: h\r\nX: a".utf8) + [byte] + Array("b\r\n\r\n".utf8)
        #expect(HTTPReading.every(header).failure?.status == (byte == 9 ? nil : .badRequest))
    }
}
