// stop(): what is under way is answered, everybody is told, nothing is left behind, and it can start again.

import Dispatch
import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct StoppingTests {
    @Test func everySessionIsTold() throws {
        let server = try TestServer(hasThread: true)
        let clients = try Transport.available.map { try server.connect($0) }
        for client in clients { try client.ask("ping") }
        try clients[0].ask("watch Content")
        server.server.stop()
        for client in clients {
            let lines = try client.restOfLines()
            #expect(lines.count == 1 && lines[0].hasPrefix("error closing "))
        }
    }

    @Test func evenOneThatSaidNothing() throws {
        let server = try TestServer(hasThread: true)
        let (silent, other) = (try server.connect(), try server.connect())
        try eventually { try other.ask("stats").contains("  sessions: 2") }
        server.server.stop()
        #expect(try silent.restOfLines().first?.hasPrefix("error closing ") == true)
    }

    /// A port is free as soon as the server has stopped. One that the system gives to nobody by itself: tests beside this
    /// one listen wherever it tells them to. And they start processes, which hold all that is open from their fork to their
    /// exec: so it may be taken, but seldom, and then not for long.
    @Test func itListensThereAgain() throws {
        let port = try #require((20_000..<32_000).shuffled().lazy.filter(Self.listensOnce).first)
        var delays = 0
        for _ in 0..<quantity(100) where !Self.listensOnce(port) {
            delays += 1
            try eventually { Self.listensOnce(port) }
        }
        #expect(delays <= 10)
    }

    private static func listensOnce(_ port: Int) -> Bool {
        let server = TweakServer(name: "next", registry: TweakRegistry(), listeners: [.tcp(port: port)])
        defer { server.stop() }
        return (try? server.start()) != nil
    }

    /// On a line of its own, although a prompt stands there.
    @Test func people() throws {
        let server = try TestServer(hasThread: true)
        let client = try server.connect()
        try client.send("\n")
        _ = try client.read(through: "\n> ")
        server.server.stop()
        #expect(try client.rest().hasPrefix("\nerror closing "))
    }

    @Test func programs() throws {
        let server = try TestServer(hasThread: true)
        let client = try server.connect()
        try client.send("json\n")
        _ = try client.line()
        server.server.stop()
        #expect(try client.rest().hasPrefix(#"{"ok":false,"error":{"code":"closing","#))
    }

    @Test func nothingIsLeftBehindAndItStartsAgain() throws {
        let server = try TestServer(hasThread: true)
        for _ in 1...3 {
            #expect(try server.connect().ask("ping") == ["ok pong"])
            #expect(try server.connect(.tcp4).ask("ping") == ["ok pong"])
            server.server.stop()
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.directory.path).isEmpty)
            #expect(server.server.port == nil && server.server.socketPaths.isEmpty)
            #expect(throws: ClientError.self) { try server.connect() }
            try server.server.start()
        }
    }

    @Test func startingTwiceIsRefused() throws {
        let server = try TestServer(hasThread: true)
        #expect(throws: ServerError("example: the server is running already; stop it first")) {
            try server.server.start()
        }
        #expect(try server.connect().ask("ping") == ["ok pong"])
    }

    @Test func stoppingTwiceIsFine() throws {
        let server = try TestServer(hasThread: true)
        server.server.stop()
        server.server.stop()
    }

    /// Its caller is answered at once; what stands behind it was not begun and is not run.
    @Test func aRunningActionIsCancelled() throws {
        let registry = ExampleTweaks().registry
        let (began, gate, cancelled) = (Gate(), Gate(), Gate())
        tweakAction("A", "B", "Act", registry: registry) { _ in
            await withTaskCancellationHandler {
                began.open()
                await gate.wait()
            } onCancel: {
                cancelled.open()
            }
            return "done"
        }
        var limits = TweakServerLimits()
        limits.lingerTime = .seconds(3_600)
        let server = try TestServer(registry: registry, limits: limits, hasThread: true)
        let client = try server.connect()
        try client.send("run A/B/Act\nset Content/Text/Size 72\n")
        began.waitBlocking()
        server.server.stop()
        cancelled.waitBlocking()
        #expect(try client.restOfLines() == ["error closing the process is shutting down"])
        gate.open()
        #expect(registry.revision == 0)
    }

    /// It does not wait for itself, nor does anybody else.
    @Test func byAnAction() throws {
        let registry = ExampleTweaks().registry
        let running = Mutex<TweakServer?>(nil)
        let stopped = Gate()
        tweakAction("A", "B", "Quit", registry: registry) { _ in
            running.withLock { $0 }?.stop()
            stopped.open()
            return "stopped"
        }
        var limits = TweakServerLimits()
        limits.lingerTime = .seconds(3_600)
        let server = try TestServer(registry: registry, limits: limits, hasThread: true)
        running.withLock { $0 = server.server }
        let client = try server.connect()
        try client.send("run A/B/Quit\n")
        stopped.waitBlocking()
        #expect(try client.restOfLines() == ["error closing the process is shutting down"])
        running.withLock { $0 = nil }
    }

    @Test func aLongReplyIsCompleted() throws {
        var limits = TweakServerLimits()
        limits.lingerTime = .seconds(3_600)
        let server = try TestServer(registry: LongListing.registry, limits: limits, hasThread: true)
        let (client, other) = (try server.connect(), try server.connect())
        try other.ask("ping")
        try client.send("get Many\n")
        // It has begun, and cannot end before it is read.
        let first = try client.line()
        let stopped = Gate()
        Thread.detachNewThread { [server = server.server] in
            server.stop()
            stopped.open()
        }
        #expect(try other.restOfLines().first?.hasPrefix("error closing ") == true)
        let lines = try [first] + client.restOfLines()
        #expect(lines.count == LongListing.count + 2)
        #expect(lines.suffix(2).first == "ok")
        #expect(lines.last?.hasPrefix("error closing ") == true)
        client.endInput()
        other.endInput()
        stopped.waitBlocking()
    }

    /// Clients that read, or wait for events, and do not go away by themselves.
    @Test func anIdleConnectionIsNotWaitedFor() throws {
        var limits = TweakServerLimits()
        (limits.lingerTime, limits.fatalDrain.time) = (.seconds(3_600), .seconds(3_600))
        let server = try TestServer(limits: limits, hasThread: true)
        let clients = try Transport.available.map { try server.connect($0) }
        for client in clients { try client.ask("watch Content") }
        // One that is being ended for what it sent.
        let stranger = try server.connect()
        try stranger.send("GET / HTTP/1.1\n")
        #expect(try stranger.restOfLines().count == 1)
        let stopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [server = server.server] in
            server.stop()
            stopped.signal()
        }
        #expect(stopped.wait(timeout: .patience) == .success)
        for client in clients { #expect(try client.restOfLines().last?.hasPrefix("error closing ") == true) }
    }

    /// Nobody can keep it from stopping.
    @Test func aDeafClientIsLeft() throws {
        var limits = TweakServerLimits()
        limits.lingerTime = .milliseconds(1)
        let server = try TestServer(registry: LongListing.registry, limits: limits, hasThread: true)
        let client = try server.connect()
        try client.send("get Many\n")
        _ = try client.line()
        server.server.stop()
        #expect(!FileManager.default.fileExists(atPath: server.path))
        #expect(try !client.rest().contains("\nok\n"))
    }

    /// A handler of sessions runs on the server's own thread, which cannot wait for itself.
    @Test func byAHandlerOfSessions() throws {
        let running = Mutex<TweakServer?>(nil)
        var hooks = TweakServerHooks()
        hooks.onSessionEvent = { _ in running.withLock { $0 }?.stop() }
        let directory = try TemporaryDirectory()
        let server = TweakServer(
            name: "example", registry: ExampleTweaks().registry, listeners: [.unix(path: directory.file("socket"))],
            limits: TweakServerLimits(), hooks: hooks)
        running.withLock { $0 = server }
        try server.start()
        let client = try TestClient(unix: directory.file("socket"))
        #expect(try client.rest().hasSuffix("error closing the process is shutting down\n"))
        // It may start again, as after any stop.
        running.withLock { $0 = nil }
        try eventually { !server.isRunning }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
        try server.start()
        #expect(try TestClient(unix: directory.file("socket")).ask("ping") == ["ok pong"])
        server.stop()
    }

    /// run() serves until its task is cancelled.
    @Test func runEndsWithItsTask() async throws {
        let directory = try TemporaryDirectory()
        let server = TweakServer(
            name: "example", registry: ExampleTweaks().registry, listeners: [.unix(path: directory.file("socket"))])
        let task = Task { try await server.run() }
        while server.socketPaths.isEmpty { await Task.yield() }
        let client = try TestClient(unix: directory.file("socket"))
        #expect(try client.ask("ping") == ["ok pong"])
        task.cancel()
        #expect(try client.restOfLines().first?.hasPrefix("error closing ") == true)
        client.endInput()
        try await task.value
        #expect(!FileManager.default.fileExists(atPath: directory.file("socket")))
        try server.start()
        server.stop()
    }
}
