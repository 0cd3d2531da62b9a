// Tests a daemon as a service of a group: by the group's own shutdown, and by signals to a program.

import Foundation
import Logging
import ServiceLifecycle
import Testing
import TweaksDaemon
import TweaksLifecycle

struct ServiceTests {
    private let registry = TweakRegistry()
    private let logger = Logger(label: "test")
    private let name = "lifecycle-\(UUID().uuidString.prefix(8))"

    private func daemon() throws -> TweakDaemon {
        var configuration = TweakDaemon.Configuration()
        configuration.registry = registry
        configuration.storage = .off
        configuration.signals = []
        configuration.onEvent = { _ in }
        return try TweakDaemon.start(name, configuration)
    }

    /// Reports that it runs, and, when the group shuts down, whether the daemon still serves.
    private struct Last: Service {
        let socket: String
        let report: @Sendable (String) -> Void

        func run() async throws {
            report("running")
            try await gracefulShutdown()
            report(FileManager.default.fileExists(atPath: socket) ? "serving" : "stopped")
        }
    }

    @Test func `A graceful shutdown stops the daemon after the services that come after it`() async throws {
        let daemon = try daemon()
        let socket = try #require(daemon.socketPath)
        let (reports, continuation) = AsyncStream.makeStream(of: String.self)
        let last = Last(socket: socket) { continuation.yield($0) }
        let group = ServiceGroup(services: [TweakService(daemon, reloadsAt: [], logger: logger), last], logger: logger)
        async let running: Void = group.run()
        var all = reports.makeAsyncIterator()
        #expect(await all.next() == "running")
        await group.triggerGracefulShutdown()
        try await running
        #expect(await all.next() == "serving")
        #expect(!FileManager.default.fileExists(atPath: socket))
    }

    @Test func `A daemon that the program stops ends its service`() async throws {
        let daemon = try daemon()
        async let running: Void = TweakService(daemon, reloadsAt: [], logger: logger).run()
        daemon.stop()
        // Whether it has begun to serve or not: then the error names that.
        do { try await running } catch let error as ServerError { #expect("\(error)".contains("stopped")) }
    }

    @Test func `A program with all neighbors reloads at SIGHUP and ends in order at SIGTERM`() async throws {
        let directory = FileManager.default.temporaryDirectory.appending(path: name)
        try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: false)
        defer { try? FileManager.default.removeItem(at: directory) }
        let file = directory.appending(path: "quotes.json")
        func write(_ greeting: String) throws {
            let text = #"{"quotes": {"worker": {"greeting": "\#(greeting)"}}, "log": {"levels": {"worker": "debug"}}}"#
            try Data(text.utf8).write(to: file, options: .atomic)
        }
        try write("first")
        let variables = [
            "QUOTES_FILE": file.path, "TWEAKS_SOCKET": directory.appending(path: "s").path, "TWEAKS_STATE_DIR": "off",
        ]
        let program = try Program("quotes-service", variables)
        try await program.wait(for: "first")
        // The file gives its label a level, which a terminal could do as well.
        try await program.wait(for: "greeting=first")
        try write("second")
        kill(program.id, SIGHUP)
        try await program.wait(for: "second")
        kill(program.id, SIGTERM)
        try await program.wait(for: "the worker has ended")
        #expect(program.end() == 0)
        try await program.wait(for: "stopping")
    }
}

/// A program of this package whose output is read line by line.
private final class Program: Sendable {
    private let process = Process()
    private let lines: AsyncStream<String>
    let id: pid_t

    init(_ name: String, _ variables: [String: String]) throws {
        // The tests are a bundle beside the programs.
        let bundle = CommandLine.arguments.first { $0.hasSuffix(".xctest") } ?? CommandLine.arguments[0]
        let pipe = Pipe()
        let environment = ProcessInfo.processInfo.environment.filter { !$0.key.hasPrefix("TWEAKS_") }
        process.executableURL = URL(fileURLWithPath: bundle).deletingLastPathComponent().appending(path: name)
        process.environment = environment.merging(variables) { $1 }
        (process.standardOutput, process.standardError) = (pipe, pipe)
        let (lines, continuation) = AsyncStream.makeStream(of: String.self)
        self.lines = lines
        try process.run()
        id = process.processIdentifier
        try pipe.fileHandleForWriting.close()
        let output = pipe.fileHandleForReading
        Thread.detachNewThread {
            var rest = Data()
            while case let data = output.availableData, !data.isEmpty {
                rest += data
                while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
                    continuation.yield(String(decoding: rest[..<end], as: UTF8.self))
                    rest = Data(rest[(end + 1)...])
                }
            }
            continuation.finish()
        }
    }

    /// No program outlives a test that has failed.
    deinit { if process.isRunning { kill(id, SIGKILL) } }

    /// Waits for a line; the lines before it are gone.
    func wait(for text: String) async throws {
        var skipped: [String] = []
        for await line in lines {
            if line.contains(text) { return }
            skipped.append(line)
        }
        Issue.record("no line with “\(text)” in \(skipped)")
    }

    /// Waits for its end, and returns its code.
    func end() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }
}
