// Stores which endpoint works, and the current authentication token.

internal import Synchronization

/// The state that a client keeps between calls.
final class EtcdSession: Sendable {
    enum Token: Hashable, Sendable {
        case notRequested
        /// etcd does not require authentication.
        case notNeeded
        case token(String)
    }

    private struct State {
        var current = 0
        var token = Token.notRequested
    }

    private let endpoints: Int
    private let state = Mutex(State())

    init(endpoints: Int) { self.endpoints = endpoints }

    /// The indexes of all endpoints, starting with the one that worked last.
    var order: [Int] {
        let current = state.withLock { $0.current }
        return (0..<endpoints).map { (current + $0) % endpoints }
    }

    /// Makes the next endpoint the preferred one. Does nothing if another call has already left this one.
    func skip(_ endpoint: Int) {
        state.withLock { state in
            if state.current == endpoint { state.current = (endpoint + 1) % endpoints }
        }
    }

    var token: Token { state.withLock { $0.token } }

    func store(_ token: Token) { state.withLock { $0.token = token } }

    /// Discards a rejected token. Does nothing if another call has already stored a new one.
    func discard(_ token: Token) {
        state.withLock { state in
            if state.token == token { state.token = .notRequested }
        }
    }
}
