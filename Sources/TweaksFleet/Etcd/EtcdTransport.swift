// Sends requests to etcd over plain sockets and those of a connector, without proxies, redirects, cookies or caches.

internal import Dispatch
internal import Synchronization
import Tweaks
import TweaksSystem

/// Sends requests to an endpoint and returns its replies.
package protocol EtcdTransport: Sendable {
    /// Sends a request and returns the complete reply.
    /// - Parameter timeout: The time limit for the whole exchange.
    func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8])

    /// Sends a request and streams the reply: a status, then bytes. The stream may end by throwing
    /// ``EtcdTransportError``. Canceling the task that reads it closes the connection.
    func stream(
        _ url: String, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error>

    /// Closes all connections. Later requests fail.
    func close()
}

/// A part of a reply.
package enum EtcdTransportPart: Hashable, Sendable {
    case status(Int)
    case bytes([UInt8])
}

/// The reason why there is no complete reply.
package struct EtcdTransportError: Error, Hashable, Sendable {
    package var error: EtcdError
    /// The request may have arrived and been applied.
    package var mayHaveTakenEffect: Bool

    init(_ error: EtcdError, mayHaveTakenEffect: Bool) {
        self.error = error
        self.mayHaveTakenEffect = mayHaveTakenEffect
    }
}

// MARK: - Sockets

/// A minimal HTTP/1.1 client. On Linux, Foundation's URLSession crashes on responses with trailers, which every etcd
/// error has, and it would use the proxies set in environment variables.
final class SocketTransport: EtcdTransport {
    /// The size limit of a reply; a page of a hundred values of 64 KiB in base64 takes about half of it.
    static let maxBody = 16 << 20
    /// The maximum number of parts, of at most 64 KiB each, buffered for the reader of a stream.
    private static let maxParts = 64
    /// The maximum number of idle connections for each endpoint; others are closed after their response.
    private static let maxIdle = 4
    /// The time limit of connecting to each address of a host, in milliseconds.
    private static let connectTimeout: Int32 = 5_000

    private struct State {
        /// By the origins of their URLs.
        var idle: [String: [Int32]] = [:]
        var exchanges: [ObjectIdentifier: SocketExchange] = [:]
        var isClosed = false
    }

    private let connector: (any EtcdConnector)?
    private let state = Mutex(State())

    /// - Parameter connector: What connects to URLs with `https://`.
    init(connector: (any EtcdConnector)? = nil) { self.connector = connector }

    deinit { close() }

