// Wraps the system calls of the command-line programs, reads their input files, and defines their exit codes.

/// The system calls under descriptive names. No Foundation: loading it would take longer than the request.
package enum System {
    #if canImport(Glibc)
        package static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        package static let stream = SOCK_STREAM
    #endif

    /// The group of files that this process creates.
    package static var ownGroup: UInt32 { UInt32(getegid()) }

    /// The primary group of a user; nil for an unknown user.
    package static func primaryGroup(of user: String) -> UInt32? { getpwnam(user).map { UInt32($0.pointee.pw_gid) } }

    /// An environment variable; nil also where it is empty.
    package static func variable(_ name: String) -> String? {
        guard let value = getenv(name) else { return nil }
        let text = String(cString: value)
        return text.isEmpty ? nil : text
    }

    /// Whether a descriptor is a regular file, which has an end.
    package static func isFile(_ descriptor: Int32) -> Bool {
        var info = stat()
        return fstat(descriptor, &info) == 0 && info.st_mode & S_IFMT == S_IFREG
    }

    /// Whether a descriptor is a terminal.
    package static func isTerminal(_ descriptor: Int32) -> Bool { isatty(descriptor) == 1 }

    /// Reads once. Nil when the call fails, empty at the end.
    package static func read(_ descriptor: Int32) -> [UInt8]? {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = chunk.withUnsafeMutableBytes { bytes in systemRead(descriptor, bytes.baseAddress, bytes.count) }
            if count < 0, errno == EINTR { continue }
            return count < 0 ? nil : Array(chunk[..<count])
        }
    }

    /// Writes all bytes. False when the other end is closed or the write fails.
    @discardableResult
    package static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, errno == EAGAIN {
                _ = wait([(descriptor, .write)])
                continue
            }
            guard count >= 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    /// The condition to wait for on a descriptor.
    package enum Readiness {
        case read, write, readAndWrite
        /// Only its end: the reader of a pipe has closed it.
        case end
    }

    /// Waits for any of the descriptors.
    /// - Parameter milliseconds: The timeout; nil waits forever.
    /// - Returns: For each whether it can be read (or has ended), and whether it can be written; all false on timeout.
    package static func wait(
        _ descriptors: [(number: Int32, readiness: Readiness)], milliseconds: Int32? = nil
    ) -> [(canRead: Bool, canWrite: Bool)] {
        var entries = descriptors.map { pollfd(fd: $0.number, events: events($0.readiness), revents: 0) }
        while true {
            let count = poll(&entries, nfds_t(entries.count), milliseconds ?? -1)
            if count < 0, errno == EINTR { continue }
            return entries.map { entry in
                (entry.revents & Int16(POLLIN | POLLHUP | POLLERR | POLLNVAL) != 0, entry.revents & Int16(POLLOUT) != 0)
            }
        }
    }

    private static func events(_ readiness: Readiness) -> Int16 {
        switch readiness {
        case .read: Int16(POLLIN)
        case .write: Int16(POLLOUT)
        case .readAndWrite: Int16(POLLIN | POLLOUT)
        case .end: 0
        }
    }

    /// Sleeps.
    package static func pause(milliseconds: Int32) { _ = poll(nil, 0, milliseconds) }

    /// Opens /dev/null in place of standard streams that are closed. Otherwise a socket could get such a number, and
    /// printed text would go to the process, which would parse it as commands. The replacement can be neither read nor
    /// written.
    package static func occupyStandardStreams() { StandardStreams.occupy(.failing) }

    /// Ignores SIGPIPE: a peer that hangs up is an error of the call, not the end of the program.
    package static func ignoreBrokenPipes() { _ = signal(SIGPIPE, SIG_IGN) }

    /// Exits with success on Ctrl-C, the regular way to end a command that follows changes.
    package static func succeedOnInterrupt() { _ = signal(SIGINT) { _ in _exit(0) } }
}

/// read(2), under a name that no method shadows.
private func systemRead(_ number: Int32, _ bytes: UnsafeMutableRawPointer?, _ count: Int) -> Int {
    read(number, bytes, count)
}

/// write(2), under a name that no method shadows.
private func systemWrite(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(number, bytes, count)
}

extension System {
    /// Ends the program.
    package static func exit(_ code: ExitCode) -> Never { systemExit(code.rawValue) }

    package static func exit(_ code: Int32) -> Never { systemExit(code) }
}

/// exit(3), under a name that no method shadows.
private func systemExit(_ code: Int32) -> Never { exit(code) }

/// A file to read; `-` is standard input.
package struct InputFile: Sendable {
    /// Its name on the command line.
    package let name: String
    /// The maximum size in bytes.
    private let sizeLimit: Int

    package init(_ name: String, sizeLimit: Int = 8 << 20) {
        self.name = name
        self.sizeLimit = sizeLimit
    }

    /// The name for messages.
    package var shownName: String { name == "-" ? "standard input" : name }

    /// Reads it to its end.
    package func read() throws(Failure) -> [UInt8] {
        let descriptor = name == "-" ? 0 : open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else {
            throw Failure(.refused, "\(name): \(errorText()); name a file, or - for standard input")
        }
        defer { if descriptor > 0 { close(descriptor) } }
        var bytes: [UInt8] = []
        while let chunk = System.read(descriptor) {
            if chunk.isEmpty { return bytes }
            bytes += chunk
            if bytes.count > sizeLimit {
                throw Failure(.refused, "\(name): more than \(sizeLimit >> 20) MiB; name a smaller file")
            }
        }
        throw Failure(.refused, "\(name): \(errorText()); name a file that can be read")
    }
}

/// The exit codes, for scripts.
package enum ExitCode: Int32, Equatable, Sendable {
    case ok = 0
    /// The process, or the fleet, refused a command.
    case refused = 1
    /// Usage error: an unknown option, a missing argument.
    case usage = 2
    /// Cannot connect, or the connection was lost.
    case unreachable = 3
    /// The process accepts connections but does not answer in time.
    case timeout = 4

    /// The code of an error in JSON.
    package var name: String {
        switch self {
        case .ok: "ok"
        case .refused: "refused"
        case .usage: "usage"
        case .unreachable: "unreachable"
        case .timeout: "timeout"
        }
    }
}

/// An error that ends the program: the exit code, and the text for standard error.
package struct Failure: Error, Equatable, CustomStringConvertible {
    package let code: ExitCode
    /// Names the subject, what is wrong, and the remedy.
    package let description: String

    package init(_ code: ExitCode, _ description: String) {
        self.code = code
        self.description = description
    }
}
