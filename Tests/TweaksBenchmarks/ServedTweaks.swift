// The other process of the socket benchmarks: a server with a hundred tweaks, or a Redis.

import Foundation
import Tweaks
import TweaksServer

enum ServedTweaks {
    /// Serves until it is killed, and prints its port.
    static func serve() throws -> Never {
        let tweaks = (0..<100).map { Tweak("Bench", "Wire", "Number\($0)", 0.0) }
        var limits = TweakServerLimits()
        limits.timeToFirstLine = .seconds(3_600)
        let server = TweakServer(name: "bench", listeners: [.tcp(port: 0)], limits: limits)
        try server.start()
        FileHandle.standardOutput.write(Data("\(server.port ?? 0)\n".utf8))
        while true {
            sleep(1_000)
            withExtendedLifetime(tweaks) {}
        }
    }
}

/// A process that serves on a port and is killed with this object.
final class Peer {
    let port: UInt16
    private let process: Process

    private init(_ process: Process, port: UInt16) {
        self.process = process
        self.port = port
    }

    deinit {
        process.terminate()
        process.waitUntilExit()
    }

    /// This very program, serving.
    static func tweaks() throws -> Peer {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
        process.arguments = ["serve"]
        let output = Pipe()
        process.standardOutput = output
        try process.run()
        let line = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        return Peer(process, port: UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) ?? 0)
    }

    /// A Redis without persistence; nil where none is installed.
    static func redis() throws -> Peer? {
        let path = ["/usr/bin/redis-server", "/usr/local/bin/redis-server"].first {
            FileManager.default.isExecutableFile(atPath: $0)
        }
        guard let path else { return nil }
        let port = UInt16.random(in: 20_000...40_000)
        let process = Process()
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = [
            "--port", "\(port)", "--save", "", "--appendonly", "no", "--bind", "127.0.0.1", "--daemonize", "no",
        ]
        process.standardOutput = FileHandle.nullDevice
        try process.run()
        for _ in 0..<200 {
            if let probe = try? Connection(port: port) {
                withExtendedLifetime(probe) {}
                return Peer(process, port: port)
            }
            usleep(20_000)
        }
        process.terminate()
        return nil
    }
}
