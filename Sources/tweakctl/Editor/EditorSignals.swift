// Signals that the editor lives with: a new size, a stop, the return. They come through a pipe, as everything else.

import TweaksSystem
import Synchronization
import TweaksTerminal

/// A pipe that becomes readable when a signal has come.
enum EditorSignals {
    private static let input = Atomic<Int32>(-1)

    /// Begins to listen.
    /// - Returns: The descriptor to wait for; nil where no pipe can be had.
    static func begin() -> Int32? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends {
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
        }
        input.store(ends[1], ordering: .sequentiallyConsistent)
        for number in [SIGWINCH, SIGCONT, SIGTSTP] { listen(number) }
        return ends[0]
    }

    /// The handler may do no more than this.
    private static func listen(_ number: Int32) {
        _ = signal(number) { number in
            let before = errno
            var byte = UInt8(truncatingIfNeeded: number)
            _ = write(EditorSignals.input.load(ordering: .sequentiallyConsistent), &byte, 1)
            errno = before
        }
    }

    /// Stops the whole job, as Ctrl-Z does; returns when it goes on.
    static func stop() {
        _ = signal(SIGTSTP, SIG_DFL)
        kill(0, SIGTSTP)
        listen(SIGTSTP)
    }

    /// What has come.
    static func arrived(_ descriptor: Int32) -> Set<Int32> { Set((System.read(descriptor) ?? []).map { Int32($0) }) }
}
