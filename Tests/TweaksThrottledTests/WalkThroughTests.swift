// Replays the guide for operators with throttled as a child process.

import Foundation
import Testing
import TweaksTestSupport

extension DocumentedBlock {
    static let walkThrough = all(
        "daemon-transcript", of: "Sources/TweaksDaemon/TweaksDaemon.docc/OperatingThrottled.md")
}

@Suite(.blocking) struct WalkThroughTests {
    @Test func theGuideHasTranscripts() { #expect(DocumentedBlock.walkThrough.count >= 6) }

    /// Files, process and log continue from block to block.
    @Test(.enabled(if: ThrottledProcess.exists)) func theTranscriptsAreTrue() throws {
        let program = try ThrottledProcess()
        let transcript = ShellTranscript(DocumentedBlock.walkThrough.map(\.text).joined(separator: "\n"))
        try transcript.replay(with: program, in: program.root)
        try program.stop()
    }
}

/// The executable, which is built next to the tests, with the files of the systemd unit.
private final class ThrottledProcess: DocumentedProgram {
    let name = "throttled"
    let log = LogLines()
    let root: TemporaryDirectory
    private var process: RunningProgram?

    static let exists = BuiltProgram.exists("throttled")

    init() throws {
        root = try TemporaryDirectory()
        for path in ["etc", "run/throttled", "var/lib/throttled"] { try root.makeFolder(path) }
        let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Examples/throttled/throttled.conf").standardizedFileURL
        try FileManager.default.copyItem(atPath: example.path, toPath: root.file("etc/throttled.conf"))
    }

    func start() throws {
        let paths = [
            "TWEAKS_SOCKET": root.file("run/throttled/throttled.sock"),
            "STATE_DIRECTORY": root.file("var/lib/throttled"),
        ]
        // For sanitizers.
        let own = BuiltProgram.environment.filter { ["LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
        let start = log.all.count
        process = try RunningProgram(
            BuiltProgram.path("throttled"), ["--port", "0", "--config", root.file("etc/throttled.conf")],
            environment: own.merging(paths) { $1 }, output: .shared, errors: .logged, log: log)
        _ = log.firstIndex(from: start) { $0.contains("service at ") }
    }

    func stop() throws { try end(SIGTERM) }

    func kill() throws { try end(SIGKILL) }

    private func end(_ signal: Int32) throws {
        process?.signal(signal)
        _ = try process?.waitForEnd()
        process = nil
    }

    func reload() throws { process?.signal(SIGHUP) }
}
