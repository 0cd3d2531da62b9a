// Requests that are refused: what is in doubt, too long, or of another protocol. Each ends the connection.

import Testing

@testable import TweaksPanel

@Suite struct HTTPRefusalTests {
    /// A stream that is refused.
    struct Case: Sendable, CustomTestStringConvertible {
        let name: String
        let stream: [UInt8]
        let status: HTTPStatus

        var testDescription: String { name }

        init(_ name: String, _ stream: String, _ status: HTTPStatus = .badRequest) {
            self.init(name, Array(stream.utf8), status)
        }

        init(_ name: String, _ stream: [UInt8], _ status: HTTPStatus = .badRequest) {
            (self.name, self.stream, self.status) = (name, stream, status)
        }

        /// A request with these headers, and a body that looks like another request.
        static func headers(_ name: String, _ lines: String, _ status: HTTPStatus = .badRequest) -> Case {
            Case(name, "POST /a HTTP/1.1\r\nHost: h\r\n\(lines)\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n", status)
        }
    }

    private static let lengths: [Case] = [
        .headers("two lengths", "Content-Length: 1\r\nContent-Length: 2"),
        .headers("two equal lengths", "Content-Length: 1\r\nContent-Length: 1"),
        .headers("two equal lengths in other letters", "Content-Length: 1\r\ncontent-LENGTH: 1"),
        .headers("a list of lengths", "Content-Length: 5, 5"),
        .headers("a list of lengths without a blank", "Content-Length: 5,5"),
        .headers("a sign", "Content-Length: +5"),
        .headers("a negative length", "Content-Length: -1"),
        .headers("minus nothing", "Content-Length: -0"),
        .headers("a hexadecimal length", "Content-Length: 0x5"),
        .headers("a length with an exponent", "Content-Length: 1e1"),
        .headers("a fraction", "Content-Length: 1.0"),
        .headers("a blank inside", "Content-Length: 1 0"),
        .headers("an underscore", "Content-Length: 1_0"),
        .headers("no length", "Content-Length:"),
        .headers("blanks for a length", "Content-Length:  \t"),
        .headers("overflow", "Content-Length: 9223372036854775808"),
        .headers("overflow by far", "Content-Length: 99999999999999999999999999999999999999"),
        .headers("overflow of 64 bits to 5", "Content-Length: 18446744073709551621"),
        .headers("other digits", "Content-Length: \u{0665}"),
        .headers("full-width digits", "Content-Length: \u{FF15}"),
        .headers("a quoted length", "Content-Length: \"5\""),
        .headers("a length with chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked"),
        .headers("chunks with a length", "Transfer-Encoding: chunked\r\nContent-Length: 5"),
        .headers("chunks with length 0", "Transfer-Encoding: chunked\r\nContent-Length: 0"),
        .headers("chunks", "Transfer-Encoding: chunked", .lengthRequired),
        .headers("chunks in other letters", "TRANSFER-ENCODING: Chunked", .lengthRequired),
        .headers("identity", "Transfer-Encoding: identity", .lengthRequired),
        .headers("an empty encoding", "Transfer-Encoding:", .lengthRequired),
        .headers("two encodings", "Transfer-Encoding: gzip, chunked", .lengthRequired),
        .headers("chunks twice", "Transfer-Encoding: chunked\r\nTransfer-Encoding: x", .lengthRequired),
        .headers("hidden chunks", "Transfer-Encoding: xchunked", .lengthRequired),
        .headers("chunks behind a vertical tab", "Transfer-Encoding: \u{0B}chunked"),
        .headers("no length at all", "X: 1", .lengthRequired),
        Case("PUT without a length", "PUT / HTTP/1.1\r\nHost: h\r\n\r\n", .lengthRequired),
        Case("PATCH without a length", "PATCH / HTTP/1.1\r\nHost: h\r\n\r\n{}", .lengthRequired),
        Case(
            "chunks of a bad size", "GET / HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
            .lengthRequired),
        Case("chunks in HTTP/1.0", "GET / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", .lengthRequired),
    ]

