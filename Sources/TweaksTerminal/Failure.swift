// Defines the exit codes of the command-line programs, and why they end before their work is done.

/// The exit codes, for scripts.
package enum ExitCode: Int32, Equatable, Sendable {
    case ok = 0
    /// The process, or the fleet, refused a command.
    case refused = 1
    /// The command line makes no sense.
    case usage = 2
    /// There is nobody to talk to, or no longer.
    case unreachable = 3
}

/// What ends the program, with the text for standard error.
package struct Failure: Error, Equatable, CustomStringConvertible {
    package let code: ExitCode
    /// Names the subject, what is wrong, and the remedy.
    package let description: String

    package init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }
}
