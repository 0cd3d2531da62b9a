// Writes to standard error without ending the process when the reader has closed the pipe.

/// Standard error, the default destination for log lines.
package enum StandardError {
    /// Whether standard error is a terminal: the output is for a user and is not stored.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a text. Text that cannot be written is lost.
    package static func write(_ text: String) {
        if text.isEmpty { return }
        blockingBrokenPipeSignal { try? PosixFileSystem().writeAll(Array(text.utf8), to: STDERR_FILENO) }
    }

    /// Shields the process from SIGPIPE without changing its disposition, which belongs to the program: the signal is
    /// blocked on this thread during the write, and consumed if it was raised.
    private static func blockingBrokenPipeSignal(_ body: () -> Void) {
        var blocked = sigset_t()
        sigemptyset(&blocked)
        sigaddset(&blocked, SIGPIPE)
        var previousMask = sigset_t()
        pthread_sigmask(SIG_BLOCK, &blocked, &previousMask)
        body()
        var pending = sigset_t()
        sigpending(&pending)
        if sigismember(&previousMask, SIGPIPE) == 0, sigismember(&pending, SIGPIPE) == 1 {
            var signal: Int32 = 0
            sigwait(&blocked, &signal)
        }
        pthread_sigmask(SIG_SETMASK, &previousMask, nil)
    }
}
