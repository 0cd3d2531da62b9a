// Prepares the directory, the lock and the path of a Unix socket, and removes a stale socket.

import Synchronization
import Tweaks
import TweaksSystem

/// A path for a Unix socket, locked by a file beside it while this object lives.
final class SocketLease: Sendable {
    let path: String
    private let held: Mutex<Held>

    private struct Held {
        var lock: OpenFile
        /// The socket's file; nil until it is bound.
        var socket: FileInfo?
        /// Whether the socket's directory is as this process makes one. Another has the mode and the owner that an operator
        /// wants, which one that is made again would not have.
        let isOwnDirectory: Bool
    }

    /// What is at the path of a bound socket.
    enum Presence {
        case present
        /// Something has removed it.
        case missing
        /// Another file has its name.
        case replaced
        /// It cannot be known now: the directory cannot be searched, or its disk does not answer.
        case unknown(String)
    }

    /// Claims a path: makes or checks its directory, takes the lock, and removes a stale socket.
    /// - Throws: ``ServerError`` with the obstacle; `isTaken` if another process holds the path.
    init(path: String) throws(ServerError) {
        guard path.hasPrefix("/"), path.utf8.count <= SocketAddress.longestPath, !path.utf8.contains(0) else {
            throw ServerError(
                "socket path \(path): must be absolute and at most \(SocketAddress.longestPath) bytes; "
                    + "set TWEAKS_SOCKET to such a path, or to off", isUnavailable: true)
        }
        self.path = path
        let directory = Folder.split(path).directory
        try Self.makeDirectory(directory)
        held = Mutex(Held(lock: try Self.takeLock(path), isOwnDirectory: Self.isOwn(directory)))
        try Self.clear(path)
    }

    func noteSocket() {
        let socket = try? Folder.anywhere.info(path)
        held.withLock { $0.socket = socket }
    }

    /// Removes the socket file, then the lock file, unless something else has these names now.
    func removeSocket() {
        let (lock, socket) = held.withLock { ($0.lock.info, $0.socket) }
        if let socket, Self.isSame(path, socket) { unlink(path) }
        if Self.isSame(path + ".lock", lock) { unlink(path + ".lock") }
    }

    // MARK: While it is held

    /// Whether the socket's file is where it was made.
    var presence: Presence {
        let now: FileInfo
        do throws(FileProblem) {
            now = try Folder.anywhere.info(path)
        } catch {
            return error.isPathMissing ? .missing : .unknown(error.reason)
        }
        let isOurs = held.withLock { $0.socket?.isSameFile(as: now) == true }
        return isOurs && now.kind == .socket ? .present : .replaced
    }

    /// Makes the directory and the lock file again where they were removed. It does so on the thread of the clients: a few
    /// calls that wait for no other process, on a file system that has just answered.
    /// - Throws: ``ServerError`` with the obstacle; `isTaken` if another process has the lock now.
    func renew() throws(ServerError) {
        let (lockInfo, isOwnDirectory) = held.withLock { ($0.lock.info, $0.isOwnDirectory) }
        do throws(FileProblem) {
            if try Folder.anywhere.info(path + ".lock").isSameFile(as: lockInfo) { return }
        } catch {
            if !error.isPathMissing { throw Self.unavailable("lock \(path).lock: \(error.reason)") }
        }
        try Self.remakeDirectory(Folder.split(path).directory, isOwn: isOwnDirectory)
        let lock = try Self.takeLock(path)
        // Released outside the lock, since releasing a file makes system calls.
        let old = held.withLock { held in
            defer { held.lock = lock }
            return held.lock
        }
        withExtendedLifetime(old) {}
    }

    private static func isSame(_ path: String, _ file: FileInfo) -> Bool {
        (try? Folder.anywhere.info(path))?.isSameFile(as: file) == true
    }

    // MARK: The directory

