// Tests stopping a daemon: from its own callbacks, beside idle clients, during signals, repeatedly.

import Dispatch
import Foundation
import Synchronization
import Testing
import TweaksDaemon
import TweaksTestSupport

@Suite(.blocking) struct DaemonStoppingTests {
    /// An observer runs on the delivery thread, an event handler on the log's queue, an action on the server's request.
    @Test(arguments: ["observer", "event", "action"])
    func callbacksCanStopTheDaemon(_ place: String) async throws {
        let tweaks = ExampleTweaks()
        let fixture = try DaemonFixture(registry: tweaks.registry)
        // Its deinit would stop the daemon, too.
        defer { withExtendedLifetime(fixture) {} }
        try fixture.save("Content/Text/Size = 64\n")
        let running = Mutex<TweakDaemon?>(nil)
        let stop: @Sendable () -> Void = { running.withLock { $0 }?.stop() }
        let daemon = try fixture.start(config: fixture.configFile) { event in
            if place == "event", case .changed(let commit) = event, commit.origin != .configFile { stop() }
        }
        running.withLock { $0 = daemon }
        let token = place == "observer" ? tweaks.size.observe { _ in stop() } : nil
        tweakAction("Review", "Stopping", "Stop", registry: tweaks.registry) { _ in
            stop()
            return "stopped"
        }
        let client = try fixture.connect(daemon)
        try client.send(place == "action" ? "run Review/Stopping/Stop\n" : "Content/Text/Size = 71\n")
        client.endInput()
        try await daemon.run()
        token?.cancel()
        running.withLock { $0 = nil }
    }

    /// All timeouts are an hour, so a stop that waited for a client would not return.
    @Test(.enabled(if: Tool.nc.exists, "install netcat-openbsd")) func idleClientsDoNotDelayAStop() throws {
        let fixture = try DaemonFixture(isSaving: false)
        var limits = TweakServerLimits()
        (limits.lingerTime, limits.fatalDrain.time) = (.seconds(3_600), .seconds(3_600))
        let connected = DispatchSemaphore(value: 0)
        let daemon = try fixture.start(tcp: .open(port: 0), limits: limits) { event in
            if case .session(let event) = event, event.session.state == .created { connected.signal() }
        }
        let clients = try [
            RunningProgram(Tool.nc.path, ["-U", try #require(daemon.socketPath)]),
            RunningProgram(Tool.nc.path, ["127.0.0.1", "\(try #require(daemon.port))"]),
        ]
        for _ in clients { #expect(connected.wait(timeout: .testTimeout) == .success) }
        expectStops(daemon)
        for client in clients {
            client.endInput()
            #expect(try client.result().output.hasPrefix("error closing "))
        }
    }

    private func expectStops(_ daemon: TweakDaemon) {
        let stopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            daemon.stop()
            stopped.signal()
        }
        #expect(stopped.wait(timeout: .testTimeout) == .success)
    }

    /// Such as a log that is a full pipe.
    @Test func aBlockedLogDoesNotDelayAStop() throws {
        let fixture = try DaemonFixture()
        let release = DispatchSemaphore(value: 0)
        let daemon = try fixture.start { event in
            if case .stopping = event { release.wait() }
        }
        expectStops(daemon)
        release.signal()
    }

    @Test func aClosedStandardErrorDoesNotEndTheProcess() async {
        await #expect(processExitsWith: .success) {
            let fixture = try DaemonFixture(isSaving: false)
            setenv("XDG_RUNTIME_DIR", fixture.directory.path, 1)
            let before = dup(STDERR_FILENO)
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO)
            for end in ends { close(end) }
            try TweakDaemon.start("review", storage: .off, signals: [], registry: fixture.registry, tweaks: []).stop()
            // For messages of the test itself.
            dup2(before, STDERR_FILENO)
        }
    }

    @Test func aHangupDuringAStopDoesNotEndTheProcess() async {
        await #expect(processExitsWith: .success) {
            let fixture = try DaemonFixture(isSaving: false)
            let daemon = try fixture.start(config: fixture.configFile, signals: .reload) { event in
                // Sessions end while the daemon stops.
                if event.ending != nil { kill(getpid(), SIGHUP) }
            }
            let client = try TestClient(unix: try #require(daemon.socketPath))
            try #require(try client.ask("ping") == ["ok pong"])
            daemon.stop()
            withExtendedLifetime(client) {}
        }
    }

    @Test(.tags(.quantity)) func repeatedStartsAndStopsLeakNoThreadsOrDescriptors() async {
        await #expect(processExitsWith: .success) {
            let fixture = try DaemonFixture()
            try fixture.save("Content/Text/Size = 64\n")
            func count(_ kind: String) throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(kind)").count
            }
            func cycle() throws {
                let daemon = try fixture.start(config: fixture.configFile, signals: [.reload, .stop])
                let client = try fixture.connect(daemon)
                try #require(try client.ask("Content/Text/Size = 71").last?.hasPrefix("ok rev") == true)
                try client.send("quit\n")
                fixture.stop(daemon)
            }
            for _ in 1...5 { try cycle() }
            let before = (try count("fd"), try count("task"))
            for _ in 1...quantity(200, few: 40) { try cycle() }
            let after = (try count("fd"), try count("task"))
            // Dispatch threads come and go; a leak in each round would be many more.
            try #require(after.0 <= before.0 + 20 && after.1 <= before.1 + 24, "\(before) \(after)")
        }
    }

    @Test func aFailedStartReleasesTheStateDirectoryAndTheSocket() throws {
        let fixture = try DaemonFixture()
        let required = TweakDaemon.ConfigFile(fixture.config, atStart: .required)
        for round in 1...5 {
            try fixture.save("Content/Text/Size = 640\n")
            #expect(throws: (any Error).self) { try fixture.start(config: required) }
            #expect(throws: (any Error).self) { try fixture.start(["TWEAKS_SOCKET": "relative"]) }
            try fixture.save("Content/Text/Size = 64\n")
            let daemon = try fixture.start(config: required)
            let reply = try fixture.connect(daemon).ask("Content/Text/Size = \(round + 20)").last
            #expect(reply?.hasPrefix("ok rev ") == true && reply?.contains("unsaved") == false)
            fixture.stop(daemon)
        }
    }

    /// A service manager may stop a program that is still starting.
    @Test func aStopSignalBeforeRunIsNoError() async {
        await #expect(processExitsWith: .success) {
            let fixture = try DaemonFixture(isSaving: false)
            let stopping = DispatchSemaphore(value: 0)
            let daemon = try fixture.start(signals: .stop) { event in
                if case .stopping = event { stopping.signal() }
            }
            let path = try #require(daemon.socketPath)
            kill(getpid(), SIGTERM)
            stopping.wait()
            while FileManager.default.fileExists(atPath: path) { sched_yield() }
            try await daemon.run()
        }
    }
}
