// Runs a program on a pseudo-terminal and types at it.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation

/// A program whose standard streams are a new terminal; deallocation hangs it up.
package final class PseudoTerminal {
    private let master: Int32
    private let process = Process()
    private var text = ""

    /// Starts a program. `setsid` makes the terminal the controlling one, so that Ctrl-C sends SIGINT.
    package init(_ tool: Tool, _ arguments: [String]) throws {
        master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard master >= 0, let name = Self.unlockedName(master) else { throw ClientError.system("ptmx", errno) }
        let slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw ClientError.system("open", errno) }
        let terminal = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        process.executableURL = URL(fileURLWithPath: Tool.setsid.path)
        process.arguments = ["--ctty", "--wait", tool.path] + arguments
        process.environment = ["TERM": "dumb", "LC_ALL": "C", "HOME": "/"]
        (process.standardInput, process.standardOutput, process.standardError) = (terminal, terminal, terminal)
        // The threads of Dispatch block all signals, and a child inherits that mask: Ctrl-C would not reach it.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
    }

    deinit { _ = systemClose(master) }

    /// Unlocks the terminal's other end and returns its path.
    private static func unlockedName(_ master: Int32) -> String? {
        #if os(Linux)
            // Swift imports none of the calls for this; the numbers are the kernel's TIOCSPTLCK and TIOCGPTN.
            var (lock, number) = (Int32(0), UInt32(0))
            guard ioctl(master, 0x4004_5431, &lock) == 0, ioctl(master, 0x8004_5430, &number) == 0 else { return nil }
            return "/dev/pts/\(number)"
        #else
            guard grantpt(master) == 0, unlockpt(master) == 0 else { return nil }
            return ptsname(master).map { String(cString: $0) }
        #endif
    }

    /// Types keys: `\r` is Enter, `\u{3}` is Ctrl-C.
    package func type(_ keys: String) throws {
        let bytes = Array(keys.utf8)
        let count = uninterrupted { write(master, bytes, bytes.count) }
        guard count == bytes.count else { throw ClientError.system("write", errno) }
    }

    /// Reads the output up to and including a text, with echoed keys; line ends are LF.
    @discardableResult
    package func read(through wanted: String) throws -> String {
        while true {
            if let end = text.firstRange(of: wanted)?.upperBound {
                defer { text = String(text[end...]) }
                return String(text[..<end])
            }
            text += String(decoding: try readBytes().filter { $0 != UInt8(ascii: "\r") }, as: UTF8.self)
        }
    }

    /// Reads what the program writes next, unchanged.
    package func readBytes() throws -> [UInt8] {
        var entry = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
        guard uninterrupted({ poll(&entry, 1, TestClient.timeout) }) > 0 else { throw ClientError.timeout(text) }
        var chunk = [UInt8](repeating: 0, count: 4_096)
        let count = uninterrupted { systemRead(master, &chunk, chunk.count) }
        // Linux returns EIO when the program has ended.
        guard count > 0 else { throw ClientError.ended(text) }
        return Array(chunk[..<count])
    }
}
