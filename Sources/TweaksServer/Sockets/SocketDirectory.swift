// Where Unix sockets live, and who may be there: the rules of the directory, the lock, and the stale socket.

import TweaksSystem
import Tweaks

/// A path for a Unix socket, held by a lock beside it for as long as this lives.
final class SocketPlace: Sendable {
    let path: String
    private let lock: Descriptor

    /// Claims a path: makes or checks its directory, takes the lock, and clears away a socket nobody answers on.
    /// - Throws: ``ServerError`` that says what is in the way; `isTaken` when another process holds the place.
    init(path: String) throws(ServerError) {
        guard path.hasPrefix("/"), path.utf8.count <= SocketAddress.longestPath, !path.utf8.contains(0) else {
            throw ServerError(
                "socket path \(path): must be absolute and at most \(SocketAddress.longestPath) bytes; "
                    + "name such a one in TWEAKS_SOCKET, or off")
        }
        self.path = path
        try Self.makeDirectory(Self.parent(of: path))
        lock = try Self.takeLock(path + ".lock")
        try Self.clear(path)
    }

    /// Removes the socket file and, after it, the lock's; only the holder of the place does.
    func removeSocket() {
        unlink(path)
        unlink(path + ".lock")
    }

    // MARK: The directory

    private static func parent(of path: String) -> String {
        let parent = path.lastIndex(of: "/").map { path[..<$0] } ?? ""
        return parent.isEmpty ? "/" : String(parent)
    }

    private static func makeDirectory(_ directory: String) throws(ServerError) {
        if mkdir(directory, 0o700) == 0 { return }
        if errno == ENOENT {
            // Only one missing level is ours to make; its parent must be there.
            try makeDirectory(parent(of: directory))
            if mkdir(directory, 0o700) == 0 { return }
        }
        try check(directory)
    }

    /// Others must not be able to put a socket of their own in the place of ours.
    private static func check(_ directory: String) throws(ServerError) {
        var facts = stat()
        guard lstat(directory, &facts) == 0 else {
            throw ServerError("socket directory \(directory): \(errorText())")
        }
        guard facts.st_mode & S_IFMT == S_IFDIR || isDirectoryOfRoot(directory, facts) else {
            throw ServerError("socket directory \(directory) is a symbolic link or no directory; name a real one")
        }
        let othersMayWrite = facts.st_mode & (S_IWGRP | S_IWOTH) != 0
        let isSticky = facts.st_mode & S_ISVTX != 0
        guard facts.st_uid == geteuid() || facts.st_uid == 0, !othersMayWrite || isSticky else {
            throw ServerError(
                "socket directory \(directory): others can write there; chmod 700 it, or name another in TWEAKS_SOCKET")
        }
    }

    /// A link that root made (macOS: /tmp, /var) is as good as what it points to.
    private static func isDirectoryOfRoot(_ directory: String, _ facts: stat) -> Bool {
        var target = stat()
        guard facts.st_uid == 0, stat(directory, &target) == 0 else { return false }
        return target.st_mode & S_IFMT == S_IFDIR
            && (target.st_mode & (S_IWGRP | S_IWOTH) == 0 || target.st_mode & S_ISVTX != 0)
    }

    // MARK: The lock

    private static func takeLock(_ path: String) throws(ServerError) -> Descriptor {
        while true {
            let number = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0o600)
            if number < 0 { throw ServerError("lock \(path): \(errorText())") }
            let lock = Descriptor(number)
            if flock(number, LOCK_EX | LOCK_NB) != 0 {
                throw ServerError("socket \(path.dropLast(5)) is held by another process", isTaken: true)
            }
            // Its last holder may have removed it between our two calls; then what we hold is nobody's lock.
            if isStill(number, path) { return lock }
        }
    }

    private static func isStill(_ descriptor: Int32, _ path: String) -> Bool {
        var (held, named) = (stat(), stat())
        return fstat(descriptor, &held) == 0 && lstat(path, &named) == 0 && held.st_ino == named.st_ino
            && held.st_dev == named.st_dev
    }

    // MARK: The stale socket

    /// With the lock in hand a socket file is a crashed owner's, unless somebody without a lock answers on it.
    private static func clear(_ path: String) throws(ServerError) {
        var facts = stat()
        if lstat(path, &facts) != 0 { return }
        guard facts.st_mode & S_IFMT == S_IFSOCK else {
            throw ServerError("\(path) is there and no socket; remove it, or name another path")
        }
        if isAnswered(path) {
            throw ServerError("socket \(path) is answered by another process", isTaken: true)
        }
        unlink(path)
    }

    private static func isAnswered(_ path: String) -> Bool {
        let number = Platform.makeSocket(AF_UNIX)
        if number < 0 { return true }  // In doubt it is not ours to remove.
        let probe = Descriptor(number)
        return SocketAddress.unix(path: path).withCAddress { connect(probe.number, $0, $1) } == 0
    }
}
