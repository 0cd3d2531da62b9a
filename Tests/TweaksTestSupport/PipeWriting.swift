// Writes to a child process that may have ended, without ending the tests by SIGPIPE.

import Foundation

extension FileHandle {
    /// Writes text until the reader closes its end. SIGPIPE is blocked on this thread and dropped.
    /// - Returns: Whether all was written.
    @discardableResult
    package func writeUnlessBroken(_ text: String) -> Bool {
        var (pipes, before, pending) = (sigset_t(), sigset_t(), sigset_t())
        sigemptyset(&pipes)
        sigaddset(&pipes, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &pipes, &before)
        let isWritten = (try? write(contentsOf: Data(text.utf8))) != nil
        sigpending(&pending)
        var number: Int32 = 0
        if sigismember(&pending, SIGPIPE) == 1 { sigwait(&pipes, &number) }
        pthread_sigmask(SIG_SETMASK, &before, nil)
        return isWritten
    }
}