    func post(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration
    ) async throws(EtcdTransportError) -> (status: Int, body: [UInt8]) {
        var status = 0
        var reply: [UInt8] = []
        do {
            for try await part in open(url, body, headers: headers, timeout: timeout) {
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

    func stream(
        _ url: String, _ body: [UInt8], headers: [String: String]
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> { open(url, body, headers: headers, timeout: nil) }

    /// Fails all requests and closes all connections.
    func close() {
        let old = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state
        }
        for exchange in old.exchanges.values { exchange.fail("the client is closed") }
        for socket in old.idle.values.joined() { TweaksSystem.close(socket) }
    }

    // MARK: One request

    private func open(
        _ url: String, _ body: [UInt8], headers: [String: String], timeout: Duration?
    ) -> AsyncThrowingStream<EtcdTransportPart, any Error> {
        // A reply is limited as a whole; a stream waits for its reader.
        let isStream = timeout == nil
        let (parts, continuation) = AsyncThrowingStream.makeStream(
            of: EtcdTransportPart.self, bufferingPolicy: isStream ? .bufferingOldest(Self.maxParts) : .unbounded)
        guard let address = EtcdAddress(url) else {
            continuation.finish(throwing: Self.unsent("\(url) is not a URL with http:// or https://"))
            return parts
        }
        let exchange = SocketExchange(
            address, Self.request(address, body, headers: headers), maxBody: isStream ? nil : Self.maxBody,
            continuation)
        guard begin(exchange) else {
            continuation.finish(throwing: Self.unsent("the client is closed"))
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
        DispatchQueue(label: "tweaks.fleet.etcd").async { self.run(exchange) }
        return parts
    }

    private static func request(_ address: EtcdAddress, _ body: [UInt8], headers: [String: String]) -> [UInt8] {
        var lines = [
            "POST \(address.path) HTTP/1.1", "Host: \(address.authority)", "User-Agent: tweaks-fleet",
            "Accept: application/json", "Content-Length: \(body.count)",
        ]
        if headers["Content-Type"] == nil { lines.append("Content-Type: application/json") }
        for (name, value) in headers { lines.append("\(name): \(value)") }
        return Array(lines.joined(separator: "\r\n").utf8) + Array("\r\n\r\n".utf8) + body
    }

    private static func unsent(_ text: String) -> EtcdTransportError {
        EtcdTransportError(.unreachable(text), mayHaveTakenEffect: false)
    }

    /// Registers a request.
    /// - Returns: False after the transport is closed.
    private func begin(_ exchange: SocketExchange) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return true
        }
    }

    /// Runs a request until its response is complete or has failed.
    private func run(_ exchange: SocketExchange) {
        defer { state.withLock { _ = $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) } }
        do throws(EtcdTransportError) {
            if exchange.isCancelled { return }
            let socket = try socket(for: exchange.address)
            let (problem, isReusable) = exchange.run(on: socket)
            // Before the reader goes on, so that its next request finds the connection.
            if isReusable {
                keep(socket, for: exchange.address)
            } else {
                TweaksSystem.close(socket)
            }
            exchange.finish(problem.map { EtcdTransportError($0, mayHaveTakenEffect: true) })
        } catch {
            exchange.finish(error)
        }
    }

    // MARK: Connections

    /// Returns an idle connection or opens a new one.
    private func socket(for address: EtcdAddress) throws(EtcdTransportError) -> Int32 {
        while let socket = state.withLock({ $0.idle[address.origin]?.popLast() }) {
            // Skip connections that a restarted etcd or a proxy has closed.
            if !Self.isStale(socket) { return socket }
            TweaksSystem.close(socket)
        }
        let socket = address.isSecure ? try secureSocket(for: address) : try Self.plainSocket(for: address)
        // The socket of a connector may be another kind, which has no such option.
        Self.detectDeadPeer(of: socket)
        return socket
    }

    private static func plainSocket(for address: EtcdAddress) throws(EtcdTransportError) -> Int32 {
        do throws(SocketError) {
            return try Sockets.connect(
                host: address.host, port: String(address.port), milliseconds: connectTimeout)
        } catch {
            throw unsent(
                error.code == 0 ? "\(address.host) has no address: \(error.text)" : "cannot connect: \(error.text)")
        }
    }

    /// Has the connector open a connection; its text may be a peer's.
    private func secureSocket(for address: EtcdAddress) throws(EtcdTransportError) -> Int32 {
        guard let connector else { throw Self.unsent("\(address.origin) needs a connector") }
        let socket: Int32
        do {
            socket = try connector.connect(host: address.host, port: Int(address.port))
        } catch {
            throw Self.unsent("cannot connect: \(Quoting.sanitized("\(error)"))")
        }
        if Self.adopt(socket) { return socket }
        // It is the package's in any case.
        if socket >= 0 { TweaksSystem.close(socket) }
        throw Self.unsent("the connector returned \(socket), which is not a stream socket")
    }

    #if canImport(Darwin)
        private static let streamKind = SOCK_STREAM
    #else
        private static let streamKind = Int32(SOCK_STREAM.rawValue)
    #endif

    /// Prepares a socket that other code has opened: calls wait, children do not inherit it, nothing raises SIGPIPE.
    /// - Returns: False for anything else than the descriptor of a socket.
    private static func adopt(_ socket: Int32) -> Bool {
        var kind: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(socket, SOL_SOCKET, SO_TYPE, &kind, &length) == 0, kind == Self.streamKind else {
            return false
        }
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) & ~O_NONBLOCK)
        #if canImport(Darwin)
            Sockets.set(socket, level: SOL_SOCKET, SO_NOSIGPIPE, to: 1)
        #endif
        return true
    }

    /// Returns a connection to the pool.
    private func keep(_ socket: Int32, for address: EtcdAddress) {
        let isKept = state.withLock { state in
            guard !state.isClosed, state.idle[address.origin, default: []].count < Self.maxIdle else { return false }
            state.idle[address.origin, default: []].append(socket)
            return true
        }
        if !isKept { TweaksSystem.close(socket) }
    }

    /// Whether an idle connection has been closed or has received unexpected data.
    private static func isStale(_ socket: Int32) -> Bool {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) != 0
    }

    /// Sends keepalive probes that detect a dead connection within a minute.
    private static func detectDeadPeer(of socket: Int32) {
        #if canImport(Darwin)
            let idle = TCP_KEEPALIVE
        #else
            let idle = TCP_KEEPIDLE
        #endif
        Sockets.set(socket, level: Int32(IPPROTO_TCP), idle, to: 30)
        Sockets.set(socket, level: Int32(IPPROTO_TCP), TCP_KEEPINTVL, to: 10)
        Sockets.set(socket, level: Int32(IPPROTO_TCP), TCP_KEEPCNT, to: 3)
    }
}

