// Runs a server whose panel is below a path of a router, and asks it as the router does.

import Testing
import Tweaks
import TweaksServer
import TweaksTestSupport
import TweaksWire

@testable import TweaksPanel

/// A server without a panel of its own; it stops when this is released.
final class MountedPanel: Sendable {
    static let site = "https://ops.example.org"
    static let ada = TweakPanelCaller(name: "ada", scopes: [.admin])

    let events: Recorder<TweakSessionEvent>
    let server: TweakServer
    let registry: TweakRegistry
    let handler: TweakPanelHandler
    /// The clock of its deadlines.
    private let clock: ManualClock
    /// The path of the server's Unix socket.
    private let path: String
    private let keep: @Sendable () -> Void

    init(
        _ registry: TweakRegistry = ExampleTweaks().registry, below path: String = "/tweaks",
        origins: [String] = [site], clock: ManualClock = ManualClock(isRunning: true),
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws {
        var limits = TweakServerLimits()
        change(&limits)
        let events = Recorder<TweakSessionEvent>()
        let directory = try TemporaryDirectory()
        var hooks = TweakServerHooks()
        hooks.previews = true
        hooks.onSessionEvent = { events.note($0) }
        hooks.clock = { clock.now }
        self.path = directory.file("socket")
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: self.path)], limits: limits, hooks: hooks)
        try server.start()
        handler = TweakPanelHandler(server, below: path, origins: origins)
        keep = { withExtendedLifetime(directory) {} }
        (self.events, self.registry, self.clock) = (events, registry, clock)
    }

    deinit {
        server.stop()
        keep()
    }

    /// A connection to its socket, with all rights.
    func connectByLine() throws -> TestClient { try TestClient(unix: path) }

    /// Advances the clock of its deadlines, and returns when those that have passed are handled.
    func pass(_ duration: Duration) throws {
        clock.advance(by: duration, movesWall: false)
        server.wake()
        let line = try connectByLine()
        for _ in 1...2 { try line.ask("ping") }
    }

    /// Sends a request as the router does.
    func send(
        _ method: String, _ target: String, _ body: String? = nil, _ headers: [String] = [],
        as caller: TweakPanelCaller = ada
    ) async -> TweakPanelResponse {
        var fields = headers.map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map(String.init)
            return (name: parts[0], value: parts.count > 1 ? parts[1] : "")
        }
        if body != nil { fields.append(("Content-Type", "application/json")) }
        let request = TweakPanelRequest(method: method, target: target, headers: fields, body: Array((body ?? "").utf8))
        return await handler.respond(to: request, as: caller)
    }

    /// Sends a request, and reads the whole answer.
    @discardableResult
    func ask(
        _ method: String, _ target: String, _ body: String? = nil, _ headers: [String] = [],
        as caller: TweakPanelCaller = ada
    ) async throws -> PanelAnswer {
        let response = await send(method, target, body, headers, as: caller)
        var bytes: [UInt8] = []
        for try await part in response.body { bytes += part }
        return PanelAnswer(
            status: response.status, headers: response.headers, body: String(decoding: bytes, as: UTF8.self))
    }

    /// Begins a stream of events, and reads its first two.
    func stream(
        _ headers: [String] = [], as caller: TweakPanelCaller = ada
    ) async throws -> (events: MountedEvents, hello: PanelEvent, snapshot: PanelEvent) {
        let response = await send("GET", "/tweaks/api/events", nil, headers, as: caller)
        try #require(response.status == 200)
        var events = MountedEvents(response.body)
        let hello = try #require(try await events.next())
        let snapshot = try #require(try await events.next())
        try #require(hello.name == "hello" && snapshot.name == "snapshot")
        return (events, hello, snapshot)
    }

    /// Waits until a session of a caller has ended.
    func waitUntilClosed(_ caller: String = "caller ada") async { await events.wait { Self.isEnd($0, of: caller) } }

    /// Whether a session of a caller has ended.
    func hasClosed(_ caller: String = "caller ada") -> Bool { events.all.contains { Self.isEnd($0, of: caller) } }

    private static func isEnd(_ event: TweakSessionEvent, of caller: String) -> Bool {
        guard case .state = event.kind, case .closed = event.session.state else { return false }
        return event.session.identity.description == caller
    }
}

/// The events of a body, without heartbeats.
struct MountedEvents {
    private var parts: TweakPanelBody.AsyncIterator
    private var bytes: [UInt8] = []

    init(_ body: TweakPanelBody) { parts = body.makeAsyncIterator() }

    /// The next event; nil at the end.
    mutating func next() async throws -> PanelEvent? {
        while true {
            if let end = bytes.firstRange(of: Array("\n\n".utf8)) {
                let event = PanelClient.event(String(decoding: bytes[..<end.lowerBound], as: UTF8.self))
                bytes.removeSubrange(..<end.upperBound)
                if !event.name.isEmpty { return event }
                continue
            }
            guard let part = try await parts.next() else { return nil }
            bytes += part
        }
    }
}
