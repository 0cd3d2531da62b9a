// Compares a run of tweakctl with nc sending the same request.

import Foundation
import Tweaks
import TweaksServer

enum TweakctlBenchmarks {
    static func run() throws {
        let nc = "/usr/bin/nc"
        let folder = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent()
        let tweakctl = folder.appendingPathComponent("tweakctl").path
        guard FileManager.default.isExecutableFile(atPath: tweakctl) else {
            return Table.skipped("tweakctl get / nc", "swift build -c release --product tweakctl")
        }
        guard FileManager.default.isExecutableFile(atPath: nc) else {
            return Table.skipped("tweakctl get / nc", "install netcat-openbsd")
        }
        let registry = TweakRegistry()
        _ = try registry.register("Bench", "Client", "Size", 60.0)
        let directory = try WorkDirectory("ctl")
        defer { directory.remove() }
        let socket = directory.path("socket")
        let server = TweakServer(name: "ctl", registry: registry, listeners: [.unix(path: socket)])
        try server.start()
        defer { server.stop() }
        let times = try Measure.pair(
            rounds: 9, operations: 40,
            { for _ in 0..<40 { try one(tweakctl, ["-s", socket, "get", "Bench/Client/Size"], "") } },
            { for _ in 0..<40 { try one(nc, ["-N", "-U", socket], "get Bench/Client/Size\n") } })
        Table.row(
            "tweakctl get, a whole process / nc", ours: times.ours / 1e6, theirs: times.theirs / 1e6, unit: "ms",
            goal: "≤ 2")
    }

    private static func one(_ program: String, _ arguments: [String], _ input: String) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: program)
        process.arguments = arguments
        let (standardInput, output) = (Pipe(), Pipe())
        (process.standardInput, process.standardOutput) = (standardInput, output)
        try process.run()
        try standardInput.fileHandleForWriting.write(contentsOf: Data(input.utf8))
        try standardInput.fileHandleForWriting.close()
        let answer = try output.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard String(decoding: answer, as: UTF8.self).contains("Bench/Client/Size = 60") else {
            throw CocoaError(.featureUnsupported)
        }
    }
}
