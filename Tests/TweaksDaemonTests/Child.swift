// Runs the daemon of Tests/TweaksCrashProbe as a child process.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksTestSupport

/// One run of the probe. It is killed at the latest when this is released.
final class Child: Sendable {
    static let url = executable("TweaksCrashProbe")
    static var exists: Bool { FileManager.default.isExecutableFile(atPath: url.path) }

    /// The URL of an executable target; it is built next to the tests.
    static func executable(_ name: String) -> URL {
        #if canImport(Darwin)
            let products = Bundle(for: Child.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent(name)
    }

    let processID: Int32
    /// The lines on standard error.
    let log = LogLines()
    private let socket: String
    private let input: Pipe
    private let end = Completion()
    private let readiness = Completion()

    /// A result that threads wait for.
    private final class Completion: Sendable {
        let gate = DispatchSemaphore(value: 0)
        let status = Mutex<(reason: Process.TerminationReason, code: Int32)?>(nil)

        func complete(_ reason: Process.TerminationReason, _ code: Int32) {
            status.withLock { $0 = (reason, code) }
            gate.signal()
        }

        func wait() throws {
            guard gate.wait(timeout: .now() + .milliseconds(Int(TestClient.timeout))) == .success else {
                throw ClientError.timeout("child")
            }
            gate.signal()
        }
    }

    /// A wrapper that lowers a limit first, such as `-n 1024`.
    static func limited(_ limit: String) -> [String] {
        [Tool.sh.path, "-c", "ulimit \(limit) && exec \"$0\" \"$@\""]
    }

    /// Starts the probe with its socket and its overrides in a directory.
    /// - Parameters:
    ///   - wrapper: A program that runs the probe, with the arguments before its path.
    ///   - program: Another program than the probe.
    init(
        in directory: String, _ words: [String] = [], _ environment: [String: String] = [:],
        through wrapper: [String] = [], program: String = "TweaksCrashProbe"
    ) throws {
        let (process, output, errors) = (Process(), Pipe(), Pipe())
        (input, socket) = (Pipe(), "\(directory)/probe.sock")
        let command = wrapper + [Self.executable(program).path] + words
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = Self.environment(directory).merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        let (end, readiness, log) = (end, readiness, log)
        process.terminationHandler = { end.complete($0.terminationReason, $0.terminationStatus) }
        // Dispatch threads block signals, and a child inherits that mask.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
        processID = process.processIdentifier
        Self.readLines(output.fileHandleForReading) { line in
            if line == nil { readiness.gate.signal() } else { readiness.complete(.exit, 0) }
        }
        Self.readLines(errors.fileHandleForReading) { log.add($0 ?? "(end)") }
    }

    deinit { if end.status.withLock({ $0 == nil }) { _ = systemKill(processID, SIGKILL) } }

    /// The variables that a child needs, also under the thread sanitizer.
    static var inheritedEnvironment: [String: String] {
        let own = ProcessInfo.processInfo.environment
        return own.filter { ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
    }

    private static func environment(_ directory: String) -> [String: String] {
        let paths = [
            "HOME": directory, "TWEAKS_SOCKET": "\(directory)/probe.sock", "TWEAKS_STATE_DIR": "\(directory)/state",
        ]
        return inheritedEnvironment.merging(paths) { $1 }
    }

    /// Calls `body` with each line, and with nil at the end.
    private static func readLines(_ handle: FileHandle, _ body: @escaping @Sendable (String?) -> Void) {
        Thread.detachNewThread {
            var rest = ""
            while true {
                let bytes = handle.readAvailable()
                if bytes.isEmpty { break }
                var lines = (rest + String(decoding: bytes, as: UTF8.self)).splitLines()
                rest = lines.removeLast()
                for line in lines { body(line) }
            }
            body(nil)
        }
    }

    /// Waits until clients can connect; false when the probe ended before.
    @discardableResult
    func waitUntilReady() throws -> Bool {
        try readiness.wait()
        return readiness.status.withLock { $0 != nil }
    }

    func connect() throws -> TestClient { try TestClient(unix: socket, owner: self) }

    /// Waits for a log line from an index on, and returns its index.
    @discardableResult
    func waitForLine(from start: Int = 0, containing text: String) throws -> Int {
        let found = try #require(log.firstIndex(from: start) { $0.contains(text) || $0 == "(end)" })
        try #require(log.all[found].contains(text), "no “\(text)” in \(log.all)")
        return found
    }

    func signal(_ number: Int32) { _ = systemKill(processID, number) }

    /// - Returns: The exit code, or the negative number of the signal that ended the process.
    @discardableResult
    func waitForEnd() throws -> Int32 {
        try end.wait()
        #expect(!log.all.contains { $0.contains("ThreadSanitizer") }, "\(log.all)")
        let (reason, code) = try #require(end.status.withLock { $0 })
        return reason == .exit ? code : -code
    }

    /// Ends the process as a power cut would.
    func kill() throws {
        signal(SIGKILL)
        try waitForEnd()
    }

    /// Closes standard input, at which the probe stops its daemon and exits.
    func stop() throws {
        try input.fileHandleForWriting.close()
        let status = try waitForEnd()
        #expect(status == 0, "\(log.all)")
    }
}

/// kill(2), which the method hides.
private func systemKill(_ process: Int32, _ signal: Int32) -> Int32 { kill(process, signal) }
