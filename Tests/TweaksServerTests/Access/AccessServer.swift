// A server with tokens, whose clock on the wall, table and answers a test has in hand.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import TweaksServer

/// What happened to sessions, in order.
final class SessionEvents: Sendable {
    private let list = Mutex<[TweakSessionEvent]>([])

    var all: [TweakSessionEvent] { list.withLock { $0 } }

    func add(_ event: TweakSessionEvent) { list.withLock { $0.append(event) } }

    /// Those since the last call.
    func takeAll() -> [TweakSessionEvent] {
        list.withLock { list in
            defer { list = [] }
            return list
        }
    }
}

extension TweakSessionEvent {
    /// `state open`, `granted read:Content`, …
    var text: String {
        switch kind {
        case .state: "state \(session.state.word)" + (session.state.reason.map { " \($0.rawValue)" } ?? "")
        case .authenticated(let name): "authenticated \(name)"
        case .authenticationFailed: "authentication failed"
        case .denied(let command, let path): "denied \(command)\(path.map { " \($0.token)" } ?? "")"
        case .refused(let error): "refused \(error.code.rawValue)"
        case .requested(let scopes): "requested \(scopes.text)"
        case .granted(let scopes): "granted \(scopes.text)"
        case .declined(let scopes): "declined \(scopes.text)"
        case .dropped(let scopes): "dropped \(scopes.text)"
        case .revoked: "revoked"
        case .kicked(let number): "kicked \(number)"
        }
    }
}

/// A server on a Unix socket and on TCP, where it wants tokens. The token of an entry `ops` is `twk_ops`.
final class AccessServer {
    let registry: TweakRegistry
    let server: TweakServer
    let stepped: SteppedServer?
    let events = SessionEvents()
    private let directory: TemporaryDirectory
    private let now: Shared<Int64>
    private let clock = JumpingClock()

    /// A value that several threads see.
    final class Shared<Value: Sendable>: Sendable {
        private let mutex: Mutex<Value>
        init(_ value: Value) { mutex = Mutex(value) }
        var value: Value {
            get { mutex.withLock { $0 } }
            set { mutex.withLock { $0 = newValue } }
        }
    }

    init(
        _ tokens: TokenEntry..., access: TweakAccess = TweakAccess(), store: GatedStore? = nil,
        presets: MemoryPresets? = nil, registry: TweakRegistry = ExampleTweaks().registry, hasThread: Bool = false,
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        if let store { store.attach(to: registry, overrides: [], revision: 0) }
        let (now, events, table) = (Shared<Int64>(1_000_000), events, TokenTable(tokens))
        var hooks = TweakServerHooks()
        (hooks.access, hooks.presets) = (access, presets)
        hooks.tokens = { table }
        hooks.wallClock = { now.value }
        let clock = clock
        hooks.clock = { clock.now }
        hooks.onSessionEvent = { events.add($0) }
        var limits = TweakServerLimits()
        // Those that are about this have others.
        limits.authenticationDelay = .milliseconds(1) ... .milliseconds(1)
        change(&limits)
        self.now = now
        server = TweakServer(
            name: "example", registry: registry,
            listeners: [.unix(path: directory.file("socket")), .tcpWithTokens(port: 0)], limits: limits, hooks: hooks)
        stepped = try server.started(hasThread: hasThread)
    }

    deinit { server.stop(stepped) }

    /// What the clock on the wall shows, in milliseconds.
    var time: Int64 {
        get { now.value }
        set { now.value = newValue }
    }

    /// Lets time pass for its deadlines, which do not go by the clock on the wall.
    func pass(_ duration: Duration) {
        clock.advance(by: duration, server)
        stepped?.settle()
    }

    /// A connection that needs no token: that of the process's own user.
    func connect() throws -> TestClient { try TestClient(unix: directory.file("socket"), owner: self, server: stepped) }

    /// A connection that needs one.
    func connectTCP() throws -> TestClient {
        try TestClient(port: try #require(server.port), owner: self, server: stepped)
    }

    /// A connection that has shown one.
    func connect(as name: String) throws -> TestClient {
        let client = try connectTCP()
        let reply = try client.ask("auth twk_\(name)")
        try #require(reply.last?.hasPrefix("ok token \(name) ") == true, "\(reply)")
        return client
    }

    /// Has the server take another table; when this returns it has.
    func take(_ tokens: [TokenEntry], _ admin: TestClient) throws {
        server.tokensChanged(TokenTable(tokens))
        try settle(admin)
    }

    /// Returns when what was posted before has been handled: the second question comes in a later round.
    func settle(_ admin: TestClient) throws {
        for _ in 1...2 { try admin.ask("ping") }
    }
}

extension TokenEntry {
    /// The entry of the token `twk_NAME`, or of another one.
    static func token(
        _ name: String, _ scopes: TweakScope..., expires: Int64? = nil, rate: Int? = nil, secret: String? = nil
    ) -> TokenEntry {
        TokenEntry(
            name: name, token: "twk_\(secret ?? name)", scopes: scopes, expires: expires,
            commitsPerSecond: rate)
    }
}

extension TestClient {
    /// What one field of `whoami` says; several values where it is a list.
    func whoami(_ field: String) throws -> [String] {
        try ask("whoami").filter { $0.hasPrefix("  \(field): ") }.map { String($0.dropFirst(field.count + 4)) }
    }
}
