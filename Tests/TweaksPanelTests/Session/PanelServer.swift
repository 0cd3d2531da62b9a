// Runs a server with a panel, whose tokens, clocks, disk and presets a test controls.

import Synchronization
import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A started server; it stops when it is released, after its last client. The entry `ops` belongs to `token("ops")`.
final class PanelServer {
    let registry: TweakRegistry
    let server: TweakServer
    let stepped: SteppedServer?
    let events = Events()
    let signIns: SignInStore
    let endpoint: PanelEndpoint
    private let directory: TemporaryDirectory

    /// The events of sessions, in order.
    final class Events: Sendable {
        private let list = Mutex<[TweakSessionEvent]>([])
        var all: [TweakSessionEvent] { list.withLock { $0 } }
        func add(_ event: TweakSessionEvent) { list.withLock { $0.append(event) } }
    }

    /// - Parameter gate: The gates of reads and writes of presets.
    init(
        _ tokens: [TokenEntry], store: GatedStore? = nil, presets: [String: [String]] = [:],
        gate: (reached: Gate, goOn: Gate)? = nil, registry: TweakRegistry = ExampleTweaks().registry,
        hasThread: Bool = false, _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws {
        self.registry = registry
        directory = try TemporaryDirectory()
        if let store { store.attach(to: registry, overrides: [], revision: 0) }
        var limits = TweakServerLimits()
        limits.authenticationDelay = .zero ... .zero
        change(&limits)
        var hooks = TweakServerHooks()
        let table = TokenTable([.named("admin", .admin)] + tokens)
        (hooks.tokens, hooks.presets) = ({ table }, try MemoryPresets(presets, gate: gate))
        let (events, wallClock, clock) = (events, wallClock, clock)
        signIns = SignInStore(wallClock: { wallClock.value.withLock { $0 } }, clock: { clock.now })
        endpoint = PanelEndpoint(.on, signIns: signIns)
        hooks.serverEndpoints = [endpoint]
        hooks.wallClock = { wallClock.value.withLock { $0 } }
        hooks.clock = { clock.now }
        hooks.onSessionEvent = { events.add($0) }
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))], limits: limits,
            hooks: hooks)
        stepped = try server.started(hasThread: hasThread)
    }

    convenience init(
        _ tokens: TokenEntry..., registry: TweakRegistry = ExampleTweaks().registry,
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws { try self.init(tokens, registry: registry, change) }

    deinit { server.stop(stepped) }

    /// A new server, and a client of its panel.
    static func connected(
        _ tokens: TokenEntry..., as name: String? = "admin", store: GatedStore? = nil,
        registry: TweakRegistry = ExampleTweaks().registry, hasThread: Bool = false,
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws -> (server: PanelServer, panel: PanelClient) {
        let server = try PanelServer(tokens, store: store, registry: registry, hasThread: hasThread, change)
        return (server, try server.connect(name))
    }

    /// A new server, a client of its panel, and a client of its socket.
    static func connectedWithLine(
        _ tokens: TokenEntry..., as name: String? = "admin", store: GatedStore? = nil,
        registry: TweakRegistry = ExampleTweaks().registry, _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws -> (server: PanelServer, panel: PanelClient, line: TestClient) {
        let server = try PanelServer(tokens, store: store, registry: registry, change)
        return (server, try server.connect(name), try server.connectByLine())
    }

    private final class WallClock: Sendable {
        let value = Mutex<Int64>(1_000_000)
    }

    private let wallClock = WallClock()
    private let clock = OffsetClock()

    /// Advances the monotonic clock, by which deadlines go.
    func pass(_ duration: Duration) {
        clock.advance(by: duration, server)
        stepped?.settle()
    }

    /// Sets the wall clock.
    func setTime(_ milliseconds: Int64) { wallClock.value.withLock { $0 = milliseconds } }

    var port: Int { server.endpointPort ?? 0 }

    /// The text of a token.
    static func token(_ name: String) -> String { "twk_\(name)" + String(repeating: "A", count: 43 - name.utf8.count) }

    /// The headers of a browser that is signed in with a token.
    func page(_ name: String) -> [String] {
        let keyID = ScramVerifier.id(of: Self.token(name))
        let signIn = signIns.add(keyID: keyID, key: SHA256.digest(name.utf8))
        return ["Cookie: tweaks-\(port)=\(signIn.id)", "Tweaks-Key: \(signIns.pageKey(signIn))"]
    }

    /// A connection to its socket, with all rights.
    func connectByLine() throws -> TestClient {
        try TestClient(unix: directory.file("socket"), owner: self, server: stepped)
    }

    /// A connection over HTTP.
    /// - Parameter name: The token of each request; nil: none.
    func connect(_ name: String? = "admin") throws -> PanelClient {
        PanelClient(try TestClient(port: port, owner: self, server: stepped), port: port, token: name.map(Self.token))
    }

    /// Replaces the server's tokens, and returns when they are in effect.
    func replace(_ tokens: [TokenEntry], _ line: TestClient) throws {
        server.tokensChanged(TokenTable(tokens))
        try settle(line)
    }

    /// Returns when everything posted before is handled: the second request comes in a later round.
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

/// A value shared by threads.
final class Box<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>
    init(_ value: Value) { mutex = Mutex(value) }
    var value: Value {
        get { mutex.withLock { $0 } }
        set { mutex.withLock { $0 = newValue } }
    }
}

extension TokenEntry {
    /// The entry of `PanelServer.token(name)`, or of another token.
    static func named(
        _ name: String, _ scopes: TweakScope..., expires: Int64? = nil, rate: Int? = nil, secret: String? = nil
    ) -> TokenEntry {
        TokenEntry(
            name: name, token: PanelServer.token(secret ?? name), scopes: scopes, expires: expires,
            commitsPerSecond: rate)
    }
}

extension TestClient {
    /// The limits that were hit, and how often, from `stats`.
    func limitsHit() throws -> [String] {
        let label = "  limitsHit: "
        return try ask("stats").filter { $0.hasPrefix(label) }.map { String($0.dropFirst(label.count)) }
    }
}

extension TweakRegistry {
    /// The example tweaks, and so many more that their list is sent in parts.
    static func many(_ count: Int) -> TweakRegistry {
        let registry = ExampleTweaks().registry
        for number in 0..<count { _ = Tweak("Many", "Tweaks", "Number \(number)", number, registry: registry) }
        return registry
    }
}

/// The action `Player/Audio/Long`, which waits for a gate.
struct LongAction {
    let began = Gate()
    let gate = Gate()

    init(in registry: TweakRegistry) {
        tweakAction("Player", "Audio", "Long", registry: registry) { [began, gate] _ in
            began.open()
            await gate.wait()
            return "done"
        }
    }
}
