// Keeps idle connections and the requests in progress.

internal import Synchronization
import TweaksSystem

/// The connections of one client.
final class SocketPool: Sendable {
    /// The maximum number of idle connections for each endpoint; others are closed after their response.
    private static let maxIdle = 4

    private struct State {
        var idle: [String: [Int32]] = [:]
        var exchanges: [ObjectIdentifier: SocketExchange] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    deinit { close() }

    /// Returns an idle connection or opens a new one.
    func socket(for address: EtcdAddress) throws(EtcdTransportError) -> Int32 {
        while let socket = state.withLock({ $0.idle[address.authority]?.popLast() }) {
            // Skip connections that a restarted etcd or a proxy has closed.
            if !EtcdSocket.isStale(socket) { return socket }
            TweaksSystem.close(socket)
        }
        return try EtcdSocket.connect(address)
    }

    /// Returns a connection to the pool.
    func keep(_ socket: Int32, for address: EtcdAddress) {
        let isKept = state.withLock { state in
            guard !state.isClosed, state.idle[address.authority, default: []].count < Self.maxIdle else { return false }
            state.idle[address.authority, default: []].append(socket)
            return true
        }
        if !isKept { TweaksSystem.close(socket) }
    }

    /// Registers a request.
    /// - Returns: False after the pool is closed.
    func begin(_ exchange: SocketExchange) -> Bool {
        state.withLock { state in
            if state.isClosed { return false }
            state.exchanges[ObjectIdentifier(exchange)] = exchange
            return true
        }
    }

    func end(_ exchange: SocketExchange) {
        state.withLock { _ = $0.exchanges.removeValue(forKey: ObjectIdentifier(exchange)) }
    }

    /// Fails all requests and closes all connections.
    func close() {
        let old = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state
        }
        for exchange in old.exchanges.values { exchange.fail("the client is closed") }
        for socket in old.idle.values.joined() { TweaksSystem.close(socket) }
    }
}
