// Answers of HTTP, in pieces of any size.

import Testing

@testable import TweaksFleet

@Suite struct HTTPAnswerTests {
    /// Status and body; nil where the bytes are no whole answer.
    private func read(_ text: String, piece: Int) throws(HTTPAnswer.Problem) -> (status: Int, body: String)? {
        var answer = HTTPAnswer()
        var (status, body): (Int, [UInt8]) = (0, [])
        let bytes = Array(text.utf8)
        for start in stride(from: 0, to: bytes.count, by: piece) {
            for part in try answer.take(Array(bytes[start..<min(start + piece, bytes.count)])) {
                switch part {
                case .status(let code): status = code
                case .bytes(let more): body += more
                }
            }
        }
        return answer.mayEnd ? (status, String(decoding: body, as: UTF8.self)) : nil
    }

    @Test(arguments: [
        ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", 200, "{}"),
        ("HTTP/1.1 200 OK\nCONTENT-LENGTH:2\n\n{}", 200, "{}"),
        ("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 200, ""),
        ("HTTP/1.1 204 No\r\n\r\n", 204, ""), ("HTTP/1.0 200 OK\r\n\r\nuntil the end", 200, "until the end"),
        (
            "HTTP/1.1 429 Too Many\r\nTrailer: X\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\nA\r\n0123456789\r\n"
                + "0\r\nX: application/grpc\r\n\r\n", 429, "abc0123456789"
        ),
    ])
    func `An answer is the same however it is cut`(_ text: String, _ status: Int, _ body: String) throws {
        for piece in [1, 2, 3, 7, 1_000] {
            let read = try #require(try read(text, piece: piece))
            #expect(read.status == status && read.body == body)
        }
    }

    @Test(arguments: [
        "nonsense\r\n\r\n", "HTTP/2 200\r\n\r\n", "HTTP/1.1 99 X\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nFFFFFFFFFFFFFFFF\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n",
        "HTTP/1.1 200 OK\r\n" + String(repeating: "x", count: 70_000),
    ])
    func `What is no answer is refused`(_ text: String) {
        for piece in [1, 1_000] { #expect(throws: HTTPAnswer.Problem.self) { try read(text, piece: piece) } }
    }

    @Test(arguments: [
        "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab", "",
    ])
    func `What breaks off is not whole`(_ text: String) throws { #expect(try read(text, piece: 5) == nil) }

    @Test(arguments: [
        ("http://127.0.0.1:2379/v3/kv", "127.0.0.1", "2379", "/v3/kv"), ("http://[::1]:2379/x", "::1", "2379", "/x"),
        ("http://host", "host", "80", "/"), ("http://[::1]", "::1", "80", "/"),
    ])
    func `A URL is a place`(_ url: String, _ host: String, _ port: String, _ path: String) throws {
        let place = try #require(HTTPPlace(url))
        #expect(place.host == host && place.port == port && place.path == path)
    }

    @Test(arguments: ["https://host", "http://", "http://host:99999", "http://host/a b", "http://host/\r\nX: y"])
    func `What is no plain URL is none`(_ url: String) { #expect(HTTPPlace(url) == nil) }
}
