// Runs etcd and the built programs as children of the tests, which cannot outlive them.

import Foundation
import TweaksTestSupport

/// A running child and its output.
final class ChildProcess: Sendable {
    /// The shell runs as long as its input is open.
    private let shell: RunningProgram
    var log: LogLines { shell.log }

    /// Runs the command in its arguments until its standard input ends, which also happens if the tests crash. Only the
    /// command holds the write end of the output, so that the output ends when the command does.
    private static let script = """
        "$@" 2>&1 </dev/null & echo "pid $!"
        exec >/dev/null 2>&1
        cat
        kill -9 $!
        """

    init(_ arguments: [String], environment: [String: String]? = nil) throws {
        // The shell kills the command when its input ends; it must live for that.
        shell = try RunningProgram(
            Tool.sh.path, ["-c", Self.script, "sh"] + arguments, environment: environment, output: .logged,
            errors: .dropped, isKilledOnRelease: false)
    }

    deinit { shell.endInput() }

    /// Sends a signal to the child, unless it has ended.
    func signal(_ number: Int32) {
        let lines = log.all
        guard lines.last != RunningProgram.end, let line = lines.first(where: { $0.hasPrefix("pid ") }) else { return }
        if let pid = pid_t(line.dropFirst(4)) { Foundation.kill(pid, number) }
    }

    /// Sends SIGKILL and waits for the end, within limits: another child started at the same moment may have inherited
    /// the write end of the output and keeps it open.
    func kill() {
        signal(SIGKILL)
        shell.endInput()
        _ = log.firstIndex(within: .seconds(10)) { $0 == RunningProgram.end }
    }

    /// Sends SIGTERM and waits for the end.
    func stop() async {
        await log.wait(for: "pid ")
        signal(SIGTERM)
        await log.wait { $0 == RunningProgram.end }
        shell.endInput()
    }
}

/// A running service of the example fleet.
struct FleetService {
    private let process: ChildProcess
    var log: LogLines { process.log }

    /// - Parameters:
    ///   - directory: The directory of its state and its socket.
    ///   - environment: Additional variables, such as `TWEAKS_FLEET_INSTANCE`.
    init(_ etcd: String, in directory: TemporaryDirectory, _ environment: [String: String] = [:]) throws {
        let own = [
            "TWEAKS_FLEET": etcd, "STATE_DIRECTORY": directory.file("state"), "XDG_RUNTIME_DIR": directory.path,
            "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]
        try directory.makeFolder("state")
        process = try ChildProcess([BuiltProgram.path("fleet")], environment: own.merging(environment) { $1 })
    }

    func kill() { process.kill() }
    func stop() async { await process.stop() }
}
