// Defines the exit codes of the command-line programs and the error that ends them.

/// The exit codes, for scripts.
package enum ExitCode: Int32, Equatable, Sendable {
    case ok = 0
    /// The process, or the fleet, refused a command.
    case refused = 1
    /// Usage error: an unknown option, a missing argument.
    case usage = 2
    /// Cannot connect, or the connection was lost.
    case unreachable = 3
    /// The process accepts connections but does not answer in time.
    case timeout = 4
}

/// An error that ends the program: the exit code, and the text for standard error.
package struct Failure: Error, Equatable, CustomStringConvertible {
    package let code: ExitCode
    /// Names the subject, what is wrong, and the remedy.
    package let description: String

    package init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }
}
