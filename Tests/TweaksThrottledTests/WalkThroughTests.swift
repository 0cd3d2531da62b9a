// The walk-through for operators, walked: throttled as a process of its own, tuned as the page says.

import Foundation
import Testing
import TweaksTestSupport

extension DocumentedBlock {
    static let walkThrough = all(
        "daemon-transcript", of: "Sources/TweaksDaemon/TweaksDaemon.docc/OperatingThrottled.md")
}

@Suite(.blocking) struct WalkThroughTests {
    @Test func hasTranscripts() { #expect(DocumentedBlock.walkThrough.count >= 6) }

    /// The blocks are one story: the files, the process and its log go on from one to the next.
    @Test(.enabled(if: ThrottledProcess.exists)) func isTrue() throws {
        let program = try ThrottledProcess()
        let story = ShellTranscript(DocumentedBlock.walkThrough.map(\.text).joined(separator: "\n"))
        try story.replay(with: program, in: program.root)
        try program.stop()
    }
}

/// The executable, which is built beside the tests, with its files where the unit file says.
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
        for place in ["etc", "run/throttled", "var/lib/throttled"] {
            try FileManager.default.createDirectory(
                atPath: root.file(place), withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
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
        let places = [
            "TWEAKS_SOCKET": root.file("run/throttled/throttled.sock"),
            "STATE_DIRECTORY": root.file("var/lib/throttled"),
        ]
        // Under a sanitizer the child needs what this process was started with.
        let own = ProcessInfo.processInfo.environment.filter { ["LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
        process.environment = own.merging(places) { $1 }
        process.standardError = errors
        // The threads of Dispatch block all signals, and a program inherits that; it would never hear of SIGTERM.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        let start = log.all.count
        try process.run()
        self.process = process
        Thread.detachNewThread { Self.read(errors.fileHandleForReading, log) }
        _ = log.firstIndex(from: start) { $0.contains("service at ") }
    }

    /// Adds each line to the log until the process has ended.
    private static func read(_ handle: FileHandle, _ log: LogLines) {
        var rest: [UInt8] = []
        while case let data = handle.availableData, !data.isEmpty {
            rest += data
            while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                log.add(String(decoding: rest[..<end], as: UTF8.self))
                rest.removeFirst(end + 1)
            }
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

    func reload() throws {
        if let process { systemKill(process.processIdentifier, SIGHUP) }
    }
}

/// kill(2), under a name that no method takes.
private func systemKill(_ number: pid_t, _ signal: Int32) { _ = kill(number, signal) }
