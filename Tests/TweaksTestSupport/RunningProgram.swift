// Runs a program as a child process: types at its input, reads its output, collects what it logs, awaits its end.

import Foundation
import Synchronization
import Testing

/// A program of this package, which is built beside the tests.
package enum BuiltProgram {
    private final class Marker {}

    /// The path of an executable target.
    package static func path(_ name: String) -> String {
        #if canImport(Darwin)
            let products = Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            let products = Bundle.main.bundleURL
        #endif
        return products.appendingPathComponent(name).path
    }

    /// Whether it was built.
    package static func exists(_ name: String) -> Bool { FileManager.default.isExecutableFile(atPath: path(name)) }

    /// The variables that a child needs, also under the thread sanitizer.
    package static var environment: [String: String] {
        let own = ProcessInfo.processInfo.environment
        return own.filter { ["PATH", "LD_LIBRARY_PATH", "LD_PRELOAD", "TSAN_OPTIONS"].contains($0.key) }
    }
}

/// One run of a program. It is killed at the latest when this is released.
package final class RunningProgram: Sendable {
    /// What becomes of an output.
    package enum Stream: Sendable {
        /// The test reads it.
        case read
        /// A thread adds its lines to ``RunningProgram/log``, and ``RunningProgram/end`` after the last one.
        case logged
        /// It is that of the tests.
        case shared
        case dropped
    }

    /// The exit code, or the negative number of the signal that ended the process, and what it printed.
    package struct Result: Equatable, Sendable {
        package var code: Int32
        package var output: String
        package var errors: String

        package init(code: Int32 = 0, output: String = "", errors: String = "") {
            self.code = code
            self.output = output
            self.errors = errors
        }

        /// Whether standard error contains a text, and the exit code is this one.
        package func hasError(_ text: String, code: Int32) -> Bool { self.code == code && errors.contains(text) }
    }

    private final class State: Sendable {
        let ended = Gate()
        let code = Mutex<Int32?>(nil)
    }

    /// The last line of the log, after the end of the output.
    package static let end = "(end)"

    /// The lines of the outputs that are logged.
    package let log: LogLines
    package let processID: Int32
    private let process = Process()
    private let input = Pipe()
    private let outputPipe = Pipe()
    private let errorPipe = Pipe()
    /// What was read of standard output, and not yet returned.
    private let unread = Mutex("")
    private let state = State()
    private let streams: (output: Stream, errors: Stream)
    private let owner: (any AnyObject & Sendable)?
    private let isKilledOnRelease: Bool

    /// Starts a program.
    /// - Parameters:
    ///   - path: The absolute path of the executable.
    ///   - environment: All its variables; nil: those of the tests.
    ///   - directory: Its current directory; nil: that of the tests.
    ///   - owner: An object that must live as long as this.
    package init(
        _ path: String, _ arguments: [String] = [], environment: [String: String]? = nil, directory: String? = nil,
        output: Stream = .read, errors: Stream = .shared, log: LogLines = LogLines(),
        owner: (any AnyObject & Sendable)? = nil, isKilledOnRelease: Bool = true
    ) throws {
        self.log = log
        self.owner = owner
        self.isKilledOnRelease = isKilledOnRelease
        streams = (output, errors)
        process.executableURL = URL(fileURLWithPath: path)
        process.arguments = arguments
        if let environment { process.environment = environment }
        if let directory { process.currentDirectoryURL = URL(fileURLWithPath: directory) }
        process.standardInput = input
        if output != .shared { process.standardOutput = output == .dropped ? FileHandle.nullDevice : outputPipe }
        if errors != .shared { process.standardError = errors == .dropped ? FileHandle.nullDevice : errorPipe }
        let state = state
        process.terminationHandler = { process in
            let isExit = process.terminationReason == .exit
            state.code.withLock { $0 = isExit ? process.terminationStatus : -process.terminationStatus }
            state.ended.open()
        }
        // The threads of Dispatch block signals, and a child inherits that mask: Ctrl-C would not reach it.
        var none = sigset_t()
        sigemptyset(&none)
        pthread_sigmask(SIG_SETMASK, &none, nil)
        try process.run()
        processID = process.processIdentifier
        if output == .logged { Self.collect(outputPipe.fileHandleForReading, in: log) }
        if errors == .logged { Self.collect(errorPipe.fileHandleForReading, in: log) }
    }

    deinit { if isKilledOnRelease, isRunning { systemKill(processID, SIGKILL) } }

    package var isRunning: Bool { state.code.withLock { $0 == nil } }

    /// The variables that it was given.
    package var environment: [String: String] { process.environment ?? [:] }

    private static func collect(_ handle: FileHandle, in log: LogLines) {
        Thread.detachNewThread {
            var rest = ""
            while case let bytes = handle.readAvailable(), !bytes.isEmpty {
                var lines = (rest + String(decoding: bytes, as: UTF8.self)).splitLines()
                rest = lines.removeLast()
                for line in lines { log.note(line) }
            }
            log.note(end)
        }
    }

    // MARK: Its input and output

    /// Sends text to its standard input, unless it has ended.
    package func type(_ text: String) {
        if !text.isEmpty { input.fileHandleForWriting.writeUnlessBroken(text) }
    }

    package func endInput() { try? input.fileHandleForWriting.close() }

    /// What it prints next: at least a byte, none at the end.
    package func readSome() throws -> String {
        let text = unread.withLock { unread in
            defer { unread = "" }
            return unread
        }
        return try text.isEmpty ? String(decoding: outputPipe.fileHandleForReading.readSome(), as: UTF8.self) : text
    }

    /// The next line of standard output.
    package func line() throws -> String { try lines(through: "")[0] }

    /// Lines of standard output, up to and with one that contains a text; any line does if the text is empty.
    @discardableResult
    package func lines(through text: String) throws -> [String] {
        while true {
            let found = unread.withLock { unread -> [String]? in
                var lines = unread.splitLines()
                let rest = lines.removeLast()
                guard let last = lines.firstIndex(where: { text.isEmpty || $0.contains(text) }) else { return nil }
                unread = (lines[(last + 1)...] + [rest]).joined(separator: "\n")
                return Array(lines[...last])
            }
            if let found { return found }
            let data = try outputPipe.fileHandleForReading.readSome()
            if data.isEmpty {
                let printed = unread.withLock { $0 }
                throw ClientError.ended("no “\(text)” in “\(printed)”; \(try result())")
            }
            unread.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
    }

    /// Reads standard output until it contains a text, which stays unread.
    package func wait(for text: String) throws {
        while !unread.withLock({ $0.contains(text) }) {
            let data = try outputPipe.fileHandleForReading.readSome()
            if data.isEmpty { throw ClientError.ended("no “\(text)”; \(try result())") }
            unread.withLock { $0 += String(decoding: data, as: UTF8.self) }
        }
    }

    /// Waits for a log line from an index on, and returns its index.
    @discardableResult
    package func waitForLine(from start: Int = 0, containing text: String) throws -> Int {
        let found = try #require(log.firstIndex(from: start) { $0.contains(text) || $0 == Self.end })
        try #require(log.all[found].contains(text), "no “\(text)” in \(log.all)")
        return found
    }

    // MARK: Its end

    package func signal(_ number: Int32) { systemKill(processID, number) }

    /// - Returns: The exit code, or the negative number of the signal that ended the process.
    @discardableResult
    package func waitForEnd() throws -> Int32 {
        state.ended.waitBlocking(until: .testTimeout)
        guard let code = state.code.withLock({ $0 }) else { throw ClientError.timeout("the end of a program") }
        #expect(!log.contains("ThreadSanitizer"), "\(log.all)")
        return code
    }

    /// Reads the rest of its outputs and waits for its end.
    package func result() throws -> Result {
        let rest = try streams.output == .read ? outputPipe.fileHandleForReading.readRest() : Data()
        let failures = try streams.errors == .read ? errorPipe.fileHandleForReading.readRest() : Data()
        let text = unread.withLock { unread in
            unread += String(decoding: rest, as: UTF8.self)
            return unread
        }
        return Result(code: try waitForEnd(), output: text, errors: String(decoding: failures, as: UTF8.self))
    }

    /// Ends the process as a power cut would.
    package func kill() throws {
        signal(SIGKILL)
        try waitForEnd()
    }
}

/// kill(2), which the method hides.
private func systemKill(_ process: Int32, _ signal: Int32) { _ = kill(process, signal) }
