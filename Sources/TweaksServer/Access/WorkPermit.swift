// The right to work that is done beside the I/O thread: it may end before the work has begun.

import Synchronization
import Tweaks

/// Says whether a session may still have what it has asked for.
final class WorkPermit: Sendable {
    private let isRevoked = Atomic(false)

    /// The rights that it goes back to have ended.
    func revoke() { isRevoked.store(true, ordering: .releasing) }

    /// What to answer instead; nil while all is well.
    var refusal: TweakError? {
        isRevoked.load(ordering: .acquiring)
            ? TweakError(.denied, "your rights have changed while this was under way; look at what became of it") : nil
    }
}
