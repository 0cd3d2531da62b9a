// Turns an error number into a message and a remedy.

/// The error number of a failed call.
package struct FileError: Error, Equatable, Sendable {
    package let code: Int32

    package init(_ code: Int32) { self.code = code }
}

extension FileError {
    /// The system's message.
    package var text: String { errorText(code) }

    package var isInterruption: Bool { code == EINTR }
    package var isMissing: Bool { code == ENOENT }
    package var alreadyExists: Bool { code == EEXIST }
    package var isLocked: Bool { code == EWOULDBLOCK || code == EAGAIN }
    /// The process or the system is out of a resource; the file itself is not at fault.
    package var isResourceShortage: Bool { code == EMFILE || code == ENFILE || code == ENOMEM }

    /// What an operator can do about it.
    /// - Parameter variable: The environment variable that can name another location.
    package func remedy(_ variable: String = "TWEAKS_STATE_DIR") -> String {
        switch code {
        case ENOSPC, EDQUOT: "make room"
        case EROFS: "mount it for writing, or name another \(variable)"
        case EACCES, EPERM: "give this user the right to write, or name another \(variable)"
        case EMFILE, ENFILE: "raise the limit of open files"
        default: "check the disk, or name another \(variable)"
        }
    }

    package static let noProgress = FileError(EIO)
}
