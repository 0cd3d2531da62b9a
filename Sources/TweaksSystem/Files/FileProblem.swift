// Decides which files are accepted, and describes a fault: the path, what is wrong and the remedy.

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

/// The metadata of a file.
package struct FileInfo: Equatable, Sendable {
    /// The file types that this package distinguishes.
    package enum Kind: Equatable, Sendable {
        case regular
        case directory
        case link
        case socket
        case other
    }

    package let kind: Kind
    /// The device and the inode identify the file.
    package let device: UInt64
    package let inode: UInt64
    package let owner: UInt32
    package let group: UInt32
    /// Permission bits, as in chmod(1).
    package let mode: UInt32
    package let links: UInt64
    package let size: Int64
    /// Nanoseconds since 1970.
    package let modified: Int64

    /// Whether users other than the owner can write to it or, in a directory, delete files. In a sticky directory they
    /// can add files but not remove ours.
    package var isOpenToOthers: Bool { mode & 0o022 != 0 && mode & 0o1000 == 0 }

    /// Whether it belongs to this process's user or to root.
    package var isTrusted: Bool { ThisProcess.trusts(owner) }

    /// Whether both describe the same file.
    package func isSameFile(as other: FileInfo) -> Bool { device == other.device && inode == other.inode }
}

extension FileInfo {
    package init(_ info: stat) {
        switch info.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .link
        case S_IFSOCK: kind = .socket
        default: kind = .other
        }
        device = UInt64(truncatingIfNeeded: info.st_dev)
        inode = UInt64(info.st_ino)
        owner = UInt32(info.st_uid)
        group = UInt32(info.st_gid)
        mode = UInt32(info.st_mode & 0o7777)
        links = UInt64(info.st_nlink)
        size = Int64(info.st_size)
        #if canImport(Darwin)
            let time = info.st_mtimespec
        #else
            let time = info.st_mtim
        #endif
        modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}

/// The requirements for accepting a file. It must always be a regular file.
package struct FileRules: Sendable {
    /// The accepted owners.
    package enum Owners: Sendable {
        case anyone
        case user
        case userOrRoot
        /// The same; but a process of root accepts every owner, since root administers all users' files.
        case userOrRootOrAnyoneForRoot
    }

    private let owners: Owners
    private let forbidden: UInt32
    private let groupMayReadRoots: Bool

    /// - Parameters:
    ///   - forbidden: Mode bits that must not be set.
    ///   - groupMayReadRoots: Root's file may be readable for this process's group, as is usual for a service's
    ///     secrets.
    package init(_ owners: Owners = .userOrRoot, forbidden: UInt32 = 0, groupMayReadRoots: Bool = false) {
        self.owners = owners
        self.forbidden = forbidden
        self.groupMayReadRoots = groupMayReadRoots
    }

    /// The reason to reject a file; nil if it is accepted.
    package func fault(_ info: FileInfo) -> FileProblem.Fault? {
        if info.kind != .regular { return .kind(info.kind) }
        if !allow(info.owner) { return .owner(info.owner) }
        let (user, group) = (ThisProcess.user, ThisProcess.group)
        let isShared = groupMayReadRoots && info.owner == 0 && user != 0 && info.group == group && group != 0
        let isOpen = info.mode & (isShared ? forbidden & ~0o040 : forbidden) != 0
        return isOpen ? .mode(info.mode & 0o777) : nil
    }

    /// The reason to reject a directory: other users must not be able to replace files in it.
    package func fault(ofFolder info: FileInfo) -> FileProblem.Fault? {
        if !allow(info.owner) { return .owner(info.owner) }
        return info.isOpenToOthers ? .mode(info.mode & 0o777) : nil
    }

    private func allow(_ owner: UInt32) -> Bool {
        switch owners {
        case .anyone: true
        case .user: owner == ThisProcess.user
        case .userOrRoot: ThisProcess.trusts(owner)
        case .userOrRootOrAnyoneForRoot: ThisProcess.trusts(owner) || ThisProcess.user == 0
        }
    }
}

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
        self.path = path
        self.operation = operation
        self.fault = fault
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