    private static let headers: [Case] = [
        .headers("a folded line", "X: a\r\n b\r\nContent-Length: 0"),
        .headers("a line folded by a tab", "X: a\r\n\tb\r\nContent-Length: 0"),
        .headers("a folded length", "Content-Length:\r\n 5"),
        .headers("a blank before the colon", "Content-Length : 0"),
        .headers("a tab before the colon", "Content-Length\t: 0"),
        .headers("a blank in a name", "Content Length: 0"),
        .headers("no colon", "Content-Length 0"),
        .headers("no name", ": 0"),
        .headers("a colon alone", ":"),
        .headers("a name in brackets", "X(a): 0"),
        .headers("a name with a quote", "X\": 0"),
        .headers("a name that is not ASCII", "Hé: 0"),
        .headers("a name with a slash", "A/B: 0"),
        .headers("a name with a NUL", "A\u{0}: 0"),
        .headers("a NUL", "X: a\u{0}b"),
        .headers("an escape", "X: \u{1B}[2J"),
        .headers("DEL", "X: \u{7F}"),
        .headers("a form feed", "X: a\u{0C}b"),
        .headers("two hosts", "Host: h"),
        .headers("another host", "Host: x"),
        Case("a blank line of blanks", "GET / HTTP/1.1\r\nHost: h\r\n \r\n\r\n"),
        Case("a folded first header", "GET / HTTP/1.1\r\n Host: h\r\n\r\n"),
        Case("no host", "GET / HTTP/1.1\r\n\r\n"),
        Case("no host but X-Host", "GET / HTTP/1.1\r\nX-Host: h\r\n\r\n"),
        Case("two hosts in HTTP/1.0", "GET / HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n"),
    ]

