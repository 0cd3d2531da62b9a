// Sends requests to etcd over plain sockets, without proxies, redirects, cookies or caches.

internal import Dispatch

/// A minimal HTTP/1.1 client. On Linux, Foundation's URLSession crashes on responses with trailers, which every etcd
/// error has, and it would use the proxies set in environment variables.
package final class SocketTransport: EtcdTransport {
    /// The size limit of a reply; a page of a hundred values of 64 KiB in base64 takes about half of it.
    static let maxBody = 16 << 20
    /// The maximum number of parts, of at most 64 KiB each, buffered for the reader of a stream.
    private static let maxParts = 64

    private let pool = SocketPool()

    package init() {}

    deinit { pool.close() }

    package func close() { pool.close() }

    package func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        var status = 0
        var reply: [UInt8] = []
        do {
            for try await part in open(url, body, headers, timeout) {
                switch part {
                case .status(let code): status = code
                case .bytes(let bytes): reply += bytes
                }
            }
        } catch {
            throw (error as? EtcdTransportError)
                ?? EtcdTransportError(.unreachable("\(error)"), mayHaveTakenEffect: true)
        }
        // A canceled task reads the end of the stream, not an error.
        if Task.isCancelled { throw EtcdTransportError(.cancelled, mayHaveTakenEffect: true) }
        return (status, reply)
    }

    package func stream(
        _ url: String, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> { open(url, body, headers, nil) }

    // MARK: One request

    private func open(
        _ url: String, _ body: [UInt8], _ headers: [String: String], _ timeout: Duration?
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> {
        // A reply is limited as a whole; a stream waits for its reader.
        let isStream = timeout == nil
        let (parts, continuation) = AsyncThrowingStream.makeStream(
            of: EtcdTransportPart.self, bufferingPolicy: isStream ? .bufferingOldest(Self.maxParts) : .unbounded)
        guard let address = EtcdAddress(url) else {
            let error = EtcdError.unreachable("\(url) is not a URL with http://")
            continuation.finish(throwing: EtcdTransportError(error, mayHaveTakenEffect: false))
            return parts
        }
        let exchange = SocketExchange(
            address, Self.request(address, body, headers), maxBody: isStream ? nil : Self.maxBody, continuation)
        guard pool.begin(exchange) else {
            let error = EtcdError.unreachable("the client is closed")
            continuation.finish(throwing: EtcdTransportError(error, mayHaveTakenEffect: false))
            return parts
        }
        let timer = timeout.map { timeout in
            Task {
                guard (try? await Task.sleep(for: timeout)) != nil else { return }
                exchange.fail("no answer within \(timeout)")
            }
        }
        continuation.onTermination = { _ in
            timer?.cancel()
            exchange.cancel()
        }
        // A serial queue gets its own thread as soon as it has work, however many other queues are blocked.
        DispatchQueue(label: "tweaks.fleet.etcd").async { [pool] in exchange.run(pool) }
        return parts
    }

    private static func request(_ address: EtcdAddress, _ body: [UInt8], _ headers: [String: String]) -> [UInt8] {
        var lines = [
            "POST \(address.path) HTTP/1.1", "Host: \(address.authority)", "User-Agent: tweaks-fleet",
            "Accept: application/json", "Content-Type: application/json", "Content-Length: \(body.count)",
        ]
        for (name, value) in headers { lines.append("\(name): \(value)") }
        return Array(lines.joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8) + body
    }
}
