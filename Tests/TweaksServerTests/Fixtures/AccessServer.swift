// A server with tokens, whose wall clock, token table and answers to requests the test controls.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import TweaksServer

/// The events of sessions, in order.
final class SessionEvents: Sendable {
    private let list = Mutex<[TweakSessionEvent]>([])

    var all: [TweakSessionEvent] { list.withLock { $0 } }
    var texts: [String] { all.map(\.text) }

    func add(_ event: TweakSessionEvent) { list.withLock { $0.append(event) } }

    /// The texts of the events since the last call, by session.
    func takeAll() -> [Int: [String]] {
        let events = list.withLock { list in
            defer { list = [] }
            return list
        }
        return Dictionary(grouping: events) { Int($0.session.id) }.mapValues { $0.map(\.text) }
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

/// Decides requests for scopes as the test says, and keeps them.
final class RequestHandler: Sendable {
    private let state = Mutex<(answer: Bool?, requests: [TweakScopeRequest])>((nil, []))

    /// - Parameter answer: Whether further requests are granted; nil: they wait.
    func setAnswer(_ answer: Bool?) { state.withLock { $0.answer = answer } }

    func handle(_ request: TweakScopeRequest) {
        let answer = state.withLock { state in
            state.requests.append(request)
            return state.answer
        }
        if let answer { answer ? request.allow() : request.decline() }
    }

    var requests: [TweakScopeRequest] { state.withLock { $0.requests } }
}

/// The users of connections in their order; the last one has all further connections.
private final class LoopbackUserList: Sendable {
    private let users: Mutex<[UInt32]>

    init(_ users: [UInt32]) { self.users = Mutex(users) }

    func next() -> UInt32? { users.withLock { $0.count > 1 ? $0.removeFirst() : $0.first } }
}

/// A server on a Unix socket and on TCP, where tokens are required. The token of an entry `ops` is `twk_ops`.
final class AccessServer: ServerFixture {
    let registry: TweakRegistry
    let server: TweakServer
    let stepped: SteppedServer?
    let events = SessionEvents()
    private let directory: TemporaryDirectory
    private let now: WallClock
    private let clock = OffsetClock()

    private final class WallClock: Sendable {
        let time = Mutex<Int64>(1_000_000)
    }

    init(
        _ tokens: TokenEntry..., access: TweakAccess = TweakAccess(), store: GatedStore? = nil,
        presets: MemoryPresets? = nil, registry: TweakRegistry = ExampleTweaks().registry, hasThread: Bool = false,
        loopbackUsers: [UInt32] = [],
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        if let store { store.attach(to: registry, overrides: [], revision: 0) }
        let (now, clock, events, table) = (WallClock(), clock, events, TokenTable(tokens))
        var (limits, hooks) = (TweakServerLimits(), TweakServerHooks())
        (hooks.access, hooks.presets) = (access, presets)
        if !loopbackUsers.isEmpty {
            let users = LoopbackUserList(loopbackUsers)
            hooks.loopbackUser = { users.next() }
        }
        hooks.tokens = { table }
        hooks.wallClock = { now.time.withLock { $0 } }
        hooks.clock = { clock.now }
        hooks.onSessionEvent = { events.add($0) }
        // Tests of the delay change it.
        limits.authenticationDelay = .milliseconds(1) ... .milliseconds(1)
        change(&limits)
        self.now = now
        server = TweakServer(
            name: "example", registry: registry,
            listeners: [.unix(path: directory.file("socket")), .tcpWithTokens(port: 0)], limits: limits, hooks: hooks)
        stepped = try server.started(hasThread: hasThread)
    }

    deinit { server.stop(stepped) }

    /// The time of the wall clock, in milliseconds.
    var time: Int64 {
        get { now.time.withLock { $0 } }
        set { now.time.withLock { $0 = newValue } }
    }

    /// Advances the clock of its deadlines, which is not the wall clock.
    func pass(_ duration: Duration) {
        clock.advance(by: duration, server)
        stepped?.settle()
    }

    /// A connection that needs no token: that of the process's own user.
    func connect() throws -> TestClient { try TestClient(unix: directory.file("socket"), owner: self, server: stepped) }

    /// A connection that needs a token.
    func connectTCP() throws -> TestClient {
        try TestClient(port: try #require(server.port), owner: self, server: stepped)
    }

    /// A connection that has shown a token.
    func connect(as name: String) throws -> TestClient {
        let client = try connectTCP()
        let reply = try client.status("auth twk_\(name)")
        try #require(reply.hasPrefix("ok token \(name) "), "\(reply)")
        return client
    }

    /// Replaces the token table; it is in effect when this returns.
    func replaceTokens(_ tokens: [TokenEntry], _ admin: TestClient) throws {
        server.tokensChanged(TokenTable(tokens))
        try settle(admin)
    }

    /// Returns when everything posted before was handled: the second request comes in a later round.
    func settle(_ admin: TestClient) throws {
        for _ in 1...2 { try admin.ask("ping") }
    }
}

extension TokenEntry {
    /// The entry of the token `twk_NAME`, or of another secret.
    static func token(
        _ name: String, _ scopes: TweakScope..., expires: Int64? = nil, rate: Int? = nil, secret: String? = nil
    ) -> TokenEntry {
        TokenEntry(
            name: name, token: "twk_\(secret ?? name)", scopes: scopes, expires: expires, commitsPerSecond: rate)
    }
}
