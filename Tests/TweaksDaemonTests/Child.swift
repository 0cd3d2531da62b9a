// The daemon of Tests/TweaksCrashProbe as a process of its own: started, talked to, signalled, killed.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksTestSupport

/// One run of it. It ends when this is let go of, at the latest.
final class Child: Sendable {
    /// Where it was built: beside the tests.
    static var url: URL {
        #if canImport(Darwin)
            let products = Bundle(for: Child.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent("TweaksCrashProbe")
    }

    static var exists: Bool { FileManager.default.isExecutableFile(atPath: url.path) }

    let processID: Int32
    /// What it has said on standard error.
    let log = LogLines()
    private let socket: String
    private let input: Pipe
    private let hasEnded = Ended()
    private let isReady = Ended()

    /// How a process has ended, once it has.
    private final class Ended: Sendable {
        let gate = DispatchSemaphore(value: 0)
        let status = Mutex<(reason: Process.TerminationReason, code: Int32)?>(nil)

        func note(_ reason: Process.TerminationReason, _ code: Int32) {
            status.withLock { $0 = (reason, code) }
            gate.signal()
        }

        func wait() throws {
            guard gate.wait(timeout: .now() + .milliseconds(Int(TestClient.patience))) == .success else {
                throw ClientError.timeout("child")
            }
            gate.signal()
        }
    }

    /// A shell that lowers a limit first: `-n 1024`.
    static func limited(_ limit: String) -> [String] {
        [Tool.sh.path, "-c", "ulimit \(limit) && exec \"$0\" \"$@\""]
    }

    /// Starts it; its socket, and its overrides unless they are elsewhere, are in the directory.
    /// - Parameter wrapper: A program that runs it, with the arguments that come before its path.
    init(
        in directory: String, _ words: [String] = [], _ environment: [String: String] = [:],
        through wrapper: [String] = []
    ) throws {
        let (process, output, errors) = (Process(), Pipe(), Pipe())
        (input, socket) = (Pipe(), "\(directory)/probe.sock")
        let command = wrapper + [Self.url.path] + words
        process.executableURL = URL(fileURLWithPath: command[0])
        process.arguments = Array(command.dropFirst())
        process.environment = Self.environment(directory).merging(environment) { $1 }
        (process.standardInput, process.standardOutput, process.standardError) = (input, output, errors)
        let (hasEnded, isReady, log) = (hasEnded, isReady, log)
        process.terminationHandler = { hasEnded.note($0.terminationReason, $0.terminationStatus) }
        // The threads of Dispatch block signals, and a program inherits that; it would never hear of them.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
        processID = process.processIdentifier
        Self.readLines(output.fileHandleForReading) { _ in
            isReady.note(.exit, 0)
        } atEnd: {
            isReady.gate.signal()
        }
        Self.readLines(errors.fileHandleForReading) {
            log.add($0)
        } atEnd: {
            log.add("(end)")
        }
    }

    deinit { if hasEnded.status.withLock({ $0 == nil }) { _ = systemKill(processID, SIGKILL) } }

    /// What the thread sanitizer needs, where the tests run under it.
    static var kept: [String: String] {
        let own = ProcessInfo.processInfo.environment
        return own.filter { ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
    }

    private static func environment(_ directory: String) -> [String: String] {
        let places = [
            "HOME": directory, "TWEAKS_SOCKET": "\(directory)/probe.sock", "TWEAKS_STATE_DIR": "\(directory)/state",
        ]
        return kept.merging(places) { $1 }
    }

    private static func readLines(
        _ handle: FileHandle, _ body: @escaping @Sendable (String) -> Void, atEnd end: @escaping @Sendable () -> Void
    ) {
        Thread.detachNewThread {
            var rest = ""
            while true {
                // What is there; other calls wait for as much as was asked for.
                let bytes = handle.availableData
                if bytes.isEmpty { break }
                var lines = (rest + String(decoding: bytes, as: UTF8.self)).splitLines()
                rest = lines.removeLast()
                for line in lines { body(line) }
            }
            end()
        }
    }

    // MARK: Talking

    /// Waits until clients can connect. False when it has ended before that.
    @discardableResult
    func waitUntilReady() throws -> Bool {
        try isReady.wait()
        return isReady.status.withLock { $0 != nil }
    }

    /// A connection to a child that is ready.
    func connect() throws -> TestClient { try TestClient(unix: socket, owner: self) }

    /// Waits for a line of its log from a position on, and says where it is.
    @discardableResult
    func waitForLine(from start: Int = 0, containing text: String) throws -> Int {
        let found = try #require(log.firstIndex(from: start) { $0.contains(text) || $0 == "(end)" })
        try #require(log.all[found].contains(text), "no “\(text)” in \(log.all)")
        return found
    }

    // MARK: Ending

    /// Sends it a signal.
    func signal(_ number: Int32) { _ = systemKill(processID, number) }

    /// Waits for its end.
    /// - Returns: The exit code; the negative number of the signal that ended it.
    @discardableResult
    func waitForEnd() throws -> Int32 {
        try hasEnded.wait()
        #expect(!log.all.contains { $0.contains("ThreadSanitizer") }, "\(log.all)")
        let (reason, code) = try #require(hasEnded.status.withLock { $0 })
        return reason == .exit ? code : -code
    }

    /// Ends it as power failure would.
    func kill() throws {
        signal(SIGKILL)
        try waitForEnd()
    }

    /// Has it stop as a program does that is told to.
    func stop() throws {
        try input.fileHandleForWriting.close()
        #expect(try waitForEnd() == 0)
    }
}

/// kill(2), under a name that no method takes.
private func systemKill(_ process: Int32, _ signal: Int32) -> Int32 { kill(process, signal) }
