// Runs tweakctl as a process, with a run directory and a home directory for one test.

import Foundation
import Synchronization
import Testing
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

/// The environment of one user, and the servers in it, which stop with the fixture.
final class TweakctlFixture: Sendable {
    let directory: TemporaryDirectory
    /// Variables in addition to the usual ones.
    let variables = Mutex<[String: String]>([:])
    private let cleanup = Mutex<[@Sendable () -> Void]>([])

    init() throws {
        directory = try TemporaryDirectory()
        for name in ["run", "run/tweaks", "home"] { try directory.makeFolder(name) }
    }

    deinit { for stop in cleanup.withLock({ $0 }) { stop() } }

    static let executable = URL(fileURLWithPath: BuiltProgram.path("tweakctl"))
    static let exists = BuiltProgram.exists("tweakctl")
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
        let paths = [
            "XDG_RUNTIME_DIR": directory.file("run"), "TWEAKS_TMPDIR": directory.path, "HOME": directory.file("home"),
            "TERM": "xterm", "LC_ALL": "C.UTF-8",
        ]
        return BuiltProgram.environment.merging(paths) { $1 }.merging(variables.withLock { $0 }) { $1 }
    }

    typealias Result = RunningProgram.Result

    /// Starts tweakctl. Its standard input stays open unless an input is given.
    func start(_ arguments: [String], input: String? = nil) throws -> TweakctlProcess {
        let process = try TweakctlProcess(
            Self.executable.path, arguments, environment: environment, errors: .read, owner: self)
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
typealias TweakctlProcess = RunningProgram
