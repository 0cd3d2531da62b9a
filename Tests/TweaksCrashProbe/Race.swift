// Competes with another process for a socket.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Tweaks
import TweaksDaemon

/// Reads commands from standard input, one a line, and prints a line for each: `go` prints `own PATH` or `taken`;
/// `stop` prints `stopped`; `many N` acquires and releases the socket N times, and prints how often it owned it, or
/// which other process answered there meanwhile.
enum Race {
    static func run() {
        signal(SIGPIPE, SIG_IGN)
        var daemon: TweakDaemon?
        report("ready")
        while let line = readLine() {
            let words = line.split(separator: " ")
            switch words.first {
            case "go":
                daemon = start()
                report(daemon?.socketPath.map { "own \($0)" } ?? "taken")
            case "stop":
                daemon?.stop()
                daemon = nil
                report("stopped")
            case "many": report(many(words.dropFirst().first.flatMap { Int($0) } ?? 0))
            default: return
            }
        }
    }

    private static func start() -> TweakDaemon? {
        let registry = TweakRegistry()
        do {
            return try TweakDaemon.start("probe", storage: .off, signals: [], registry: registry, onEvent: { _ in })
        } catch {
            // Any other error fails the test.
            if "\(error)".contains("by another process") { return nil }
            report("failed: \(error)")
            return nil
        }
    }

    private static func many(_ count: Int) -> String {
        var owned = 0
        for _ in 0..<count {
            guard let daemon = start() else { continue }
            owned += 1
            let answer = daemon.socketPath.map(Self.servingProcess) ?? "no path"
            daemon.stop()
            if answer != "\(getpid())" { return "robbed: \(answer) instead of \(getpid())" }
        }
        return "owned \(owned)"
    }

    /// The process that serves a socket.
    private static func servingProcess(_ path: String) -> String {
        #if canImport(Glibc)
            let number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let number = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        defer { close(number) }
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            // A sockaddr_un begins like a sockaddr: that is the contract of the socket calls.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { return "no process: \(String(cString: strerror(errno)))" }
        let request = Array("hello 1\nquit\n".utf8)
        _ = write(number, request, request.count)
        var (text, bytes) = ("", [UInt8](repeating: 0, count: 4_096))
        while case let count = read(number, &bytes, bytes.count), count > 0 {
            text += String(decoding: bytes[..<count], as: UTF8.self)
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("  pid: ") }
        return line.map { String($0.dropFirst(7)) } ?? text
    }

    private static func report(_ text: String) {
        try? FileHandle.standardOutput.write(contentsOf: Data("\(text)\n".utf8))
    }
}
