// Runs one member of etcd beside a test, and never longer than the tests.

import Foundation
import Synchronization
import TweaksSystem

/// A process that ends with its object, and with this process, however that ends: a shell kills it when our end of a pipe
/// is closed.
final class EtcdProcess: Sendable {
    private static let script = #""$@" </dev/null & cat >/dev/null; kill -9 $!; wait"#

    /// The shell, whose process group all of them are.
    private let group: pid_t
    private let pipe: Mutex<Int32?>

    init(_ path: String, _ arguments: [String], log: String) throws {
        let (input, output) = try Self.openPipe()
        defer { close(input) }
        var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_adddup2(&actions, 1, 2)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        let words = Self.copies(["/bin/sh", "-c", Self.script, "sh", path] + arguments)
        let environment = Self.copies(["PATH=/usr/bin:/bin", "GOMAXPROCS=2"])
        defer { for word in words + environment { free(word) } }
        var identifier: pid_t = 0
        let result = posix_spawn(&identifier, "/bin/sh", &actions, &attributes, words, environment)
        guard result == 0 else {
            close(output)
            throw EtcdCluster.Failure(description: "/bin/sh: \(errorText(result))")
        }
        group = identifier
        pipe = Mutex(output)
    }

    deinit { kill() }

    /// C strings, with a null behind them.
    private static func copies(_ strings: [String]) -> [UnsafeMutablePointer<CChar>?] {
        strings.map { string in strdup(string) } + [nil]
    }

    /// Sends a signal to all of them.
    func signal(_ number: Int32) {
        pipe.withLock { if $0 != nil { _ = Foundation.kill(-group, number) } }
    }

    /// Ends it as a power cut would, and waits until it is gone and its ports are free.
    func kill() {
        pipe.withLock { pipe in
            guard let output = pipe else { return }
            pipe = nil
            close(output)
            _ = Foundation.kill(-group, SIGCONT)
            var status: Int32 = 0
            while waitpid(group, &status, 0) < 0, errno == EINTR {}
        }
    }

    /// A pipe that other processes do not get, not even those that are started at this moment.
    private static func openPipe() throws -> (input: Int32, output: Int32) {
        var ends: [Int32] = [0, 0]
        #if canImport(Glibc)
            let result = socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends)
        #else
            let result = socketpair(AF_UNIX, SOCK_STREAM, 0, &ends)
            for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        #endif
        guard result == 0 else { throw EtcdCluster.Failure(description: "no pipe: \(errorText())") }
        return (ends[0], ends[1])
    }
}
