// Carries requests to etcd over plain TCP. URLSession on Linux (Swift 6.3) ends the process at an answer with trailers, which
// all errors of etcd 3.4 have, and hangs where a kept connection ends beneath a request.

import Synchronization
import TweaksSystem

/// HTTP/1.1 without TLS: a connection and a thread for each request.
package final class SocketTransport: EtcdTransport {
    private struct State {
        var isClosed = false
        var open: [ObjectIdentifier: SocketExchange] = [:]
    }

    /// More bytes than any answer of a fleet has.
    static let mostBytes = 80 << 20
    /// So many parts wait for a reader.
    private static let mostParts = 8_192

    private let state = Mutex(State())

    package init() {}

    deinit { close() }

    package func close() {
        let open = state.withLock { state in
            defer { (state.isClosed, state.open) = (true, [:]) }
            return Array(state.open.values)
        }
        for exchange in open { exchange.cancel() }
    }

    package func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        var (status, answer): (Int, [UInt8]) = (0, [])
        do {
            for try await part in open(url, body, headers, timeout) {
                switch part {
                case .status(let code): status = code
                case .bytes(let bytes): answer += bytes
                }
                if answer.count > Self.mostBytes {
                    let text = "an answer of more than \(Self.mostBytes) bytes"
                    throw EtcdTransportError(.tooLarge(text), mayBeDone: true)
                }
            }
        } catch {
            let other = EtcdTransportError(.unreachable("\(error)"), mayBeDone: true)
            throw error as? EtcdTransportError ?? other
        }
        if Task.isCancelled { throw EtcdTransportError(.cancelled, mayBeDone: true) }
        guard status != 0 else { throw EtcdTransportError(.unreachable("no answer"), mayBeDone: true) }
        return (status, answer)
    }

    package func stream(
        _ url: String, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> { open(url, body, headers, nil) }

    private func open(
        _ url: String, _ body: [UInt8], _ headers: [String: String], _ timeout: Duration?
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> {
        let (parts, continuation) = AsyncThrowingStream.makeStream(
            of: EtcdTransportPart.self, bufferingPolicy: .bufferingOldest(Self.mostParts))
        let exchange = SocketExchange(timeout.map { ContinuousClock.now.advanced(by: $0) })
        let isOpen = state.withLock { state in
            if !state.isClosed { state.open[ObjectIdentifier(exchange)] = exchange }
            return !state.isClosed
        }
        guard isOpen, let place = HTTPPlace(url) else {
            let text = isOpen ? "\(url) is not a URL" : "the client is closed"
            continuation.finish(throwing: EtcdTransportError(.unreachable(text), mayBeDone: false))
            return parts
        }
        continuation.onTermination = { [weak self] _ in
            exchange.cancel()
            self?.forget(exchange)
        }
        let request = place.request(body, headers)
        SystemThread.start("tweaks-etcd") {
            do throws(EtcdTransportError) {
                try exchange.run(place, request) { part in
                    if case .dropped = continuation.yield(part) { false } else { true }
                }
                continuation.finish()
            } catch {
                continuation.finish(throwing: error)
            }
        }
        return parts
    }

    private func forget(_ exchange: SocketExchange) {
        state.withLock { state in state.open[ObjectIdentifier(exchange)] = nil }
    }
}

/// Where a URL leads: `http://HOST[:PORT]/PATH`.
package struct HTTPPlace: Hashable, Sendable {
    package let host: String
    package let port: String
    package let path: String

    package init?(_ url: String) {
        guard url.hasPrefix("http://") else { return nil }
        let rest = url.dropFirst(7)
        let authority = rest.prefix { $0 != "/" }
        path = authority.count == rest.count ? "/" : String(rest.dropFirst(authority.count))
        var name = authority
        if let colon = authority.lastIndex(of: ":"), !authority[colon...].contains("]") {
            (name, port) = (authority[..<colon], String(authority[authority.index(after: colon)...]))
        } else {
            port = "80"
        }
        if name.hasPrefix("["), name.hasSuffix("]") { name = name.dropFirst().dropLast() }
        guard !name.isEmpty, UInt16(port) != nil, path.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F }) else { return nil }
        host = String(name)
    }

    /// The bytes of a POST. The connection ends with its answer.
    func request(_ body: [UInt8], _ headers: [String: String]) -> [UInt8] {
        let name = host.contains(":") ? "[\(host)]" : host
        var lines = [
            "POST \(path) HTTP/1.1", "Host: \(name):\(port)", "Content-Type: application/json", "Connection: close",
            "Content-Length: \(body.count)",
        ]
        // A token comes from etcd, and must not become a header of its own.
        for (name, value) in headers where value.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }) {
            lines.append("\(name): \(value)")
        }
        return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
    }
}
