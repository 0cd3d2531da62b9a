// Reads a whole file that somebody else may be writing.

import TweaksSystem

/// What a file holds at a moment.
package enum FileContent: Equatable, Sendable {
    case bytes([UInt8])
    case missing
    /// It is there and cannot be read; why.
    case unreadable(String)

    /// A file that is larger is no config file.
    package static let sizeLimit = 16_777_216

    /// Reads a regular file to its end. Never waits for a writer, as reading a pipe would.
    /// - Parameter isStrict: It has to belong to the process's user or root: it may be another file than the one that was
    ///   judged by its path.
    package init(path: String, isStrict: Bool = false) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY)
        guard descriptor >= 0 else {
            self = errno == ENOENT || errno == ENOTDIR ? .missing : .unreadable(Self.text(errno))
            return
        }
        defer { close(descriptor) }
        var facts = stat()
        if fstat(descriptor, &facts) != 0 {
            self = .unreadable(Self.text(errno))
        } else if facts.st_mode & S_IFMT != S_IFREG {
            self = .unreadable("it is no regular file; name one")
        } else if isStrict, !FileTrust.isTrusted(facts.st_uid) {
            self = .unreadable("it belongs to uid \(facts.st_uid); chown it to root or to uid \(geteuid())")
        } else if facts.st_size > Self.sizeLimit {
            self = .unreadable(
                "it has \(facts.st_size) bytes; a config file has at most \(Self.sizeLimit): leave out what is the default"
            )
        } else {
            self = Self.readAll(descriptor, expected: Int(facts.st_size))
        }
    }

    private static func readAll(_ descriptor: Int32, expected: Int) -> FileContent {
        var bytes: [UInt8] = []
        var failure: Int32 = 0
        // Another kilobyte, so that the end is seen without growing; more if it grows under our hands.
        var room = expected + 1_024
        while bytes.count <= sizeLimit {
            let chunk = [UInt8](unsafeUninitializedCapacity: room) { buffer, count in
                let result = read(descriptor, buffer.baseAddress, buffer.count)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            if failure == EINTR { continue }
            if failure != 0 { return .unreadable(text(failure)) }
            if chunk.isEmpty { return .bytes(bytes) }
            bytes += chunk
            room = 65_536
        }
        return .unreadable(
            "it grows while it is read, and has more than \(sizeLimit) bytes: leave out what is the default")
    }

    private static func text(_ code: Int32) -> String { errorText(code) }
}
