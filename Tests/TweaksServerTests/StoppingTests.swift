// Tests stop(): pending replies are sent, every session gets the reason, and the server can start again.

import Dispatch
import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport

@Suite(.blocking) struct StoppingTests {
    private let registry = ExampleTweaks().registry
    private static let closing = "error closing the process is shutting down"

    @Test func everySessionReceivesTheReason() throws {
        let server = try TestServer(hasThread: true)
        let clients = try Transport.available.map { try server.connect($0) }
        for client in clients { try client.ask("ping") }
        try clients[0].ask("watch Content")
        // A session that has sent nothing.
        let silent = try server.connect()
        try eventually { try clients[0].stats("sessions") == "\(clients.count + 1)" }
        server.server.stop()
        for client in clients + [silent] {
            let lines = try client.restOfLines()
            #expect(lines.count == 1 && lines[0].hasPrefix("error closing "))
        }
    }

    /// (first line, the end of its reply, the beginning of the reason)
    @Test(arguments: [
        ("", "\n> ", "\nerror closing "), ("json", "\n", #"{"ok":false,"error":{"code":"closing","#),
    ])
    func theReasonIsInTheModeOfTheSession(_ line: String, _ end: String, _ reason: String) throws {
        let (server, client) = try TestServer(hasThread: true).withClient()
        try client.send(line + "\n")
        _ = try client.read(through: end)
        server.server.stop()
        #expect(try client.rest().hasPrefix(reason))
    }

    // MARK: Starting again

    /// The port is one that the system and the panel's tests assign to no other test. A program that is being started has the listener from
    /// fork to exec; that neither keeps the port nor lets clients in.
    @Test func thePortIsFreeWhenTheServerHasStopped() throws {
        let port = try #require((12_000..<20_000).shuffled().lazy.filter(Self.listensOnce).first)
        for _ in 0..<quantity(100) { #expect(Self.listensOnce(port)) }
        let server = TweakServer(name: "next", registry: TweakRegistry(), listeners: [.tcp(port: port)])
        try server.start()
        let inherited = try InheritedListener(port: port)
        server.stop()
        try withExtendedLifetime(inherited) {
            #expect(throws: ClientError.system("connect", ECONNREFUSED)) { try TestClient(port: port) }
            try server.start()
            server.stop()
        }
    }

    private static func listensOnce(_ port: Int) -> Bool {
        let server = TweakServer(name: "next", registry: TweakRegistry(), listeners: [.tcp(port: port)])
        defer { server.stop() }
        return (try? server.start()) != nil
    }

    @Test func aStoppedServerLeavesNoFilesAndStartsAgain() throws {
        let server = try TestServer(hasThread: true)
        for _ in 1...3 {
            for transport in [Transport.unix, .tcp4] {
                #expect(try server.connect(transport).ask("ping") == ["ok pong"])
            }
            server.server.stop()
            #expect(try FileManager.default.contentsOfDirectory(atPath: server.directory.path).isEmpty)
            #expect(server.server.port == nil && server.server.socketPaths.isEmpty)
            #expect(throws: ClientError.self) { try server.connect() }
            try server.server.start()
        }
    }

    @Test func startingTwiceIsRefusedAndStoppingTwiceIsNot() throws {
        let server = try TestServer(hasThread: true)
        #expect(throws: ServerError("example: the server is running already; stop it first")) {
            try server.server.start()
        }
        #expect(try server.connect().ask("ping") == ["ok pong"])
        server.server.stop()
        server.server.stop()
    }

    // MARK: Actions

    /// Its session is closed at once, and a request behind it does not run.
    @Test func aRunningActionIsCanceled() throws {
        let (began, released, canceled) = (Gate(), Gate(), Gate())
        tweakAction("A", "B", "Act", registry: registry) { _ in
            await withTaskCancellationHandler {
                began.open()
                await released.wait()
            } onCancel: {
                canceled.open()
            }
            return "done"
        }
        let (server, client) = try TestServer(registry: registry, hasThread: true) { $0.lingerTime = .seconds(3_600) }
            .withClient()
        try client.send("run A/B/Act\nset Content/Text/Size 72\n")
        began.waitBlocking()
        server.server.stop()
        canceled.waitBlocking()
        #expect(try client.restOfLines() == [Self.closing])
        released.open()
        #expect(registry.revision == 0)
    }

    @Test func anActionCanStopTheServer() throws {
        let running = Mutex<TweakServer?>(nil)
        let stopped = Gate()
        tweakAction("A", "B", "Quit", registry: registry) { _ in
            running.withLock { $0 }?.stop()
            stopped.open()
            return "stopped"
        }
        let (server, client) = try TestServer(registry: registry, hasThread: true) { $0.lingerTime = .seconds(3_600) }
            .withClient()
        running.withLock { $0 = server.server }
        try client.send("run A/B/Quit\n")
        stopped.waitBlocking()
        #expect(try client.restOfLines() == [Self.closing])
        running.withLock { $0 = nil }
    }

    // MARK: Waiting for clients

    @Test func aLongReplyIsCompleted() throws {
        let (server, client, other) = try TestServer(registry: LongListing.registry, hasThread: true) {
            $0.lingerTime = .seconds(3_600)
        }.withTwoClients()
        try other.ask("ping")
        try client.send("get Many\n")
        // The reply has begun, and cannot end before it is read.
        let first = try client.line()
        let stopped = server.server.stopInBackground()
        #expect(try other.restOfLines().first?.hasPrefix("error closing ") == true)
        let lines = try [first] + client.restOfLines()
        #expect(lines.count == LongListing.count + 2)
        #expect(lines.suffix(2).first == "ok" && lines.last?.hasPrefix("error closing ") == true)
        client.endInput()
        other.endInput()
        stopped.waitBlocking()
    }

    /// Clients that watch, and one after a fatal error, which do not close their connections.
    @Test func anIdleConnectionIsNotWaitedFor() throws {
        let server = try TestServer(hasThread: true) {
            ($0.lingerTime, $0.fatalDrain.time) = (.seconds(3_600), .seconds(3_600))
        }
        let clients = try Transport.available.map { try server.connect($0) }
        for client in clients { try client.ask("watch Content") }
        let refused = try server.connect()
        try refused.send("GET / HTTP/1.1\n")
        #expect(try refused.restOfLines().count == 1)
        let stopped = DispatchSemaphore(value: 0)
        Thread.detachNewThread { [server = server.server] in
            server.stop()
            stopped.signal()
        }
        #expect(stopped.wait(timeout: .testTimeout) == .success)
        for client in clients { #expect(try client.restOfLines().last?.hasPrefix("error closing ") == true) }
    }

    @Test func aClientThatDoesNotReadIsNotWaitedFor() throws {
        let (server, client) = try TestServer(registry: LongListing.registry, hasThread: true) {
            $0.lingerTime = .milliseconds(1)
        }.withClient()
        try client.send("get Many\n")
        _ = try client.line()
        server.server.stop()
        #expect(!FileManager.default.fileExists(atPath: server.path))
        #expect(try !client.rest().contains("\nok\n"))
    }

    // MARK: Other callers

    /// A handler of session events runs on the server's own thread, which cannot wait for itself.
    @Test func aHandlerOfSessionEventsCanStopTheServer() throws {
        let running = Mutex<TweakServer?>(nil)
        var hooks = TweakServerHooks()
        hooks.onSessionEvent = { _ in running.withLock { $0 }?.stop() }
        let directory = try TemporaryDirectory()
        let server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
            limits: TweakServerLimits(), hooks: hooks)
        running.withLock { $0 = server }
        try server.start()
        let client = try TestClient(unix: directory.file("socket"))
        #expect(try client.rest().hasSuffix("\(Self.closing)\n"))
        running.withLock { $0 = nil }
        try eventually { !server.isRunning }
        #expect(try FileManager.default.contentsOfDirectory(atPath: directory.path) == [])
        try server.start()
        #expect(try TestClient(unix: directory.file("socket")).ask("ping") == ["ok pong"])
        server.stop()
    }

    @Test func runServesUntilItsTaskIsCanceled() async throws {
        let directory = try TemporaryDirectory()
        let server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))])
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
