// A server with a panel, whose tokens, clock on the wall, disk and presets a test has in hand.

import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A started server; it stops when it is let go of, after its last client. The entry `ops` belongs to `token("ops")`.
final class PanelServer {
    let registry: TweakRegistry
    let server: TweakServer
    let stepped: SteppedServer?
    let events = Events()
    /// The browsers that are signed in.
    let signIns: SignIns
    private let directory: TemporaryDirectory

    /// What happened to sessions, in order.
    final class Events: Sendable {
        private let list = Mutex<[TweakSessionEvent]>([])
        var all: [TweakSessionEvent] { list.withLock { $0 } }
        func add(_ event: TweakSessionEvent) { list.withLock { $0.append(event) } }
    }

    /// - Parameter gate: What the presets' disk waits for.
    init(
        _ tokens: TokenEntry..., access: TweakAccess = TweakAccess(), store: GatedStore? = nil,
        presets: [String: [String]] = [:], gate: (reached: Gate, goOn: Gate)? = nil,
        registry: TweakRegistry = ExampleTweaks().registry, hasThread: Bool = false,
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        if let store { store.attach(to: registry, overrides: [], revision: 0) }
        var limits = TweakServerLimits()
        limits.authenticationDelay = .zero ... .zero
        change(&limits)
        var hooks = TweakServerHooks()
        let table = TokenTable([.named("admin", .admin)] + tokens)
        (hooks.access, hooks.tokens, hooks.presets) = (access, { table }, try MemoryPresets(presets, gate: gate))
        let (events, wallClock, clock) = (events, wallClock, clock)
        signIns = SignIns(wallClock: { wallClock.value.withLock { $0 } }, clock: { clock.now })
        hooks.fronts = [PanelFront(.on, signIns: signIns)]
        hooks.wallClock = { wallClock.value.withLock { $0 } }
        hooks.clock = { clock.now }
        hooks.onSessionEvent = { events.add($0) }
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))], limits: limits,
            hooks: hooks)
        stepped = try server.started(hasThread: hasThread)
    }

    deinit { server.stop(stepped) }

    private final class WallClock: Sendable {
        let value = Mutex<Int64>(1_000_000)
    }

    private let wallClock = WallClock()
    private let clock = JumpingClock()

    /// Lets time pass for its deadlines, which do not go by the clock on the wall.
    func pass(_ duration: Duration) {
        clock.advance(by: duration, server)
        stepped?.settle()
    }

    /// Sets the clock on the wall.
    func setTime(_ milliseconds: Int64) { wallClock.value.withLock { $0 = milliseconds } }

    var port: Int { server.frontPort ?? 0 }

    /// The text of a token.
    static func token(_ name: String) -> String { "twk_\(name)" + String(repeating: "A", count: 43 - name.utf8.count) }

    /// The headers of a browser that is signed in with a token.
    func page(_ name: String) -> [String] {
        let keyID = ScramVerifier.id(of: Self.token(name))
        let signIn = signIns.add(keyID: keyID, key: SHA256.digest(name.utf8))
        return ["Cookie: tweaks-\(port)=\(signIn.id)", "Tweaks-Key: \(signIns.pageKey(signIn))"]
    }

    /// A connection that speaks by lines, and may do everything.
    func connectByLine() throws -> TestClient {
        try TestClient(unix: directory.file("socket"), owner: self, server: stepped)
    }

    /// A connection over HTTP.
    /// - Parameter name: The token that each request shows; nil: none.
    func connect(_ name: String? = "admin") throws -> PanelClient {
        PanelClient(try TestClient(port: port, owner: self, server: stepped), port: port, token: name.map(Self.token))
    }

    /// Has the server take another table; when this returns it has.
    func take(_ tokens: [TokenEntry], _ line: TestClient) throws {
        server.tokensChanged(TokenTable(tokens))
        try settle(line)
    }

    /// Returns when what was posted before has been handled: the second question comes in a later round.
    func settle(_ line: TestClient) throws {
        for _ in 1...2 { try line.ask("ping") }
    }

    /// The number that a tweak has.
    func number(_ path: String) -> Double? {
        switch registry[path]?.value {
        case .number(let value)?: value
        case .int(let value)?: Double(value)
        default: nil
        }
    }
}

/// A value that several threads see.
final class Box<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
    var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}

extension TokenEntry {
    /// The entry of `PanelServer.token(name)`, or of another one.
    static func named(
        _ name: String, _ scopes: TweakScope..., expires: Int64? = nil, rate: Int? = nil, secret: String? = nil
    ) -> TokenEntry {
        TokenEntry(
            name: name, token: PanelServer.token(secret ?? name), scopes: scopes,
            expires: expires, commitsPerSecond: rate)
    }
}

extension TestClient {
    /// How often limits were hit, as `stats` has it.
    func limitsHit() throws -> [String] {
        let lines = try ask("stats")
        return lines.filter { $0.hasPrefix("  limitsHit: ") }.map { String($0.dropFirst("  limitsHit: ".count)) }
    }
}
