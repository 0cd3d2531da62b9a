// Why tweakctl ends before its work is done, and the exit codes.

/// The exit codes, for scripts.
enum ExitCode: Int32, Equatable {
    case ok = 0
    /// The process refused a command.
    case refused = 1
    /// The command line makes no sense.
    case usage = 2
    /// There is nobody to talk to, or no longer.
    case unreachable = 3
}

/// What ends the program, with the text for standard error.
struct Failure: Error, Equatable, CustomStringConvertible {
    let code: ExitCode
    /// Names the subject, what is wrong, and the remedy.
    let description: String

    init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }
}
