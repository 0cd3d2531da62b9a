// Tests a daemon as a service of a group: by the group's own shutdown, and by signals to a program.

import Foundation
import Logging
import NeighborsTestSupport
import ServiceLifecycle
import Testing
import TweaksDaemon
import TweaksLifecycle

@Suite(.timeLimit(.minutes(2))) struct ServiceTests {
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
        let directory = try TemporaryDirectory()
        let file = directory.file("quotes.json")
        func write(_ greeting: String) throws {
            let levels = #"{"worker": "debug", "quotes": "debug"}"#
            let text = #"{"quotes": {"worker": {"greeting": "\#(greeting)"}}, "log": {"levels": \#(levels)}}"#
            try Data(text.utf8).write(to: URL(fileURLWithPath: file), options: .atomic)
        }
        try write("first")
        let variables = [
            "QUOTES_FILE": file, "TWEAKS_SOCKET": directory.file("s"), "TWEAKS_STATE_DIR": "off",
        ]
        let program = try Running([built("quotes-service")], variables)
        // The file gives labels their levels, which a terminal could do as well. A signal before the last line would end
        // the program.
        try await program.wait(for: "greeting=first", "ready to reload")
        try write("second")
        program.send("HUP")
        // Each greeting once, though the file tells it by two providers.
        try await program.wait(for: "greeting=second number=2", "reloaded")
        #expect(program.stop() == 0)
        try await program.wait(for: "the worker has ended")
        try await program.wait(for: "stopping")
    }
}
