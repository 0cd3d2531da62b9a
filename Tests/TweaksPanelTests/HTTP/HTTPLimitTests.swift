// Tests the limits of requests: exactly the limit, and one byte more.

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

    private static let longLine = "X: \(text(15))\r\n"

    /// Of the headers, `Host: h` has 9 bytes with its end, and `longLine` 20.
    private static let cases: [(stream: String, status: HTTPStatus)] = [
        ("GET /\(text(26)) HTTP/1.1\r\nHost: h\r\n\r\n", .ok),
        ("GET /\(text(27)) HTTP/1.1\r\nHost: h\r\n\r\n", .uriTooLong),
        ("GET /\(text(500)) HTTP/1.1\r\nHost: h\r\n\r\n", .uriTooLong),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: \(text(17))\r\n\r\n", .ok),
        ("GET / HTTP/1.1\r\nHost: h\r\nX: \(text(18))\r\n\r\n", .headersTooLarge),
        ("GET / HTTP/1.1\r\nHost: h\r\n\(longLine)\(longLine)X: \(text(8))\r\n\r\n", .ok),
        ("GET / HTTP/1.1\r\nHost: h\r\n\(longLine)\(longLine)X: \(text(9))\r\n\r\n", .headersTooLarge),
        ("GET / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "X:\r\n", count: 4))\r\n", .ok),
        ("GET / HTTP/1.1\r\nHost: h\r\n\(String(repeating: "X:\r\n", count: 5))\r\n", .headersTooLarge),
        ("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\n\(text(10))", .ok),
        ("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 11\r\n\r\n\(text(11))", .contentTooLarge),
        ("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 999\r\n\r\n\(text(100))", .contentTooLarge),
        // A line is refused before it ends.
        ("GET /\(text(36))", .uriTooLong), (text(41), .badRequest), ("GET / HTTP/1.1\r\n\(text(21))", .headersTooLarge),
    ]

    @Test(arguments: cases) func whatExceedsALimitIsRefused(_ stream: String, _ status: HTTPStatus) {
        #expect(Self.status(stream) == status)
    }

    @Test func theLongestLengthExceedsTheDefaultLimits() {
        let events = HTTPReading.every("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: \(Int.max)\r\n\r\nabc").events
        #expect(events.last.flatMap(Self.failure)?.status == .contentTooLarge)
    }

    private static func failure(_ event: HTTPEvent) -> HTTPFailure? {
        if case .failure(let failure) = event { failure } else { nil }
    }

    @Test func eachRequestIsCountedAlone() {
        let one = "GET / HTTP/1.1\r\nHost: h\r\n\(Self.longLine)\(Self.longLine)\r\n"
        #expect(HTTPReading.every(one + one + one, limits: Self.limits).requests.count == 3)
    }

    @Test func aLongBodyIsRefusedBeforeItIsSent() {
        let stream = "PUT / HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 11\r\n\r\n"
        var limits = HTTPLimits()
        limits.body = 10
        let events = HTTPReading.every(stream, limits: limits).events
        guard events.count == 2, case .head = events[0] else {
            Issue.record("\(events)")
            return
        }
        #expect(Self.failure(events[1])?.status == .contentTooLarge)
    }

    @Test func theLimitOfTheBodyMayBeRaisedAfterTheHead() {
        var parser = HTTPParser(limits: Self.limits)
        parser.append("PUT / HTTP/1.1\r\nHost: h\r\nContent-Length: 12\r\n\r\n\(Self.text(12))".utf8)
        let request = HTTPRequest.sample("PUT", body: Self.text(12))
        #expect(parser.next() == .head(request.withoutBody))
        parser.limits.body = 12
        #expect(parser.next() == .request(request))
        #expect(parser.next() == nil)
    }

    @Test func refusedBytesAreReleased() {
        var parser = HTTPParser(limits: Self.limits)
        let bytes = [UInt8](repeating: 0x61, count: 100_000)
        parser.append(bytes)
        #expect(parser.count == 100_000)
        #expect(parser.next() != nil)
        parser.append(bytes)
        #expect(parser.count == 0 && parser.hasFailed)
        #expect(parser.next() == nil)
    }
}
