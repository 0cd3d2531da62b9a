// A running clock that a test can put forward, for tests of server timeouts.

import Synchronization
package import Tweaks
package import TweaksServer

/// The continuous clock plus an offset. A test jumps past a timeout at once, so that only what has to expire does, even
/// on a slow machine.
package final class OffsetClock: Sendable {
    private let offset = Mutex(Duration.zero)

    package init() {}

    package var now: Moment { .now + offset.withLock { $0 } }

    /// Advances the clock and wakes a server that uses it.
    package func advance(by duration: Duration, _ server: TweakServer) {
        offset.withLock { $0 += duration }
        server.wake()
    }
}
