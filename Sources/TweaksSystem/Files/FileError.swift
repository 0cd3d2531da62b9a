// A file error turns an error number into words and a remedy.

/// The error number of a call that failed.
package struct FileError: Error, Equatable, Sendable {
    package let code: Int32

    package init(_ code: Int32) { self.code = code }
}

extension FileError {
    /// In the system's words.
    package var text: String { errorText(code) }

    package var isInterruption: Bool { code == EINTR }
    package var isMissing: Bool { code == ENOENT }
    package var isThereAlready: Bool { code == EEXIST }
    package var isHeld: Bool { code == EWOULDBLOCK || code == EAGAIN }
    /// The process is short of something; the file has nothing to do with it.
    package var isShortage: Bool { code == EMFILE || code == ENFILE || code == ENOMEM }

    /// What an operator can do about it.
    /// - Parameter variable: What names another place.
    package func remedy(_ variable: String = "TWEAKS_STATE_DIR") -> String {
        switch code {
        case ENOSPC, EDQUOT: "make room"
        case EROFS: "mount it for writing, or name another \(variable)"
        case EACCES, EPERM: "give this user the right to write, or name another \(variable)"
        case EMFILE, ENFILE: "raise the limit of open files"
        default: "look after the disk, or name another \(variable)"
        }
    }

    package static let noProgress = FileError(EIO)
}
