// Blocks a thread until overrides are saved, for callers without async.

import Dispatch
import Synchronization
public import Tweaks

extension TweakRegistry {
    /// Blocks the thread until the disk holds every override that was set before the call. Without storage it returns
    /// at once. Where `await` is possible, use ``Tweaks/TweakRegistry/saved()``.
    /// - Throws: `TweakError` with code `io` if the write fails. The value stays in effect, and the write is retried.
    public func waitUntilSaved() throws(TweakError) {
        guard let store else { return }
        let revision = revision
        let answer = Answer()
        let semaphore = DispatchSemaphore(value: 0)
        store.whenAttempted(revision) { failure in
            answer.failure.withLock { $0 = failure }
            semaphore.signal()
        }
        semaphore.wait()
        if let failure = answer.failure.withLock({ $0 }) {
            throw TweakError(.io, "revision \(revision) is not saved: \(failure)")
        }
    }
}

/// The storage's result, passed to the waiting thread.
private final class Answer: Sendable {
    let failure = Mutex<String?>(nil)
}
