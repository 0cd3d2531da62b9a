// Opens /dev/null in place of closed standard streams, and writes to standard error.

/// Descriptors 0 to 2. The next opened file or socket would get the number of a closed one, and log lines or printed
/// text would go there: into a lock file, or to the process that would parse it as commands.
package enum StandardStreams {
    /// How a replacement behaves.
    package enum Replacement {
        /// Input has ended, output is discarded: a daemon runs on without them.
        case quiet
        /// Reading and writing fail: a client must report that its output is lost.
        case failing
    }

    /// Opens /dev/null for each standard stream that is closed. Must be called before anything else is opened.
    package static func occupy(_ replacement: Replacement) {
        // In ascending order: each call returns the lowest free number.
        for number in 0...2 as ClosedRange<Int32> where fcntl(number, F_GETFD) < 0 {
            let mode =
                switch replacement {
                case .quiet: O_RDWR
                case .failing: number == 0 ? O_WRONLY : O_RDONLY
                }
            let opened = open("/dev/null", mode)
            // Another thread has taken the number meanwhile.
            if opened >= 0, opened != number { close(opened) }
        }
    }
}

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
