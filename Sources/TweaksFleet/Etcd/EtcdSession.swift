// Remembers which endpoint works, and the token that etcd gave.

internal import Synchronization

/// What a client knows from one call to the next.
final class EtcdSession: Sendable {
    enum Token: Hashable, Sendable {
        case unknown
        /// etcd asks nobody who they are.
        case notNeeded
        case token(String)
    }

    private struct State {
        var current = 0
        var token = Token.unknown
    }

    private let endpoints: Int
    private let state = Mutex(State())

    init(endpoints: Int) { self.endpoints = endpoints }

    /// All endpoints once, the one that worked last first.
    var order: [Int] {
        let current = state.withLock { $0.current }
        return (0..<endpoints).map { (current + $0) % endpoints }
    }

    /// The next one is asked first from now on. Nothing changes where another call has left this one already.
    func leave(_ endpoint: Int) {
        state.withLock { state in
            if state.current == endpoint { state.current = (endpoint + 1) % endpoints }
        }
    }

    var token: Token { state.withLock { $0.token } }

    func keep(_ token: Token) { state.withLock { $0.token = token } }

    /// Nothing changes where another call has a new one already.
    func forget(_ token: Token) {
        state.withLock { state in
            if state.token == token { state.token = .unknown }
        }
    }
}
