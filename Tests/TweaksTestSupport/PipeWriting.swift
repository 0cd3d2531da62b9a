// Writing to a program that may have ended: that must not end the tests.

import Foundation

extension FileHandle {
    /// Writes what the reader still takes. SIGPIPE, which would end this process, is kept on this thread and dropped.
    /// - Returns: Whether it took all.
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
