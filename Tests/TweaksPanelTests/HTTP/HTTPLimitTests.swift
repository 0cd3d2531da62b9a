// Limits: exactly as much as is allowed, and one byte more.

import Testing

@testable import TweaksPanel

@Suite struct HTTPLimitTests {
    private static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        (limits.requestLine, limits.headerLine, limits.headers, limits.headerCount) = (40, 20, 60, 5)
        limits.body = 10
        return limits
    }()

    private static func status(_ stream: String) -> HTTPStatus? {
        switch HTTPReading.every(stream, limits: limits).events.last {
        case .failure(let failure): failure.endsConnection ? failure.status : nil
        case .request: .ok
        default: nil
        }
    }

    private static func text(_ count: Int) -> String { String(repeating: "a", count: count) }

    @Test(arguments: [(26, .ok), (27, .uriTooLong), (500, .uriTooLong)] as [(Int, HTTPStatus)])
    func limitsTheRequestLine(_ count: Int, _ status: HTTPStatus) {
        #expect(Self.status("GET /\(Self.text(count)) HTTP/1.1\r\nHost: h\r\n\r\n") == status)
    }

    /// It is refused before it ends.
    @Test func refusesALineWithoutEnd() {
        #expect(Self.status("GET /\(Self.text(36))") == .uriTooLong)
        #expect(Self.status(Self.text(41)) == .badRequest)
        #expect(Self.status("GET / HTTP/1.1\r\n\(Self.text(21))") == .headersTooLarge)
    }

    @Test(arguments: [(17, .ok), (18, .headersTooLarge)] as [(Int, HTTPStatus)])
    func limitsAHeader(_ count: Int, _ status: HTTPStatus) {
        #expect(Self.status("GET / HTTP/1.1\r\nHost: h\r\nX: \(Self.text(count))\r\n\r\n") == status)
    }

    /// 9, twice 20 with their ends, and a last one of 11 at most.
    @Test(arguments: [(8, .ok), (9, .headersTooLarge)] as [(Int, HTTPStatus)])
    func limitsAllHeaders(_ count: Int, _ status: HTTPStatus) {
        let line = "X: \(Self.text(15))\r\n"
        #expect(Self.status("GET / HTTP/1.1\r\nHost: h\r\n\(line)\(line)X: \(Self.text(count))\r\n\r\n") == status)
    }

    @Test(arguments: [(4, .ok), (5, .headersTooLarge)] as [(Int, HTTPStatus)])
    func limitsTheNumberOfHeaders(_ count: Int, _ status: HTTPStatus) {
        let lines = String(repeating: "X:\r\n", count: count)
        #expect(Self.status("GET / HTTP/1.1\r\nHost: h\r\n\(lines)\r\n") == status)
    }

    /// The next request begins to count anew.
    @Test func countsEachRequestByItself() {
        let one = "GET / HTTP/1.1\r\nHost: h\r\nX: \(Self.text(15))\r\nX: \(Self.text(15))\r\n\r\n"
        let reading = HTTPReading.every(one + one + one, limits: Self.limits)
        #expect(reading.requests.count == 3)
    }

    @Test(
        arguments: [(10, .ok), (11, .contentTooLarge), (999, .contentTooLarge)]
            as [(Int, HTTPStatus)])
    func limitsTheBody(_ count: Int, _ status: HTTPStatus) {
        let body = Self.text(min(count, 100))
        #expect(Self.status("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(count)\r\n\r\n\(body)") == status)
    }

    @Test func refusesTheLongestLength() {
        let stream = "PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(Int.max)\r\n\r\nabc"
        guard case .failure(let failure)? = HTTPReading.every(stream).events.last else {
            Issue.record("it was taken")
            return
        }
        #expect(failure.status == .contentTooLarge)
    }

    /// Nobody is asked to send a body that is too large.
    @Test func refusesBeforeItAsksForMore() {
        let stream = "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n"
        var limits = HTTPLimits()
        limits.body = 10
        let events = HTTPReading.every(stream, limits: limits).events
        #expect(events.count == 2)
        guard case .head? = events.first, case .failure(let failure)? = events.last else {
            Issue.record("\(events)")
            return
        }
        #expect(failure.status == .contentTooLarge)
    }

    /// Who may send more is known when the head has come.
    @Test func mayBeRaisedBetweenHeadAndBody() {
        var parser = HTTPParser(limits: Self.limits)
        parser.append("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\n\(Self.text(12))".utf8)
        let request = HTTPRequest.sample("PUT", body: Self.text(12))
        #expect(parser.next() == .head(request.withoutBody))
        parser.limits.body = 12
        #expect(parser.next() == .request(request))
        #expect(parser.next() == nil)
    }

    /// What is refused leaves nothing behind.
    @Test func forgetsWhatItRefuses() {
        var parser = HTTPParser(limits: Self.limits)
        parser.append([UInt8](repeating: 0x61, count: 100_000))
        #expect(parser.count == 100_000)
        #expect(parser.next() != nil)
        parser.append([UInt8](repeating: 0x61, count: 100_000))
        #expect(parser.count == 0)
        #expect(parser.hasFailed)
        #expect(parser.next() == nil)
    }
}
