// A server with tokens, whose wall clock, token table and answers to requests the test controls.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import TweaksServer

/// The events of sessions, in order.
typealias SessionEvents = Recorder<TweakSessionEvent>

extension Recorder<TweakSessionEvent> {
    var texts: [String] { all.map(\.text) }

    /// The texts of the events since the last call, by session.
    func takeAllBySession() -> [Int: [String]] {
        Dictionary(grouping: takeAll()) { Int($0.session.id) }.mapValues { $0.map(\.text) }
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
final class AccessServer: TestServer {
    let events: SessionEvents

    /// - Parameter clock: Of its deadlines, rates and tokens; a test in which no time may pass gives one that stands still.
    init(
        _ tokens: TokenEntry..., access: TweakAccess = TweakAccess(), store: GatedStore? = nil,
        presets: MemoryPresets? = nil, registry: TweakRegistry = ExampleTweaks().registry, hasThread: Bool = false,
        loopbackUsers: [UInt32] = [], clock: ManualClock = ManualClock(wall: 1_000_000, isRunning: true),
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws {
        let (events, table) = (SessionEvents(), TokenTable(tokens))
        self.events = events
        var limits = TweakServerLimits()
        var hooks = TweakServerHooks()
        hooks.access = access
        hooks.presets = presets
        if !loopbackUsers.isEmpty {
            let users = LoopbackUserList(loopbackUsers)
            hooks.loopbackUser = { users.next() }
        }
        hooks.tokens = { table }
        hooks.wallClock = { clock.wall }
        hooks.onSessionEvent = { events.note($0) }
        // Tests of the delay change it.
        limits.authenticationDelay = .milliseconds(1) ... .milliseconds(1)
        change(&limits)
        try super.init(
            registry: registry, limits: limits, hooks: hooks, port: .tokens, store: store, clock: clock,
            hasThread: hasThread)
    }

    /// The time of the wall clock, in milliseconds.
    var time: Int64 {
        get { clock.wall }
        set { clock.wall = newValue }
    }

    /// A connection that needs a token; one by the Unix socket is that of the process's own user.
    func connectTCP() throws -> TestClient { try connect(.tcp4) }

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
