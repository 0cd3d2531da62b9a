// Describes a file error: the path, the fault and the remedy.

/// Why a file was rejected or could not be written.
package struct FileProblem: Error, Equatable, Sendable, CustomStringConvertible {
    /// The kinds of faults.
    package enum Fault: Equatable, Sendable {
        /// A call failed.
        case failed(FileError)
        /// It is not a regular file but this.
        case kind(FileInfo.Kind)
        /// It belongs to another user.
        case owner(UInt32)
        /// This mode gives other users access.
        case mode(UInt32)
        /// It exceeds the size limit: it has this many bytes, or it grew while it was read.
        case size(Int64, limit: Int)
    }

    package let path: String
    /// The operation that failed: `writing overrides.json`.
    package let operation: String
    package let fault: Fault

    package init(_ path: String, _ operation: String, _ fault: Fault) {
        (self.path, self.operation, self.fault) = (path, operation, fault)
    }

    /// The fault, without the remedy.
    package var reason: String {
        switch fault {
        case .failed(let error): error.text
        case .kind(.link): "it is a symbolic link"
        case .kind: "it is not a regular file"
        case .owner(let uid): "it belongs to uid \(uid)"
        case .mode(let mode): "others can read or write it (mode \(String(mode, radix: 8)))"
        case .size(_, let limit): "it has more than \(limit) bytes"
        }
    }

    /// What an operator can do about it, where another file can be named instead.
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

    /// The error of the failed call.
    package var error: FileError? {
        if case .failed(let error) = fault { error } else { nil }
    }

    package var isMissing: Bool { error?.isMissing == true }
    /// Neither the file nor its directory exists.
    package var isPathMissing: Bool { isMissing || error?.code == ENOTDIR }
    package var alreadyExists: Bool { error?.alreadyExists == true }
    package var isLocked: Bool { error?.isLocked == true }
    package var isResourceShortage: Bool { error?.isResourceShortage == true }
}
