// tweakctl as a process of its own, with a run directory and a home that nobody else has.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

/// A user's surroundings: run directory, home, and the executable, which is built beside the tests.
final class Surroundings: Sendable {
    private final class Marker {}

    let directory: TemporaryDirectory
    /// Variables beyond the usual ones.
    let variables = Mutex<[String: String]>([:])

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["run", "run/tweaks", "home"] {
            try FileManager.default.createDirectory(
                atPath: directory.file(name), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
    }

    static var executable: URL {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent("tweakctl")
    }

    static var exists: Bool { FileManager.default.isExecutableFile(atPath: executable.path) }

    /// The path of a socket in the run directory.
    func socket(_ name: String) -> String { directory.file("run/tweaks/\(name).sock") }

    /// A started server under a name.
    func server(_ name: String, registry: TweakRegistry = ExampleTweaks().registry) throws -> TweakServer {
        let server = TweakServer(name: name, registry: registry, listeners: [.unix(path: socket(name))])
        try server.start()
        return server
    }

    var environment: [String: String] {
        let own = ProcessInfo.processInfo.environment
        let kept = own.filter { ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
        let places = [
            "XDG_RUNTIME_DIR": directory.file("run"), "TMPDIR": directory.path, "HOME": directory.file("home"),
            "TERM": "xterm", "LC_ALL": "C.UTF-8",
        ]
        return kept.merging(places) { $1 }.merging(variables.withLock { $0 }) { $1 }
    }

    /// What a finished process has left.
    struct Result {
        let code: Int32
        let output: String
        let errors: String
    }

    /// Runs it to its end.
    func run(_ arguments: String..., input: String = "") throws -> Result {
        let process = try start(arguments)
        process.type(input)
        process.endInput()
        return try process.result()
    }

    /// Starts it.
    func start(_ arguments: [String]) throws -> Running { try Running(self, arguments) }
}

/// One run of tweakctl.
final class Running {
    private let process = Process()
    private let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    private let surroundings: Surroundings
    private var unread = ""

    fileprivate init(_ surroundings: Surroundings, _ arguments: [String]) throws {
        self.surroundings = surroundings
        process.executableURL = Surroundings.executable
        process.arguments = arguments
        process.environment = surroundings.environment
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        // The threads of Dispatch block signals, and a program inherits that; it would never hear of Ctrl-C.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
    }

    deinit { if process.isRunning { systemKill(process.processIdentifier, SIGKILL) } }

    /// Sends text to its standard input.
    func type(_ text: String) {
        if !text.isEmpty { input.fileHandleForWriting.writeUnlessBroken(text) }
    }

    func endInput() { try? input.fileHandleForWriting.close() }

    /// Lines of standard output, up to and with one that contains a text.
    @discardableResult
    func lines(through text: String) throws -> [String] {
        while true {
            var lines = unread.splitLines()
            let rest = lines.removeLast()
            if let found = lines.firstIndex(where: { $0.contains(text) }) {
                unread = (lines[(found + 1)...] + [rest]).joined(separator: "\n")
                return Array(lines[...found])
            }
            let data = try output.fileHandleForReading.readSome()
            if data.isEmpty { throw ClientError.ended("no “\(text)” in “\(unread)”; \(try result())") }
            unread += String(decoding: data, as: UTF8.self)
        }
    }

    func signal(_ number: Int32) { systemKill(process.processIdentifier, number) }

    /// Waits for its end.
    func result() throws -> Surroundings.Result {
        let text = try output.fileHandleForReading.readRest()
        let errors = try errors.fileHandleForReading.readRest()
        process.waitUntilExit()
        let code = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return .init(
            code: code, output: unread + String(decoding: text, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self))
    }
}

/// kill(2), under a name that no method takes.
private func systemKill(_ process: Int32, _ signal: Int32) { _ = kill(process, signal) }
