// Cancels work that runs off the I/O thread when its session ends or loses rights.

import Synchronization
import Tweaks

/// A flag that tells background work whether its session may still have the result.
final class CancellationFlag: Sendable {
    private let isOver = Atomic(false)
    private let isRevoked = Atomic(false)

    /// Cancels because the session lost the rights behind the work: the result must not be sent either.
    func revoke() {
        isRevoked.store(true, ordering: .releasing)
        end()
    }

    /// Cancels because the session has ended. Work that has begun still gets its reply; no more begins.
    func end() { isOver.store(true, ordering: .releasing) }

    /// The reason not to begin or continue; nil while work may go on.
    var refusal: TweakError? {
        if let secrecy { return secrecy }
        return isOver.load(ordering: .acquiring) ? TweakError(.closing, "the session was ended before this began") : nil
    }

    /// The error that replaces the result; nil while the result may be sent.
    var secrecy: TweakError? {
        isRevoked.load(ordering: .acquiring)
            ? TweakError(.denied, "your rights have changed while this was under way; check its effect") : nil
    }
}
