// Delivers the signals for resize, stop and continue through a pipe.

import TweaksSystem
import Synchronization

/// A pipe that becomes readable when a signal has arrived.
enum EditorSignals {
    private static let input = Atomic<Int32>(-1)

    /// Installs the handlers.
    /// - Returns: The descriptor to wait for; nil if the pipe could not be created.
    static func install() -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        input.store(ends[1], ordering: .sequentiallyConsistent)
        for number in [SIGWINCH, SIGCONT, SIGTSTP] { installHandler(number) }
        return ends[0]
    }

    /// Installs a handler, which only makes async-signal-safe calls.
    private static func installHandler(_ number: Int32) {
        _ = signal(number) { number in
            let before = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(EditorSignals.input.load(ordering: .sequentiallyConsistent), &byte, 1)
            errno = before
        }
    }

    /// Stops the whole job, as Ctrl-Z does; returns when it is continued.
    static func stop() {
        _ = signal(SIGTSTP, SIG_DFL)
        kill(0, SIGTSTP)
        installHandler(SIGTSTP)
    }

    /// The signals that have arrived.
    static func received(_ descriptor: Int32) -> Set<Int32> { Set((System.read(descriptor) ?? []).map { Int32($0) }) }
}
