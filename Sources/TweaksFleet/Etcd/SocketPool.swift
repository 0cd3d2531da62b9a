// Keeps connections that are idle, and knows the requests that are under way.

internal import Synchronization
import TweaksSystem

/// The connections of one client.
final class SocketPool: Sendable {
    /// Beyond these, connections are closed when their answer is complete.
    private static let maxIdle = 4

    private struct State {
        var idle: [String: [Int32]] = [:]
        var exchanges: [ObjectIdentifier: SocketExchange] = [:]
        var isClosed = false
    }

    private let state = Mutex(State())

    deinit { close() }

    /// A connection that is idle, or a new one.
    func socket(for address: EtcdAddress) throws(EtcdTransportError) -> Int32 {
        while let socket = state.withLock({ $0.idle[address.authority]?.popLast() }) {
            // etcd was started again since, or there was a proxy that has closed it.
            if !EtcdSocket.isStale(socket) { return socket }
            TweaksSystem.close(socket)
        }
        return try EtcdSocket.connect(address)
    }

    /// Takes a connection back.
    func keep(_ socket: Int32, for address: EtcdAddress) {
        let isKept = state.withLock { state in
            guard !state.isClosed, state.idle[address.authority, default: []].count < Self.maxIdle else { return false }
            state.idle[address.authority, default: []].append(socket)
            return true
        }
        if !isKept { TweaksSystem.close(socket) }
    }

    /// - Returns: Whether a request may begin.
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

    /// Ends everything.
    func close() {
        let old = state.withLock { state in
            defer { state = State(isClosed: true) }
            return state
        }
        for exchange in old.exchanges.values { exchange.fail("the client is closed") }
        for socket in old.idle.values.joined() { TweaksSystem.close(socket) }
    }
}