    private static let ends: [Case] = [
        Case("LF alone", "GET / HTTP/1.1\nHost: h\n\n"),
        Case("LF alone behind a header", "GET / HTTP/1.1\r\nHost: h\n\r\n"),
        Case("LF alone as the last line", "GET / HTTP/1.1\r\nHost: h\r\n\n"),
        Case("LF CR", "GET / HTTP/1.1\n\rHost: h\n\r\n\r"),
        Case("CR alone", "GET / HTTP/1.1\rHost: h\r\r"),
        Case("CR inside a header", "GET / HTTP/1.1\r\nHost: h\r\nX: a\rb\r\n\r\n"),
        Case("CR CR LF", "GET / HTTP/1.1\r\r\nHost: h\r\n\r\n"),
        Case("CR CR LF behind a header", "GET / HTTP/1.1\r\nHost: h\r\r\n\r\n"),
        Case("LF first", "\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        Case("two empty lines first", "\r\n\r\nGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        Case("CR first", "\rGET / HTTP/1.1\r\nHost: h\r\n\r\n"),
        Case("NEL as a line end", "GET / HTTP/1.1\u{85}Host: h\r\n\r\n"),
    ]

    private static let lines: [Case] = [
        Case("one word", "GET\r\n"),
        Case("four words", "GET / HTTP/1.1 x\r\n"),
        Case("a blank behind it", "GET / HTTP/1.1 \r\n"),
        Case("a blank before it", " GET / HTTP/1.1\r\n"),
        Case("two blanks", "GET  / HTTP/1.1\r\n"),
        Case("a tab between", "GET\t/ HTTP/1.1\r\n"),
        Case("a blank in the target", "GET /a b HTTP/1.1\r\n"),
        Case("a method that is no token", "G(T / HTTP/1.1\r\n"),
        Case("a NUL", "GET /\u{0} HTTP/1.1\r\n"),
        Case("a letter that is not ASCII", "GET /é HTTP/1.1\r\n"),
        Case("a byte order mark", "\u{FEFF}GET / HTTP/1.1\r\n"),
        Case("no version's number", "GET / HTTP/\r\n"),
        Case("half a version", "GET / HTTP/1\r\n"),
        Case("a long version", "GET / HTTP/1.10\r\n"),
        Case("a version in small letters", "GET / http/1.1\r\n"),
        Case("a version with a comma", "GET / HTTP/1,1\r\n"),
        Case("another protocol", "GET / ICY/1.1\r\n"),
        Case("another protocol's answer", "RTSP/1.0 200 OK\r\n"),
        Case("an answer", "HTTP/1.1 200 OK\r\n"),
        Case("an SSH client", "SSH-2.0-OpenSSH_9.6\r\n"),
        Case("the wire's own protocol", "json on\r\n", .versionNotSupported),
        Case("a SOCKS client", [5, 1, 0]),
        Case("a TLS hello", [0x16, 3, 1, 2, 0, 1, 0, 1, 0xFC, 3, 3] + [UInt8](repeating: 10, count: 40)),
        Case("an old TLS hello", [0x80, 0x2E, 1, 3, 1]),
        Case("telnet", [0xFF, 0xFD, 6]),
        Case("HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", .versionNotSupported),
        Case("HTTP/0.9", "GET /\r\n", .versionNotSupported),
        Case("HTTP/1.2", "GET / HTTP/1.2\r\nHost: h\r\n\r\n", .versionNotSupported),
        Case("HTTP/3.0", "GET / HTTP/3.0\r\n", .versionNotSupported),
        Case("HTTP/0.0", "GET / HTTP/0.0\r\n", .versionNotSupported),
        Case("asterisk", "OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n"),
        Case("a proxy's method", "CONNECT h:443 HTTP/1.1\r\nHost: h\r\n\r\n", .methodNotAllowed),
        Case("an unknown method", "BREW / HTTP/1.1\r\nHost: h\r\n\r\n", .methodNotAllowed),
        Case("a method in small letters", "get / HTTP/1.1\r\nHost: h\r\n\r\n", .methodNotAllowed),
        .headers("another expectation", "Expect: 200-ok\r\nContent-Length: 1", .expectationFailed),
        .headers("two expectations", "Expect: 100-continue, x\r\nContent-Length: 1", .expectationFailed),
    ]

    @Test(arguments: lengths + headers + ends + lines) func refuses(_ sample: Case) throws {
        let reading = HTTPReading.every(sample.stream)
        // What is said of the expectation, is said when the body begins.
        let events = reading.events.filter { if case .head = $0 { false } else { true } }
        guard events.count == 1, case .failure(let failure) = events[0] else {
            Issue.record("\(reading.events)")
            return
        }
        #expect(failure.status == sample.status)
        #expect(failure.endsConnection)
        #expect(failure.message.contains("; "), "what is wrong; the remedy")
        #expect(!reading.hasBegun && reading.count == 0)
    }

    /// Nothing is taken behind what was refused, however good it looks.
    @Test(arguments: lengths + headers + ends + lines) func takesNothingMore(_ sample: Case) {
        let good = Array("GET / HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        #expect(HTTPReading(sample.stream + good + good).requests == [])
        #expect(HTTPReading(good + sample.stream + good).requests == [.sample("GET")])
    }

    /// Each byte that no line may hold, in the request line and in a header.
    @Test(arguments: (0...0x1F).map { UInt8($0) } + [0x7F]) func refusesControl(_ byte: UInt8) {
        let line = Array("GET /".utf8) + [byte] + Array(" HTTP/1.1\r\nHost: h\r\n\r\n".utf8)
        #expect(HTTPReading.every(line).failure?.status == .badRequest)
        let header = Array("GET / HTTP/1.1\r\nHost: h\r\nX: a".utf8) + [byte] + Array("b\r\n\r\n".utf8)
        #expect(HTTPReading.every(header).failure?.status == (byte == 9 ? nil : .badRequest))
    }
}
