// Keeps whoever fails again and again from filling a log.

import Dispatch
import Synchronization

/// Lets so many lines of failures pass in a second, and then says how many there were more.
final class LogGate: Sendable {
    private struct State {
        /// When the second began; nil: none runs.
        var begunAt: ContinuousClock.Instant?
        var passed = 0
        var held = 0
    }

    private static let mostPerSecond = 10

    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "tweaks.log")
    private let write: @Sendable (String) -> Void

    /// - Parameter write: Writes a line; also from a queue of this gate's.
    init(_ write: @escaping @Sendable (String) -> Void) { self.write = write }

    /// Writes a line of a failure, or counts it.
    func pass(_ line: String, at now: ContinuousClock.Instant = .now) {
        let (left, mayPass, isFirstHeld) = state.withLock { state in
            let left = Self.begin(&state, now)
            let mayPass = state.passed < Self.mostPerSecond
            if mayPass { state.passed += 1 } else { state.held += 1 }
            return (left, mayPass, state.held == 1 && !mayPass)
        }
        say(left)
        if mayPass { write(line) }
        // Else nobody would be told before the next failure, and that may be tomorrow.
        if isFirstHeld { queue.asyncAfter(deadline: .now() + 1) { [weak self] in self?.end() } }
    }

    /// Says how many were held.
    func end() {
        say(
            state.withLock { state in
                defer { state = State() }
                return state.held
            })
    }

    /// Begins a second where none runs any more.
    /// - Returns: How many were held in the last one.
    private static func begin(_ state: inout State, _ now: ContinuousClock.Instant) -> Int {
        if let begun = state.begunAt, now < begun + .seconds(1) { return 0 }
        defer { state = State(begunAt: now) }
        return state.held
    }

    private func say(_ held: Int) {
        if held > 0 { write("… and \(held) more of these") }
    }
}
