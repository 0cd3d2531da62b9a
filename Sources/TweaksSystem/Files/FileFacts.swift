// Facts about a file decide whether it is taken.

/// What there is to know about a file.
package struct FileFacts: Equatable, Sendable {
    /// As far as it matters here.
    package enum Kind: Equatable, Sendable {
        case regular
        case directory
        case link
        case socket
        case other
    }

    package let kind: Kind
    /// Which file it is, among all there are.
    package let device: UInt64
    package let inode: UInt64
    package let owner: UInt32
    package let group: UInt32
    /// Who may do what, as chmod(1) has it.
    package let mode: UInt32
    package let links: UInt64
    package let size: Int64
    /// Nanoseconds since 1970.
    package let modified: Int64

    /// Whether others than its owner may write, and in a directory delete. In a sticky one they can add files, but not take
    /// ours away.
    package var isOpenToOthers: Bool { mode & 0o022 != 0 && mode & 0o1000 == 0 }

    /// Whether it belongs to this process's user or to root.
    package var isTrusted: Bool { ThisProcess.trusts(owner) }

    /// Whether both are the same file.
    package func isSameFile(as other: FileFacts) -> Bool { device == other.device && inode == other.inode }
}

extension FileFacts {
    init(_ facts: stat) {
        switch facts.st_mode & S_IFMT {
        case S_IFREG: kind = .regular
        case S_IFDIR: kind = .directory
        case S_IFLNK: kind = .link
        case S_IFSOCK: kind = .socket
        default: kind = .other
        }
        (device, inode) = (UInt64(truncatingIfNeeded: facts.st_dev), UInt64(facts.st_ino))
        (owner, group, mode) = (UInt32(facts.st_uid), UInt32(facts.st_gid), UInt32(facts.st_mode & 0o7777))
        (links, size) = (UInt64(facts.st_nlink), Int64(facts.st_size))
        #if canImport(Darwin)
            let time = facts.st_mtimespec
        #else
            let time = facts.st_mtim
        #endif
        modified = Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }
}
