// Waiting for the disk without async.

import Dispatch
import Synchronization
public import Tweaks

extension TweakRegistry {
    /// Waits, blocking the thread, until the disk holds every override that was set before the call. Without storage it
    /// returns at once. Where `await` is possible, use ``Tweaks/TweakRegistry/saved()``.
    /// - Throws: `TweakError` with code `io` when the disk refuses. The value stays in effect, and the write is tried again.
    public func waitUntilSaved() throws(TweakError) {
        guard let store else { return }
        let revision = revision
        let answer = Answer()
        let semaphore = DispatchSemaphore(value: 0)
        store.whenTried(revision) { failure in
            answer.failure.withLock { $0 = failure }
            semaphore.signal()
        }
        semaphore.wait()
        if let failure = answer.failure.withLock({ $0 }) {
            throw TweakError(.io, "revision \(revision) is not saved: \(failure)")
        }
    }
}

/// What the storage said, on its way to the thread that waits.
private final class Answer: Sendable {
    let failure = Mutex<String?>(nil)
}
