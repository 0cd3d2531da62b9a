// A problem with a file says which file, what is wrong with it, and what can be done.

/// Why a file is not taken, or could not be written.
package struct FileProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// What is wrong.
    package enum Fault: Equatable, Sendable {
        /// A call failed.
        case failed(FileError)
        /// It is no regular file, but this.
        case kind(FileFacts.Kind)
        /// It belongs to another user.
        case owner(UInt32)
        /// Others may do what this mode says.
        case mode(UInt32)
        /// It has more bytes than it may: as many as this, or it grew while it was read.
        case size(Int64, limit: Int)
    }

    package let path: String
    /// What was to be done: `writing overrides.json`.
    package let doing: String
    package let fault: Fault

    package init(_ path: String, _ doing: String, _ fault: Fault) {
        (self.path, self.doing, self.fault) = (path, doing, fault)
    }

    /// What is wrong, without the remedy.
    package var reason: String {
        switch fault {
        case .failed(let error): error.text
        case .kind(.link): "it is a symbolic link"
        case .kind: "it is no regular file"
        case .owner(let uid): "it belongs to uid \(uid)"
        case .mode(let mode): "others can read or write it (mode \(String(mode, radix: 8)))"
        case .size(_, let limit): "it has more than \(limit) bytes"
        }
    }

    /// What an operator can do about it, where the file could be another one.
    package var remedy: String {
        switch fault {
        case .failed(let error): error.remedy()
        case .kind(.link): "name the file itself"
        case .kind: "name one"
        case .owner: "chown it to \(ThisProcess.user)"
        case .mode: "chmod 600 \(path)"
        case .size: "name another one"
        }
    }

    package var description: String { "\(path): \(reason); \(remedy)" }

    /// The error of the call that failed.
    package var error: FileError? {
        if case .failed(let error) = fault { error } else { nil }
    }

    package var isMissing: Bool { error?.isMissing == true }
    /// There is no such file, nor a directory where it could be.
    package var leadsNowhere: Bool { isMissing || error?.code == ENOTDIR }
    package var isThereAlready: Bool { error?.isThereAlready == true }
    package var isHeld: Bool { error?.isHeld == true }
    package var isShortage: Bool { error?.isShortage == true }
}
