// Tests the parser of HTTP responses, and of URLs.

import Testing

@testable import TweaksFleet

@Suite struct HTTPResponseReaderTests {
    /// Reads a response in pieces of a size.
    private static func read(
        _ text: String, size: Int = .max, ends: Bool = false
    ) throws -> (status: Int?, body: String, reader: HTTPResponseReader) {
        var reader = HTTPResponseReader()
        var (status, body): (Int?, [UInt8]) = (nil, [])
        var rest = utf8(text)[...]
        while !rest.isEmpty {
            for part in try reader.append(rest.prefix(size)) {
                switch part {
                case .status(let code): status = code
                case .bytes(let bytes): body += bytes
                }
            }
            rest = rest.dropFirst(size)
        }
        if ends { try reader.end() }
        return (status, String(decoding: body, as: UTF8.self), reader)
    }

    /// Text, status, body, and whether the connection can be reused.
    static let responses: [(String, Int, String, Bool)] = [
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello", 200, "hello", true),
        ("HTTP/1.1 200\r\ncontent-length:0\r\n\r\n", 200, "", true),
        ("HTTP/1.1 204 Nothing\r\n\r\n", 204, "", true),
        ("HTTP/1.1 200 OK\nContent-Length: 2\n\nhi", 200, "hi", true),
        (
            "HTTP/1.1 400 Bad Request\r\nTrailer: A\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n"
                + "00B;x=y\r\n, you all!!\r\n0\r\nA: b\r\nC: d\r\n\r\n", 400, "hello, you all!!", true
        ),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked \r\n\r\n0\r\n\r\n", 200, "", true),
        ("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", false),
        ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", false),
        // Without a length the body ends with the connection.
        ("HTTP/1.1 200 OK\r\n\r\nhello", 200, "hello", false),
        ("HTTP/1.1 100 Continue\r\nA: b\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi", 200, "hi", true),
        // Proxies interpret two lengths differently.
        ("HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 200, "", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhiHTTP", 200, "hi", false),
    ]

    @Test(arguments: responses)
    func `A response is the same in pieces of any size`(
        _ text: String, _ status: Int, _ body: String, _ isReusable: Bool
    ) throws {
        for size in 1...text.utf8.count {
            let response = try Self.read(text, size: size, ends: true)
            #expect(response.status == status && response.body == body)
            #expect(response.reader.keepsConnection == isReusable)
        }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhell", "HTTP/1.1 200 OK\r\nContent-Len", "",
        "HTTP/1.1 100 C\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n",
    ])
    func `A truncated response is an error`(_ text: String) {
        #expect { try Self.read(text, ends: true) } throws: { ($0 as? EtcdError)?.kind == "unreachable" }
    }

    @Test(arguments: [
        "SSH-2.0-OpenSSH\r\n", "\u{15}\u{3}\u{1}\n", "HTTP/2 200\r\n", "HTTP/1.1 0200 OK\r\n", "HTTP/1.1 099 OK\r\n",
        "HTTP/1.1 -20 OK\r\n", "HTTP/1.1 200 OK\r\nno colon\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: \r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 9223372036854775808\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n+5\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n8000000000000000\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", String(repeating: "a", count: 70_000),
        "HTTP/1.1 200 OK\r\n" + String(repeating: "a: b\r\n", count: 12_000),
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n" + String(repeating: "a: b\r\n", count: 12_000),
    ])
    func `A malformed response is an error`(_ text: String) {
        #expect { try Self.read(text) } throws: { ($0 as? EtcdError)?.kind == "garbled" }
    }

    @Test(arguments: [
        ("http://a", "a", 80, "/", "a"), ("http://a:1/v3/x", "a", 1, "/v3/x", "a:1"),
        ("http://[::1]:2379/", "::1", 2_379, "/", "[::1]:2379"), ("http://[::1]", "::1", 80, "/", "[::1]"),
        ("https://a", "a", 443, "/", "a"), ("https://[::1]:1/x", "::1", 1, "/x", "[::1]:1"),
    ])
    func `A URL is parsed`(_ url: String, _ host: String, _ port: UInt16, _ path: String, _ authority: String) {
        let address = EtcdAddress(url)
        #expect(address?.host == host && address?.port == port)
        #expect(address?.path == path && address?.authority == authority)
        #expect(address?.isSecure == url.hasPrefix("https"))
    }

    @Test(arguments: ["", "http://", "http:///x", "https://", "ftp://a", "http://a:b", "http://a:65536", "http://:1"])
    func `An invalid URL is nil`(_ url: String) { #expect(EtcdAddress(url) == nil) }

    /// A part of its own would take ten times as much memory as the bytes of the connection.
    @Test func `Chunks that arrive together are one part`() throws {
        let chunks = String(repeating: "1\r\nx\r\n", count: 1_000)
        var reader = HTTPResponseReader()
        let parts = try reader.append(utf8("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)")[...])
        #expect(parts == [.status(200), .bytes([UInt8](repeating: 0x78, count: 1_000))])
    }
}
