// Provides a transport that records requests and replies as a test specifies.

import Synchronization

@testable import TweaksFleet

/// A transport without a network.
final class ScriptedTransport: EtcdTransport {
    struct Request: Hashable, Sendable {
        /// `http://a`.
        var endpoint: String
        /// The part after `/v3/`.
        var path: String
        var body: String
        var headers: [String: String]
    }

    enum Reply: Sendable {
        case answer(Int, String)
        case failure(EtcdError, mayHaveTakenEffect: Bool)
    }

    typealias Stream = AsyncThrowingStream<EtcdTransportPart, any Error>

    private let reply: @Sendable (Request) -> Reply
    private let open: @Sendable (Request, Stream.Continuation) -> Void
    private let log: Mutex<[Request]> = Mutex([])

    /// - Parameter open: Starts a stream; it may keep the continuation.
    init(
        reply: @escaping @Sendable (Request) -> Reply = { _ in .answer(200, "{}") },
        open: @escaping @Sendable (Request, Stream.Continuation) -> Void = { $1.finish() }
    ) { (self.reply, self.open) = (reply, open) }

    var requests: [Request] { log.withLock { $0 } }
    /// The hosts of all requests, in order: `a b a`.
    var endpoints: String { requests.map { String($0.endpoint.dropFirst(7)) }.joined(separator: " ") }

    private func record(_ url: String, _ body: [UInt8], _ headers: [String: String]) -> Request {
        let parts = url.split(separator: "/v3/", maxSplits: 1).map(String.init)
        let request = Request(
            endpoint: parts[0], path: parts[1], body: String(decoding: body, as: UTF8.self), headers: headers)
        log.withLock { $0.append(request) }
        return request
    }

    func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        switch reply(record(url, body, headers)) {
        case .answer(let status, let text): return (status, utf8(text))
        case .failure(let error, let isUncertain): throw EtcdTransportError(error, mayHaveTakenEffect: isUncertain)
        }
    }

    func stream(_ url: String, _ body: [UInt8], headers: [String: String]) -> Stream {
        let (stream, continuation) = Stream.makeStream()
        open(record(url, body, headers), continuation)
        return stream
    }

    func close() {}
}

extension ScriptedTransport.Stream.Continuation {
    /// Sends a status and the parts of a body.
    func send(_ status: Int = 200, _ texts: String...) {
        yield(.status(status))
        for text in texts { yield(.bytes(utf8(text))) }
    }
}
