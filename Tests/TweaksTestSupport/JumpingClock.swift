// A clock that goes by itself, and that a test puts forward, for servers whose patience is under test.

import Synchronization
package import TweaksServer

/// Time that passes, and hours of it at once where a test wants them: what has to be late is, and nothing else, however
/// slow the machine.
package final class JumpingClock: Sendable {
    private let ahead = Mutex(Duration.zero)

    package init() {}

    package var now: ContinuousClock.Instant { .now + ahead.withLock { $0 } }

    /// Lets so much time pass for a server that goes by this clock.
    package func advance(by duration: Duration, _ server: TweakServer) {
        ahead.withLock { $0 += duration }
        server.wake()
    }
}