/// A request in progress. It runs on a thread that blocks on the socket; any thread can cancel it.
private final class SocketExchange: Sendable {
    typealias Continuation = AsyncThrowingStream<EtcdTransportPart, any Error>.Continuation

    private struct State {
        var socket: Int32?
        var isCancelled = false
    }

    let address: EtcdAddress
    private let request: [UInt8]
    private let maxBody: Int?
    private let continuation: Continuation
    private let state = Mutex(State())

    /// - Parameter maxBody: The size limit of the reply; nil for a stream without an end.
    init(_ address: EtcdAddress, _ request: [UInt8], maxBody: Int?, _ continuation: Continuation) {
        self.address = address
        self.request = request
        self.maxBody = maxBody
        self.continuation = continuation
    }

    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Wakes the thread by shutting down the socket. Only the thread closes it, so the descriptor cannot be reused
    /// meanwhile.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            if let socket = state.socket { shutdown(socket, Int32(SHUT_RDWR)) }
        }
    }

    /// Ends the request with an error; it may have arrived at the server.
    func fail(_ text: String) {
        continuation.finish(throwing: EtcdTransportError(.unreachable(text), mayHaveTakenEffect: true))
        cancel()
    }

    /// Ends the stream. A canceled reader gets its end without an error: closing the connection was intended.
    func finish(_ error: EtcdTransportError?) { continuation.finish(throwing: isCancelled ? nil : error) }

    /// Sends the request and delivers the response.
    /// - Returns: The error, if any, and whether the connection can be used again.
    func run(on socket: Int32) -> (problem: EtcdError?, isReusable: Bool) {
        let begins = state.withLock { state in
            if !state.isCancelled { state.socket = socket }
            return !state.isCancelled
        }
        guard begins else { return (nil, false) }
        var reader = HTTPResponseReader()
        let problem = exchange(socket, &reader)
        let isCancelled = state.withLock { state in
            state.socket = nil
            return state.isCancelled
        }
        return (problem, problem == nil && !isCancelled && reader.keepsConnection)
    }

    /// - Returns: The error, if any.
    private func exchange(_ socket: Int32, _ reader: inout HTTPResponseReader) -> EtcdError? {
        guard Sockets.send(request, to: socket) else { return .unreachable("cannot send: \(errorText())") }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var size = 0
        do throws(EtcdError) {
            while !reader.isComplete {
                let count = recv(socket, &buffer, buffer.count, 0)
                if count < 0, errno == EINTR { continue }
                if count < 0 { return .unreachable("the connection is lost: \(errorText())") }
                if count == 0 { try reader.end() }
                for part in try reader.append(buffer.prefix(count)) {
                    if case .bytes(let bytes) = part { size += bytes.count }
                    if let maxBody, size > maxBody {
                        return .tooLarge("an answer of more than \(maxBody) bytes; \(EtcdReplies.remedy)")
                    }
                    deliver(part)
                }
            }
            return nil
        } catch {
            return error
        }
    }

    /// The pause before a part is offered again. The stream does not tell when its reader took one; meanwhile TCP
    /// slows the server down.
    private static let pause: UInt32 = 2_000

    private func deliver(_ part: EtcdTransportPart) {
        while case .dropped = continuation.yield(part) {
            if isCancelled { return }
            usleep(Self.pause)
        }
    }
}
