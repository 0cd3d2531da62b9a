// Tells whether a server is ready for clients, and since when its process serves them.

import Synchronization
package import Tweaks
import TweaksSystem

/// What probes and metrics say about one start of a server. A state is never left for an earlier one.
package final class Readiness: Sendable {
    /// The word that `/readyz` answers.
    package enum State: String, Sendable { case starting, ready, stopping }

    /// The time of the start, in milliseconds since 1970.
    package let startedAt: Int64
    private let began: Moment
    /// The position of the state.
    private let position: Atomic<UInt8>

    private static let states: [State] = [.starting, .ready, .stopping]

    /// - Parameter state: A server without a daemon has nothing to load, and is ready once it listens.
    package init(_ state: State = .ready, startedAt: Int64 = ThisProcess.wallClock, at now: Moment = .now) {
        self.startedAt = startedAt
        began = now
        position = Atomic(Self.position(state))
    }

    private static func position(_ state: State) -> UInt8 { UInt8(states.firstIndex(of: state) ?? 0) }

    package var state: State { Self.states[Int(position.load(ordering: .acquiring))] }

    /// Enters a state, unless a later one has been reached.
    package func reach(_ state: State) { position.max(Self.position(state), ordering: .acquiringAndReleasing) }

    /// The time since the start, in seconds.
    package func uptime(_ now: Moment = .now) -> Double { (now - began) / .seconds(1) }
}
