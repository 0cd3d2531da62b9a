// Runs tweakctl as a process, with a run directory and a home directory for one test.

import Foundation
import Synchronization
import Testing
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

/// The environment of one user, and the servers in it, which stop with the fixture.
final class TweakctlFixture: Sendable {
    private final class Marker {}

    let directory: TemporaryDirectory
    /// Variables in addition to the usual ones.
    let variables = Mutex<[String: String]>([:])
    private let cleanup = Mutex<[@Sendable () -> Void]>([])

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["run", "run/tweaks", "home"] {
            try FileManager.default.createDirectory(
                atPath: directory.file(name), withIntermediateDirectories: true,
                attributes: [.posixPermissions: 0o700])
        }
    }

    deinit { for stop in cleanup.withLock({ $0 }) { stop() } }

    /// The executable, which is built beside the tests.
    static var executable: URL {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent("tweakctl")
    }

    static var exists: Bool { FileManager.default.isExecutableFile(atPath: executable.path) }
    /// Whether tweakctl can run on a terminal, too.
    static var hasTerminal: Bool { exists && Tool.setsid.exists }

    /// The path of a socket in the run directory.
    func socket(_ name: String) -> String { directory.file("run/tweaks/\(name).sock") }

    /// Starts a server, in the run directory unless a path is given.
    @discardableResult
    func server(
        _ name: String, registry: TweakRegistry = ExampleTweaks().registry, path: String? = nil
    ) throws -> TweakServer {
        let server = TweakServer(name: name, registry: registry, listeners: [.unix(path: path ?? socket(name))])
        try server.start()
        cleanup.withLock { $0.append { server.stop() } }
        return server
    }

    /// Starts a daemon in this environment.
    @discardableResult
    func daemon(
        _ name: String = "bounce", registry: TweakRegistry = ExampleTweaks().registry,
        environment: [String: String]? = nil, _ change: (inout TweakDaemon.Configuration) -> Void = { _ in }
    ) throws -> TweakDaemon {
        let usual = ["XDG_RUNTIME_DIR": directory.file("run"), "HOME": "/nonexistent", "LANG": "C"]
        let daemon = try TweakDaemon.start(name, .test(registry, environment ?? usual, change))
        cleanup.withLock { $0.append { daemon.stop() } }
        return daemon
    }

    var environment: [String: String] {
        let own = ProcessInfo.processInfo.environment
        let kept = own.filter { ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
        let paths = [
            "XDG_RUNTIME_DIR": directory.file("run"), "TWEAKS_TMPDIR": directory.path, "HOME": directory.file("home"),
            "TERM": "xterm", "LC_ALL": "C.UTF-8",
        ]
        return kept.merging(paths) { $1 }.merging(variables.withLock { $0 }) { $1 }
    }

    /// The exit code and the output of a process.
    struct Result: Equatable {
        var code: Int32 = 0
        var output = ""
        var errors = ""

        /// Whether standard error contains a text, and the exit code is this one.
        func hasError(_ text: String, code: Int32) -> Bool { self.code == code && errors.contains(text) }
    }

    /// Starts tweakctl. Its standard input stays open unless an input is given.
    func start(_ arguments: [String], input: String? = nil) throws -> TweakctlProcess {
        let process = try TweakctlProcess(self, arguments)
        if let input {
            process.type(input)
            process.endInput()
        }
        return process
    }

    /// Runs tweakctl to its end.
    func run(_ arguments: [String], input: String = "") throws -> Result {
        try start(arguments, input: input).result()
    }

    func run(_ arguments: String..., input: String = "") throws -> Result { try run(arguments, input: input) }

    /// The shell command that runs tweakctl in this environment.
    func command(_ variables: String = "") -> String {
        let settings = environment.map { "\($0.key)=\"\($0.value)\"" }.joined(separator: " ")
        return "env \(settings) \(variables) \(Self.executable.path)"
    }

    /// Runs a shell command to its end, and returns its standard output.
    func shell(_ command: String) throws -> String { try Tool.sh.run(["-c", command], input: "") }

    /// A shell script that prints the settings of its terminal, tweakctl's process ID and exit code, and the settings
    /// again.
    func script(_ arguments: String, _ variables: String) -> String {
        """
        echo before $(stty -g) end
        sh -c 'echo pid $$ end; exec \(command(variables)) \(arguments)'
        code=$?; echo; echo code $code after $(stty -g) end
        """
    }

    /// A terminal that runs ``script(_:_:)``, then prints `done`.
    func terminal(
        _ arguments: String, _ variables: String = "NO_COLOR=1", setup: String = "trap : INT"
    ) throws -> PseudoTerminal {
        try PseudoTerminal(.sh, ["-c", "\(setup)\n\(script(arguments, variables))\necho done"])
    }
}

extension String {
    /// The word that follows a key in the output of ``TweakctlFixture/script(_:_:)``.
    func word(after key: String) -> String? {
        firstRange(of: key + " ").map { String(self[$0.upperBound...].prefix { !$0.isWhitespace }) }
    }
}

extension PseudoTerminal {
    /// Types keys, and returns what the screen shows up to and with a text.
    @discardableResult
    func type(_ keys: String, through text: String) throws -> String {
        try type(keys)
        return try read(through: text)
    }
}

/// One run of tweakctl.
final class TweakctlProcess {
    private let process = Process()
    private let (input, output, errors) = (Pipe(), Pipe(), Pipe())
    private let fixture: TweakctlFixture
    private var unread = ""

    fileprivate init(_ fixture: TweakctlFixture, _ arguments: [String]) throws {
        self.fixture = fixture
        process.executableURL = TweakctlFixture.executable
        process.arguments = arguments
        process.environment = fixture.environment
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        // The threads of Dispatch block signals, and a child process inherits that; it would never receive Ctrl-C.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
    }

    deinit { if process.isRunning { signal(SIGKILL) } }

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
    func result() throws -> TweakctlFixture.Result {
        let text = try output.fileHandleForReading.readRest()
        let errors = try errors.fileHandleForReading.readRest()
        process.waitUntilExit()
        let code = process.terminationReason == .exit ? process.terminationStatus : -process.terminationStatus
        return .init(
            code: code, output: unread + String(decoding: text, as: UTF8.self),
            errors: String(decoding: errors, as: UTF8.self))
    }
}

/// kill(2)
private func systemKill(_ process: Int32, _ signal: Int32) { _ = kill(process, signal) }
