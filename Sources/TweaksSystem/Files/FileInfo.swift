// Describes a file's type, owner and permissions, on which its acceptance depends.

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
        (device, inode) = (UInt64(truncatingIfNeeded: info.st_dev), UInt64(info.st_ino))
        (owner, group, mode) = (UInt32(info.st_uid), UInt32(info.st_gid), UInt32(info.st_mode & 0o7777))
        (links, size) = (UInt64(info.st_nlink), Int64(info.st_size))
        #if canImport(Darwin)
            let time = info.st_mtimespec
        #else
            let time = info.st_mtim
        #endif
        modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
