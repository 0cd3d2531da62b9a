// Tests randomly damaged requests: the result does not depend on the packets, and nothing follows a failure.

import Testing
import TweaksTestSupport

@testable import TweaksPanel

@Suite struct HTTPMutationTests {
    private static let seeds = [
        "GET /api/tweaks?pattern=A/*&pattern=B HTTP/1.1\r\nHost: localhost:7780\r\nCookie: a=b; tweaks-7780=twk_x\r\n\r\n",
        "PATCH /api/tweaks HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{\"changes\":[]}",
        "POST /a HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}",
        "GET http://h/a%20b HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n",
    ].map { Array($0.utf8) }

    private static let pieces = [
        "\r\n", "\r", "\n", " ", "\t", "\0", ":", "%", "%2F", "%00", "/", "//", "..", "?", "#", "\u{7F}", "é",
        "Host: h\r\n", "Content-Length: 5\r\n", "Content-Length: 0\r\n", "Transfer-Encoding: chunked\r\n", "HTTP/1.0",
        "HTTP/2.0", "GET ", "99999999999999999999", "-1", "Expect: x\r\n", "\r\n\r\n", "Connection: close\r\n",
    ].map { Array($0.utf8) }

    private static func mutate(_ bytes: [UInt8], _ numbers: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<Int.random(in: 1...3, using: &numbers) {
            let place = Int.random(in: 0...bytes.count, using: &numbers)
            let end = min(bytes.count, place + Int.random(in: 0...4, using: &numbers))
            switch Int.random(in: 0..<5, using: &numbers) {
            case 0: bytes.removeSubrange(place..<end)
            case 1: bytes.insert(contentsOf: pieces.randomElement(using: &numbers) ?? [], at: place)
            case 2: bytes.replaceSubrange(place..<end, with: pieces.randomElement(using: &numbers) ?? [])
            case 3: bytes.insert(UInt8.random(in: 0...255, using: &numbers), at: place)
            default: bytes.insert(contentsOf: bytes[place..<end], at: place)
            }
        }
        return bytes
    }

    @Test(.tags(.quantity), arguments: 0..<quantity(20, few: 4))
    func theResultDoesNotDependOnThePackets(_ seed: Int) throws {
        var numbers = SeededGenerator(seed: UInt64(seed))
        var (accepted, refused) = (0, 0)
        for _ in 0..<300 {
            var stream: [UInt8] = []
            for _ in 0..<Int.random(in: 1...3, using: &numbers) {
                let one = Self.seeds.randomElement(using: &numbers) ?? []
                stream += Bool.random(using: &numbers) ? Self.mutate(one, &numbers) : one
            }
            let whole = HTTPReading(stream)
            for sizes in [[1], [Int.random(in: 1...stream.count, using: &numbers)], [3, 5, 7]] {
                try #require(HTTPReading(stream, sizes: sizes) == whole, "\(String(decoding: stream, as: UTF8.self))")
            }
            let failures = whole.events.indices.filter { if case .failure = whole.events[$0] { true } else { false } }
            try #require(failures.isEmpty || failures == [whole.events.count - 1])
            accepted += whole.requests.count
            refused += failures.count
        }
        #expect(accepted > 100 && refused > 100)
    }

    @Test(.tags(.quantity), arguments: 0..<quantity(10)) func randomBytesAreNeverARequest(_ seed: Int) throws {
        var numbers = SeededGenerator(seed: UInt64(seed) &+ 1_000)
        for _ in 0..<300 {
            let count = Int.random(in: 1...80, using: &numbers)
            let stream = (0..<count).map { _ in UInt8.random(in: 0...255, using: &numbers) }
            let whole = HTTPReading(stream)
            try #require(HTTPReading(stream, sizes: [1]) == whole)
            try #require(whole.requests == [])
        }
    }
}
