// Prepares the directory, the lock and the path of a Unix socket, and removes a stale socket.

import TweaksSystem
import Tweaks

/// A path for a Unix socket, locked by a file beside it while this object lives.
final class SocketLease: Sendable {
    let path: String
    private let lock: OpenFile

    /// Claims a path: makes or checks its directory, takes the lock, and removes a stale socket.
    /// - Throws: ``ServerError`` with the obstacle; `isTaken` if another process holds the path.
    init(path: String) throws(ServerError) {
        guard path.hasPrefix("/"), path.utf8.count <= SocketAddress.longestPath, !path.utf8.contains(0) else {
            throw ServerError(
                "socket path \(path): must be absolute and at most \(SocketAddress.longestPath) bytes; "
                    + "set TWEAKS_SOCKET to such a path, or to off")
        }
        self.path = path
        try Self.makeDirectory(Self.parent(of: path))
        lock = try Self.takeLock(path + ".lock")
        try Self.clear(path)
    }

    /// Removes the socket file, then the lock file; only the holder of the lock calls this.
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
        let files = PosixFileSystem()
        do throws(FileError) {
            return try files.makeDirectory(directory)
        } catch {
            if error.isMissing {
                try makeDirectory(parent(of: directory))
                if (try? files.makeDirectory(directory)) != nil { return }
            }
        }
        try check(directory)
    }

    /// Other users must not be able to replace our socket by their own.
    private static func check(_ directory: String) throws(ServerError) {
        let info: FileInfo
        do throws(FileProblem) {
            info = try Folder.anywhere.info(directory)
        } catch {
            throw ServerError("socket directory \(directory): \(error.reason)")
        }
        // A link made by root (macOS: /tmp, /var) is as trusted as its target.
        let isRootLink = info.kind == .link && info.owner == 0
        guard let target = isRootLink ? try? PosixFileSystem().info(path: directory) : info, target.kind == .directory
        else {
            throw ServerError("socket directory \(directory) is a symbolic link or not a directory; name a real one")
        }
        guard FileRules().fault(ofFolder: target) == nil else {
            throw ServerError(
                "socket directory \(directory): others can write there; chmod 700 it, or name another in TWEAKS_SOCKET")
        }
    }

    // MARK: The lock

    private static func takeLock(_ path: String) throws(ServerError) -> OpenFile {
        do throws(FileProblem) {
            return try Folder.anywhere.lock(path, FileRules(.anyone))
        } catch {
            throw error.isLocked
                ? ServerError("socket \(path.dropLast(5)) is held by another process", isTaken: true)
                : ServerError("lock \(path): \(error.reason)")
        }
    }

    // MARK: The stale socket

    /// With the lock taken, a socket file is left over from a crash, unless a process without a lock answers on it.
    private static func clear(_ path: String) throws(ServerError) {
        guard let info = try? Folder.anywhere.info(path) else { return }
        guard info.kind == .socket else {
            throw ServerError("\(path) exists and is not a socket; remove it, or name another path")
        }
        if isAnswered(path) {
            throw ServerError("socket \(path) is in use by another process", isTaken: true)
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
