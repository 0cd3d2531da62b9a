// Stopping from the most awkward places, at the worst moments, and again and again.

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
import Tweaks
import TweaksDaemon
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct DaemonStoppingTests {
    /// An observer runs on the delivery thread, an event handler on the log's queue, an action on the server's word.
    @Test(arguments: ["observer", "event", "action"])
    func fromWithin(_ place: String) async throws {
        let tweaks = ExampleTweaks()
        let station = try Station(registry: tweaks.registry)
        try Data("Content/Text/Size = 64\n".utf8).write(to: URL(filePath: station.config))
        let running = Mutex<TweakDaemon?>(nil)
        let stop: @Sendable () -> Void = { running.withLock { $0 }?.stop() }
        let daemon = try station.start(.init(station.config)) { event in
            if place == "event", case .changed(let commit) = event, commit.origin != .configFile { stop() }
        }
        running.withLock { $0 = daemon }
        let token = place == "observer" ? tweaks.size.observe { _ in stop() } : nil
        tweakAction("Review", "Stopping", "Stop", registry: tweaks.registry) { _ in
            stop()
            return "stopped"
        }
        let client = try TestClient(unix: try #require(daemon.socketPath))
        try client.send(place == "action" ? "run Review/Stopping/Stop\n" : "Content/Text/Size = 71\n")
        client.endInput()
        try await daemon.run()
        token?.cancel()
        running.withLock { $0 = nil }
    }

    /// Nor does one that says nothing, as `nc` in a terminal that is forgotten: with every patience of an hour, an end that
    /// waited for one would not come.
    @Test(.enabled(if: Tool.nc.exists, "install netcat-openbsd")) func besideIdleClients() throws {
        let home = try Home()
        var limits = TweakServerLimits()
        (limits.lingerTime, limits.fatalDrain.time) = (.seconds(3_600), .seconds(3_600))
        let connected = DispatchSemaphore(value: 0)
        let configuration = TweakDaemon.Configuration.test(
            home.registry, ["XDG_RUNTIME_DIR": home.directory.path]
        ) {
            ($0.tcp, $0.limits) = (.open(port: 0), limits)
            $0.onEvent = { event in
                if case .session(let event) = event, event.session.state == .created { connected.signal() }
            }
        }
        let daemon = try TweakDaemon.start("example", configuration)
        let clients = try [
            IdleClient(["-U", try #require(daemon.socketPath)]),
            IdleClient(["127.0.0.1", "\(try #require(daemon.port))"]),
        ]
        for _ in clients { #expect(connected.wait(timeout: .patience) == .success) }
        let stopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            daemon.stop()
            stopped.signal()
        }
        #expect(stopped.wait(timeout: .patience) == .success)
        for client in clients { #expect(try client.rest().hasPrefix("error closing ")) }
    }

    /// A process of `nc` whose input stays open and empty.
    private final class IdleClient {
        private let process = Process()
        private let (input, output) = (Pipe(), Pipe())

        init(_ arguments: [String]) throws {
            process.executableURL = URL(filePath: Tool.nc.path)
            process.arguments = arguments
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
        }

        deinit { process.terminate() }

        /// What it prints until its server ends the connection.
        func rest() throws -> String {
            try input.fileHandleForWriting.close()
            return String(decoding: try output.fileHandleForReading.readRest(), as: UTF8.self)
        }
    }

    /// A log that nobody reads any more, as a full pipe, keeps no program from ending.
    @Test func behindAStuckLog() throws {
        let station = try Station()
        let release = DispatchSemaphore(value: 0)
        let daemon = try station.start { event in
            if case .stopping = event { release.wait() }
        }
        let stopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            daemon.stop()
            stopped.signal()
        }
        #expect(stopped.wait(timeout: .patience) == .success)
        release.signal()
    }

    /// Whoever reads standard error may leave; the process does not end for that.
    @Test func withoutAReader() async {
        await #expect(processExitsWith: .success) {
            let home = try Home()
            setenv("XDG_RUNTIME_DIR", home.directory.path, 1)
            let before = dup(STDERR_FILENO)
            var ends: [Int32] = [0, 0]
            try #require(pipe(&ends) == 0 && dup2(ends[1], STDERR_FILENO) == STDERR_FILENO)
            for end in ends { close(end) }
            let daemon = try TweakDaemon.start(
                "review", storage: .off, signals: [], registry: home.registry, tweaks: [])
            daemon.stop()
            // Not for what the test's own end has to say.
            dup2(before, STDERR_FILENO)
        }
    }

    /// A hangup that comes while the daemon stops does not end the process before everything is written.
    @Test func hangupMeanwhile() async {
        await #expect(processExitsWith: .success) {
            let home = try Home()
            let configuration = TweakDaemon.Configuration.test(
                home.registry, ["XDG_RUNTIME_DIR": home.directory.path]
            ) {
                ($0.config, $0.signals) = (.init(home.directory.file("example.conf")), .reload)
                // By now the daemon has come as far as its sessions.
                $0.onEvent = { event in if event.ending != nil { kill(getpid(), SIGHUP) } }
            }
            let daemon = try TweakDaemon.start("example", configuration)
            let client = try TestClient(unix: try #require(daemon.socketPath))
            try #require(try client.ask("ping") == ["ok pong"])
            daemon.stop()
            withExtendedLifetime(client) {}
        }
    }

    /// Nothing is left behind: no thread, no descriptor.
    @Test(.tags(.quantity)) func againAndAgain() async {
        await #expect(processExitsWith: .success) {
            let home = try Home()
            let config = home.directory.file("example.conf")
            try Data("Content/Text/Size = 64\n".utf8).write(to: URL(filePath: config))
            func count(_ kind: String) throws -> Int {
                try FileManager.default.contentsOfDirectory(atPath: "/proc/self/\(kind)").count
            }
            func cycle() throws {
                let daemon = try home.start(
                    config: .init(config), storage: .directory(home.directory.file("state")),
                    signals: [.reload, .stop])
                let client = try TestClient(unix: try #require(daemon.socketPath))
                try #require(try client.ask("Content/Text/Size = 71").last?.hasPrefix("ok rev") == true)
                try client.send("quit\n")
                client.endInput()
                daemon.stop()
            }
            for _ in 1...5 { try cycle() }
            let before = (try count("fd"), try count("task"))
            for _ in 1...quantity(200, few: 40) { try cycle() }
            let after = (try count("fd"), try count("task"))
            // What Dispatch has for itself comes and goes; one for each round would be many more.
            try #require(after.0 <= before.0 + 20 && after.1 <= before.1 + 24, "\(before) \(after)")
        }
    }

    /// A start that fails half way leaves the state directory and the socket to the next one.
    @Test func failedStarts() throws {
        let home = try Home()
        let config = home.directory.file("example.conf")
        let state = home.directory.file("state")
        for round in 1...5 {
            try Data("Content/Text/Size = 640\n".utf8).write(to: URL(filePath: config))
            #expect(throws: (any Error).self) {
                try home.start(config: .init(config, atStart: .required), storage: .directory(state))
            }
            #expect(throws: (any Error).self) {
                try home.start(storage: .directory(state), ["TWEAKS_SOCKET": "relative"])
            }
            try Data("Content/Text/Size = 64\n".utf8).write(to: URL(filePath: config))
            let daemon = try home.start(
                config: .init(config, atStart: .required), storage: .directory(state))
            let client = try TestClient(unix: try #require(daemon.socketPath))
            let answer = try client.ask("Content/Text/Size = \(round + 20)").last
            #expect(answer?.hasPrefix("ok rev ") == true && answer?.contains("unsaved") == false)
            client.endInput()
            daemon.stop()
        }
    }

    /// A service manager may stop a program that is still setting itself up; that is no failure of the program.
    @Test func signalBeforeRun() async {
        await #expect(processExitsWith: .success) {
            let home = try Home()
            let stopping = DispatchSemaphore(value: 0)
            let configuration = TweakDaemon.Configuration.test(
                home.registry, ["XDG_RUNTIME_DIR": home.directory.path]
            ) {
                $0.signals = .stop
                $0.onEvent = { event in if case .stopping = event { stopping.signal() } }
            }
            let daemon = try TweakDaemon.start("example", configuration)
            let path = try #require(daemon.socketPath)
            kill(getpid(), SIGTERM)
            stopping.wait()
            while FileManager.default.fileExists(atPath: path) { sched_yield() }
            try await daemon.run()
        }
    }
}
