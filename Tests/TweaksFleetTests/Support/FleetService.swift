// Runs the example fleet as a process of its own, which tests kill and start again.

import Foundation
import TweaksTestSupport

/// A running service of the example, with a log that tests wait for. It ends with the tests, however those end.
final class FleetService: Sendable {
    private final class Marker {}

    let log = FleetLog()
    private let ended = Gate()
    private let shell = Process()
    /// While it is open, the service lives.
    private let lifeline = Pipe()

    static var executable: URL {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent("fleet")
    }

    static var exists: Bool { FileManager.default.isExecutableFile(atPath: executable.path) }

    private static let script = """
        "$@" 2>&1 </dev/null & echo "pid $!"
        exec >/dev/null 2>&1
        cat
        kill -9 $!
        """

    /// - Parameters:
    ///   - directory: Where its state and its socket are.
    ///   - environment: What it has beside, such as `TWEAKS_FLEET_INSTANCE`.
    init(_ etcd: String, in directory: TemporaryDirectory, _ environment: [String: String] = [:]) throws {
        shell.executableURL = URL(fileURLWithPath: "/bin/sh")
        shell.arguments = ["-c", Self.script, "sh", Self.executable.path]
        let own = [
            "TWEAKS_FLEET": etcd, "STATE_DIRECTORY": directory.file("state"), "XDG_RUNTIME_DIR": directory.path,
            "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8",
        ]
        try FileManager.default.createDirectory(
            atPath: directory.file("state"), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        shell.environment = own.merging(environment) { $1 }
        let output = Pipe()
        (shell.standardInput, shell.standardOutput) = (lifeline, output)
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
            log.add("the end of its output")
            ended.open()
        }
        try shell.run()
    }

    deinit { try? lifeline.fileHandleForWriting.close() }

    /// SIGKILL, as by the system that is out of memory.
    func kill() async {
        try? lifeline.fileHandleForWriting.close()
        await ended.wait()
    }

    /// SIGTERM, and it ends in order.
    func stop() async {
        await log.wait(for: "pid ")
        if let line = log.lines.first(where: { $0.hasPrefix("pid ") }), let pid = pid_t(line.dropFirst(4)) {
            Foundation.kill(pid, SIGTERM)
        }
        await ended.wait()
        try? lifeline.fileHandleForWriting.close()
    }
}
