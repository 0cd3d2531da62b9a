// Runs etcd and the built programs as children of the tests, which cannot outlive them.

import Foundation
import TweaksTestSupport

/// The programs of this package that are built next to the tests.
enum BuiltProgram {
    private final class Marker {}

    static func url(_ name: String) -> URL {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent(name)
    }

    static func exists(_ name: String) -> Bool { FileManager.default.isExecutableFile(atPath: url(name).path) }
}

/// A running child and its output.
final class ChildProcess: Sendable {
    /// The last line of the log, after the end of the output.
    static let end = "the end of its output"

    let log = FleetLog()
    private let ended = Gate()
    private let shell = Process()
    /// The child runs as long as this is open.
    private let lifeline = Pipe()

    /// Runs the command in its arguments until its standard input ends, which also happens if the tests crash. Only the
    /// command holds the write end of the output, so that the output ends when the command does.
    private static let script = """
        "$@" 2>&1 </dev/null & echo "pid $!"
        exec >/dev/null 2>&1
        cat
        kill -9 $!
        """

    init(_ arguments: [String], environment: [String: String]? = nil) throws {
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", Self.script, "sh"] + arguments
        if let environment { shell.environment = environment }
        let output = Pipe()
        (shell.standardInput, shell.standardOutput) = (lifeline, output)
        shell.standardError = FileHandle.nullDevice
        let (log, ended) = (log, ended)
        Thread.detachNewThread {
            var rest = ""
            while let data = try? output.fileHandleForReading.readSome(), !data.isEmpty {
                rest += String(decoding: data, as: UTF8.self)
                while let end = rest.firstIndex(of: "\n") {
                    log.add(String(rest[..<end]))
                    rest = String(rest[rest.index(after: end)...])
                }
            }
            log.add(Self.end)
            ended.open()
        }
        try shell.run()
    }

    deinit { try? lifeline.fileHandleForWriting.close() }

    /// Sends a signal to the child, unless it has ended.
    func signal(_ number: Int32) {
        let lines = log.lines
        guard lines.last != Self.end, let line = lines.first(where: { $0.hasPrefix("pid ") }) else { return }
        if let pid = pid_t(line.dropFirst(4)) { Foundation.kill(pid, number) }
    }

    /// Sends SIGKILL and waits for the end, within limits: another child started at the same moment may have inherited
    /// the write end of the output and keeps it open.
    func kill() {
        signal(SIGKILL)
        try? lifeline.fileHandleForWriting.close()
        ended.waitBlocking(until: .now() + .seconds(10))
    }

    /// Sends SIGTERM and waits for the end.
    func stop() async {
        await log.wait(for: "pid ")
        signal(SIGTERM)
        await ended.wait()
        try? lifeline.fileHandleForWriting.close()
    }
}

/// A running service of the example fleet.
struct FleetService {
    private let process: ChildProcess
    var log: FleetLog { process.log }

    /// - Parameters:
    ///   - directory: The directory of its state and its socket.
    ///   - environment: Additional variables, such as `TWEAKS_FLEET_INSTANCE`.
    init(_ etcd: String, in directory: TemporaryDirectory, _ environment: [String: String] = [:]) throws {
        let own = [
            "TWEAKS_FLEET": etcd, "STATE_DIRECTORY": directory.file("state"), "XDG_RUNTIME_DIR": directory.path,
            "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]
        try FileManager.default.createDirectory(
            atPath: directory.file("state"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        process = try ChildProcess([BuiltProgram.url("fleet").path], environment: own.merging(environment) { $1 })
    }

    func kill() { process.kill() }
    func stop() async { await process.stop() }
}
