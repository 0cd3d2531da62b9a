// Plays etcd to a client: each request is answered as a test has it, and remembered.

import Synchronization
import Tweaks

@testable import TweaksFleet

/// A transport without a network.
final class ScriptedTransport: EtcdTransport {
    struct Request: Hashable, Sendable {
        /// `http://a/v3/` and what is asked there.
        var endpoint: String
        var path: String
        var body: String
        var headers: [String: String]
    }

    enum Reply: Sendable {
        case answer(Int, String)
        case failure(EtcdError, mayBeDone: Bool)
    }

    typealias Stream = AsyncThrowingStream<EtcdTransportPart, any Error>

    private let reply: @Sendable (Request) -> Reply
    private let open: @Sendable (Request, Stream.Continuation) -> Void
    private let asked: Mutex<[Request]> = Mutex([])

    /// - Parameter open: Begins a stream, and may keep its continuation.
    init(
        reply: @escaping @Sendable (Request) -> Reply = { _ in .answer(200, "{}") },
        open: @escaping @Sendable (Request, Stream.Continuation) -> Void = { $1.finish() }
    ) { (self.reply, self.open) = (reply, open) }

    var requests: [Request] { asked.withLock { $0 } }
    /// Which endpoints were asked, in their order: `a b a`.
    var endpoints: String { requests.map { String($0.endpoint.dropFirst(7)) }.joined(separator: " ") }

    private func note(_ url: String, _ body: [UInt8], _ headers: [String: String]) -> Request {
        let parts = url.split(separator: "/v3/", maxSplits: 1)
        let request = Request(
            endpoint: String(parts[0]), path: String(parts.last ?? ""), body: String(decoding: body, as: UTF8.self),
            headers: headers)
        asked.withLock { $0.append(request) }
        return request
    }

    func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        switch reply(note(url, body, headers)) {
        case .answer(let status, let text): return (status, utf8(text))
        case .failure(let error, let mayBeDone): throw EtcdTransportError(error, mayBeDone: mayBeDone)
        }
    }

    func stream(_ url: String, _ body: [UInt8], headers: [String: String]) -> Stream {
        let (stream, continuation) = Stream.makeStream()
        open(note(url, body, headers), continuation)
        return stream
    }

    func close() {}
}

extension ScriptedTransport.Stream.Continuation {
    /// Sends the status of an answer, and texts.
    func send(_ status: Int = 200, _ texts: String...) {
        yield(.status(status))
        for text in texts { yield(.bytes(utf8(text))) }
    }
}
