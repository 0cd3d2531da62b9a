// Where Unix sockets live, and who may be there: the rules of the directory, the lock, and the stale socket.

import TweaksSystem
import Tweaks

/// A path for a Unix socket, held by a lock beside it for as long as this lives.
final class SocketPlace: Sendable {
    let path: String
    private let lock: OpenFile

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

    /// Others must not be able to put a socket of their own in the place of ours.
    private static func check(_ directory: String) throws(ServerError) {
        let facts: FileFacts
        do throws(FileProblem) {
            facts = try Folder.anywhere.facts(directory)
        } catch {
            throw ServerError("socket directory \(directory): \(error.reason)")
        }
        // A link that root made (macOS: /tmp, /var) is as good as what it points to.
        let isRoots = facts.kind == .link && facts.owner == 0
        guard let target = isRoots ? try? PosixFileSystem().facts(path: directory) : facts, target.kind == .directory
        else {
            throw ServerError("socket directory \(directory) is a symbolic link or no directory; name a real one")
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
            throw error.isHeld
                ? ServerError("socket \(path.dropLast(5)) is held by another process", isTaken: true)
                : ServerError("lock \(path): \(error.reason)")
        }
    }

    // MARK: The stale socket

    /// With the lock in hand a socket file is a crashed owner's, unless somebody without a lock answers on it.
    private static func clear(_ path: String) throws(ServerError) {
        guard let facts = try? Folder.anywhere.facts(path) else { return }
        guard facts.kind == .socket else {
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
