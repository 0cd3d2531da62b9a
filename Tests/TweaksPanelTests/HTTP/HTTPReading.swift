// Parses a stream in every possible division into packets.

import Testing

@testable import TweaksPanel

/// The events of a stream, and the state of the parser after it.
struct HTTPReading: Equatable {
    private(set) var events: [HTTPEvent] = []
    private(set) var hasBegun = false
    private(set) var count = 0

    /// Feeds a parser so many bytes at a time; the last size is used for the rest.
    init(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits(), sizes: [Int] = []) {
        var parser = HTTPParser(limits: limits)
        var (rest, sizes) = (bytes[...], sizes[...])
        while !rest.isEmpty {
            let size = sizes.count > 1 ? sizes.removeFirst() : sizes.first ?? rest.count
            parser.append(rest.prefix(max(size, 1)))
            rest = rest.dropFirst(max(size, 1))
            while let event = parser.next() { events.append(event) }
        }
        (hasBegun, count) = (parser.hasBegun, parser.count)
    }

    /// Reads a stream whole, byte by byte, and divided at every place (of long streams: at every 97th), and checks that
    /// the results are equal.
    static func every(_ bytes: [UInt8], limits: HTTPLimits = HTTPLimits()) -> HTTPReading {
        let whole = HTTPReading(bytes, limits: limits)
        #expect(HTTPReading(bytes, limits: limits, sizes: [1]) == whole, "byte by byte: \(text(bytes))")
        for cut in stride(from: 1, to: bytes.count, by: bytes.count > 1_000 ? 97 : 1) {
            let other = HTTPReading(bytes, limits: limits, sizes: [cut, bytes.count])
            if other != whole { Issue.record("cut at \(cut): \(text(bytes)): \(other.events), whole \(whole.events)") }
        }
        return whole
    }

    static func every(_ text: String, limits: HTTPLimits = HTTPLimits()) -> HTTPReading {
        every(Array(text.utf8), limits: limits)
    }

    private static func text(_ bytes: [UInt8]) -> String { String(decoding: bytes.prefix(200), as: UTF8.self) }

    var requests: [HTTPRequest] {
        events.compactMap { if case .request(let request) = $0 { request } else { nil } }
    }

    /// The failure, if it is the only event.
    var failure: HTTPFailure? {
        guard events.count == 1, case .failure(let failure) = events[0] else { return nil }
        return failure
    }
}

extension HTTPRequest {
    /// A request with the header Host, and a length where it has a body.
    static func sample(
        _ method: String, _ path: [String] = [], _ query: [HTTPField] = [], _ headers: [HTTPField] = [],
        body: String = ""
    ) -> HTTPRequest {
        var request = HTTPRequest(method: method, path: path, query: query)
        request.headers = [HTTPField("host", "h")] + headers
        if !body.isEmpty { request.headers.append(HTTPField("content-length", "\(body.utf8.count)")) }
        request.body = Array(body.utf8)
        return request
    }

    /// The request before its body has come.
    var withoutBody: HTTPRequest {
        var request = self
        request.body = []
        return request
    }
}

extension HTTPStatus {
    var number: Int { Int(rawValue.prefix { $0 != " " }) ?? 0 }

    init?(number: Int) {
        guard let status = HTTPStatus.allCases.first(where: { $0.number == number }) else { return nil }
        self = status
    }
}
