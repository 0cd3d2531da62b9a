// Opens /dev/null in place of standard streams that are closed.

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
