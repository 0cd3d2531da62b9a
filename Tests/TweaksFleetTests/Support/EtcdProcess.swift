// Runs one member of etcd beside a test.

import Foundation
import Synchronization
import TweaksSystem

/// A process that ends with its object.
final class EtcdProcess: Sendable {
    private let identifier: pid_t
    private let isRunning = Mutex(true)

    init(_ path: String, _ arguments: [String], log: String) throws {
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        // A group of its own: Ctrl-C is for the tests.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        let words = ([path] + arguments).map { strdup($0) }
        defer { for word in words { free(word) } }
        var identifier: pid_t = 0
        let result = posix_spawn(&identifier, path, &actions, &attributes, words + [nil], [nil])
        guard result == 0 else { throw EtcdServer.Failure(description: "\(path): \(errorText(result))") }
        self.identifier = identifier
    }

    deinit { kill() }

    func signal(_ number: Int32) {
        isRunning.withLock { if $0 { _ = Foundation.kill(identifier, number) } }
    }

    /// Ends it, and waits until its ports are free.
    func kill() {
        isRunning.withLock { isRunning in
            guard isRunning else { return }
            isRunning = false
            _ = Foundation.kill(identifier, SIGKILL)
            var status: Int32 = 0
            while waitpid(identifier, &status, 0) < 0, errno == EINTR {}
        }
    }
}

/// Ports that nobody listens on.
enum FreePorts {
    /// All are held at the same time, so that they differ.
    static func take(_ count: Int) throws -> [UInt16] {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        return try (0..<count).map { _ in
            let (socket, port) = try bound()
            sockets.append(socket)
            return port
        }
    }

    private static func bound() throws -> (Int32, UInt16) {
        let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw EtcdServer.Failure(description: "no free port: \(errorText())") }
        return (socket, UInt16(bigEndian: address.sin_port))
    }
}
