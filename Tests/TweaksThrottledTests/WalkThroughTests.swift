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
    private final class Marker {}

    let name = "throttled"
    let log = LogLines()
    let root: TemporaryDirectory
    private var process: Process?

    private static var executable: URL {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent("throttled")
    }

    static var exists: Bool { FileManager.default.isExecutableFile(atPath: executable.path) }

    init() throws {
        root = try TemporaryDirectory()
        for path in ["etc", "run/throttled", "var/lib/throttled"] {
            try FileManager.default.createDirectory(
                atPath: root.file(path), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        }
        let example = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("../../Examples/throttled/throttled.conf").standardizedFileURL
        try FileManager.default.copyItem(atPath: example.path, toPath: root.file("etc/throttled.conf"))
    }

    deinit { process?.terminate() }

    func start() throws {
        let (process, errors, log) = (Process(), Pipe(), log)
        process.executableURL = Self.executable
        process.arguments = ["--port", "0", "--config", root.file("etc/throttled.conf")]
        let paths = [
            "TWEAKS_SOCKET": root.file("run/throttled/throttled.sock"),
            "STATE_DIRECTORY": root.file("var/lib/throttled"),
        ]
        // For sanitizers.
        let own = ProcessInfo.processInfo.environment.filter { ["LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
        process.environment = own.merging(paths) { $1 }
        process.standardError = errors
        // Dispatch threads block signals, and a child inherits that mask.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        let start = log.all.count
        try process.run()
        self.process = process
        Thread.detachNewThread { Self.read(errors.fileHandleForReading, log) }
        _ = log.firstIndex(from: start) { $0.contains("service at ") }
    }

    /// Adds each line to the log until the end of the process.
    private static func read(_ handle: FileHandle, _ log: LogLines) {
        var rest = ""
        while case let data = handle.readAvailable(), !data.isEmpty {
            var lines = (rest + String(decoding: data, as: UTF8.self)).splitLines()
            rest = lines.removeLast()
            for line in lines { log.add(line) }
        }
    }

    func stop() throws { end(SIGTERM) }

    func kill() throws { end(SIGKILL) }

    private func end(_ signal: Int32) {
        guard let process else { return }
        systemKill(process.processIdentifier, signal)
        process.waitUntilExit()
        self.process = nil
    }

    func reload() throws { if let process { systemKill(process.processIdentifier, SIGHUP) } }
}

/// kill(2), which the method hides.
private func systemKill(_ number: pid_t, _ signal: Int32) { _ = kill(number, signal) }