    private static func makeDirectory(_ directory: String, withParents: Bool = true) throws(ServerError) {
        var problem: FileError?
        do throws(FileError) {
            return try PosixFileSystem().makeDirectory(directory)
        } catch {
            problem = error.alreadyExists ? nil : error
            if withParents, error.isMissing {
                if directory != "/" { try makeDirectory(Folder.split(directory).directory) }
                if (try? PosixFileSystem().makeDirectory(directory)) != nil { return }
            }
        }
        try check(directory, problem)
    }

    /// Whether a directory has the owner and the mode of one that was made here.
    private static func isOwn(_ directory: String) -> Bool {
        guard let info = try? Folder.anywhere.info(directory) else { return false }
        return info.kind == .directory && info.owner == ThisProcess.user && info.mode & 0o7777 == 0o700
    }

    /// Makes a directory again that was made like this before; not its parents, which were not.
    private static func remakeDirectory(_ directory: String, isOwn: Bool) throws(ServerError) {
        if isOwn { return try makeDirectory(directory, withParents: false) }
        do throws(FileError) {
            _ = try PosixFileSystem().info(path: directory)
        } catch {
            if error.isMissing {
                throw ServerError(
                    "its directory \(directory) is gone, and had another owner or mode than this program gives; make it "
                        + "again as it was", isUnavailable: true)
            }
        }
        try check(directory, nil)
    }

    /// Other users must not be able to replace our socket by their own.
    /// - Parameter problem: Why it was not made.
    private static func check(_ directory: String, _ problem: FileError?) throws(ServerError) {
        let info: FileInfo
        do throws(FileProblem) {
            info = try Folder.anywhere.info(directory)
        } catch {
            let reason = error.isMissing ? problem?.text ?? error.reason : error.reason
            throw unavailable("socket directory \(directory): \(reason)")
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

    /// The error of a place where this user can have no socket.
    static func unavailable(_ text: String) -> ServerError {
        ServerError(
            "\(text); set TWEAKS_SOCKET to a path in a directory that this user can write to, or to off",
            isUnavailable: true)
    }

    // MARK: The lock

    private static func takeLock(_ path: String) throws(ServerError) -> OpenFile {
        do throws(FileProblem) {
            return try Folder.anywhere.lock(path + ".lock", FileRules(.anyone))
        } catch {
            if error.isLocked {
                throw ServerError(
                    "socket \(path) is held by another process; end it, or name another path in TWEAKS_SOCKET",
                    isTaken: true)
            }
            let text = "lock \(path).lock: \(error.reason)"
            throw error.error == nil ? ServerError("\(text); \(error.remedy)") : unavailable(text)
        }
    }

    // MARK: The stale socket

    /// With the lock taken, a socket file is left over from a crash, unless a process without a lock has it.
    private static func clear(_ path: String) throws(ServerError) {
        guard let info = try? Folder.anywhere.info(path) else { return }
        guard info.kind == .socket else {
            throw ServerError("\(path) exists and is not a socket; remove it, or name another path")
        }
        switch probe(path) {
        case ECONNREFUSED:
            // Bound by nothing: only this answer to a stream socket proves it.
            if isSame(path, info) { unlink(path) }
        case ENOENT: break
        // The queue of a live socket is full.
        case 0, EAGAIN, EWOULDBLOCK, EINPROGRESS:
            throw ServerError("socket \(path) is in use by another process", isTaken: true)
        case EPROTOTYPE:
            throw ServerError(
                "socket \(path) is in use by another program, as a socket of another type; name another path in "
                    + "TWEAKS_SOCKET, or end that program", isTaken: true)
        case let code:
            throw ServerError(
                "socket \(path) may be in use: \(errorText(code)); remove it if it is not, or name another path in "
                    + "TWEAKS_SOCKET", isTaken: true)
        }
    }

    /// The error number of connecting without waiting; 0 for none.
    private static func probe(_ path: String) -> Int32 {
        let number = Platform.makeSocket(AF_UNIX)
        if number < 0 { return errno }
        let probe = Descriptor(number)
        Platform.prepare(number)
        return SocketAddress.unix(path: path).withCAddress { connect(probe.number, $0, $1) } == 0 ? 0 : errno
    }
}
