// The right to work that is done beside the I/O thread: it may end before the work has begun.

import Synchronization
import Tweaks

/// Says whether a session may still have what it has asked for.
final class WorkPermit: Sendable {
    private let isOver = Atomic(false)
    private let isRevoked = Atomic(false)

    /// The rights that it goes back to have ended: nothing of it is to be told, either.
    func revoke() {
        isRevoked.store(true, ordering: .releasing)
        end()
    }

    /// The session has ended. What has begun is told it; nothing more begins.
    func end() { isOver.store(true, ordering: .releasing) }

    /// Why not to begin, or to go on; nil while all is well.
    var refusal: TweakError? {
        if let secrecy { return secrecy }
        return isOver.load(ordering: .acquiring) ? TweakError(.closing, "the session was ended before this began") : nil
    }

    /// What to answer instead of what came of it; nil while that may be told.
    var secrecy: TweakError? {
        isRevoked.load(ordering: .acquiring)
            ? TweakError(.denied, "your rights have changed while this was under way; look at what became of it") : nil
    }
}
