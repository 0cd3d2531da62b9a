// Runs a program alongside all tests. Unlike Foundation's `Process` it tolerates a child that closes inherited
// descriptors: `Process` would take that for the child's end, and block the one thread that waits for all children.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation

/// A running child process.
struct BackgroundProcess: Sendable {
    let identifier: pid_t
    private let ended = Gate()

    /// Starts it.
    /// - Parameters:
    ///   - streams: The descriptors for its standard input, output and error.
    /// - Throws: ``ClientError`` when the system refuses.
    init(_ path: String, _ arguments: [String], environment: [String: String], streams: [Int32]) throws {
        #if canImport(Darwin)
            var (actions, attributes): (posix_spawn_file_actions_t?, posix_spawnattr_t?)
        #else
            var (actions, attributes) = (posix_spawn_file_actions_t(), posix_spawnattr_t())
        #endif
        posix_spawn_file_actions_init(&actions)
        posix_spawnattr_init(&attributes)
        defer {
            posix_spawn_file_actions_destroy(&actions)
            posix_spawnattr_destroy(&attributes)
        }
        for (number, stream) in streams.enumerated() {
            posix_spawn_file_actions_adddup2(&actions, stream, Int32(number))
        }
        // A separate process group: Ctrl-C ends the tests only.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETPGROUP))
        var identifier: pid_t = 0
        let result = Self.withStrings([path] + arguments) { words in
            Self.withStrings(environment.map { "\($0)=\($1)" }) { environment in
                posix_spawn(&identifier, path, &actions, &attributes, words, environment)
            }
        }
        guard result == 0 else { throw ClientError.system("posix_spawn \(path)", result) }
        self.identifier = identifier
        let (child, ended) = (identifier, ended)
        // Reap it at once: exit tests wait for any child of this process, and would find this one again and again.
        Thread.detachNewThread {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            ended.open()
        }
    }

    private static func withStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
    ) rethrows -> Result {
        let pointers = strings.map { strdup($0) }
        defer { for pointer in pointers { free(pointer) } }
        return try body(pointers + [nil])
    }

    /// Waits for the process to end.
    func wait() { ended.waitBlocking() }
}
