// Standard error, written so that a reader who is gone does not end the process.

/// Where lines go that nobody else takes.
package enum StandardError {
    /// A person reads it, and it is not kept.
    package static var isTerminal: Bool { isatty(STDERR_FILENO) == 1 }

    /// Writes a text. What cannot be written is lost.
    package static func write(_ text: String) {
        if text.isEmpty { return }
        withoutBrokenPipes { try? PosixFileSystem().writeAll(Array(text.utf8), to: STDERR_FILENO) }
    }

    /// Keeps SIGPIPE from the process, whose disposition is the program's own affair: the signal is blocked on this
    /// thread meanwhile, and taken from it when it came.
    private static func withoutBrokenPipes(_ body: () -> Void) {
        var pipes = sigset_t()
        sigemptyset(&pipes)
        sigaddset(&pipes, SIGPIPE)
        var before = sigset_t()
        pthread_sigmask(SIG_BLOCK, &pipes, &before)
        body()
        var pending = sigset_t()
        sigpending(&pending)
        if sigismember(&before, SIGPIPE) == 0, sigismember(&pending, SIGPIPE) == 1 {
            var signal: Int32 = 0
            sigwait(&pipes, &signal)
        }
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}
