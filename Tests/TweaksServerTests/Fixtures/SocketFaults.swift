// Injects faults into the system calls of a server.

import Foundation
import Synchronization
import TweaksServer
import TweaksTestSupport

/// Makes system calls fail by a plan.
final class SocketFaults: FaultInjector {
    /// The outcome of one call.
    enum Outcome {
        /// That of the system.
        case real
        /// At most a number of bytes or events.
        case atMost(Int)
        /// It fails with this error.
        case fails(Int32)
        /// No bytes or events.
        case none
    }

    typealias Plan = @Sendable (_ call: SystemCall, _ number: Int) -> Outcome

    // A structure: a bare function in a Mutex is wrapped once more each time it is looked at.
    private struct State {
        var plan: Plan?
        var calls: [SystemCall: Int] = [:]
    }

    private let state: Mutex<State>

    /// - Parameter plan: The outcome of each call, by its kind and its number among those of its kind, from 1.
    init(_ plan: Plan? = nil) { state = Mutex(State(plan: plan)) }

    /// Changes the plan; nil: no faults.
    func plan(_ plan: Plan?) { state.withLock { $0 = State(plan: plan) } }

    func make(_ call: SystemCall, on descriptor: Int32, count: Int, _ body: (Int) -> Int) -> Int {
        let outcome = state.withLock { state -> Outcome in
            guard let plan = state.plan else { return .real }
            state.calls[call, default: 0] += 1
            return plan(call, state.calls[call, default: 0])
        }
        switch outcome {
        case .real: return body(count)
        case .atMost(let most): return body(min(count, most))
        case .fails(let code): return -Int(code)
        case .none: return 0
        }
    }
}

extension SocketFaults {
    /// Random faults, the same for the same seed. Most are transient; one in `rarity` breaks a connection.
    convenience init(seed: UInt64, rarity: UInt64) {
        let random = SharedGenerator(seed)
        self.init { call, _ in
            let (number, other) = (random.next(), random.next())
            switch call {
            case .receive, .send:
                if number % rarity == 0 { return .fails(call == .send ? EPIPE : ECONNRESET) }
                switch number % 7 {
                case 0: return .fails(EAGAIN)
                case 1: return .fails(EINTR)
                case 2...4: return .atMost(Int(1 + other % 40))
                default: return .real
                }
            case .wait: return [.none, .fails(EINTR), .atMost(1), .real, .real][Int(number % 5)]
            case .accept:
                let codes = [EMFILE, ENFILE, ENOMEM, ENOBUFS, ECONNABORTED, EINTR, EPERM]
                return number % 4 == 0 ? .fails(codes[Int(other % 7)]) : .real
            case .watch: return number % rarity == 0 ? .fails(ENOMEM) : .real
            case .shutdown: return number % 8 == 0 ? .fails(ENOTCONN) : .real
            }
        }
    }
}

/// A generator for several threads.
private final class SharedGenerator: Sendable {
    private let generator: Mutex<SeededGenerator>

    init(_ seed: UInt64) { generator = Mutex(SeededGenerator(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }
}
