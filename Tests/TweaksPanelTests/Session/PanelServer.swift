// Runs a server with a panel, whose tokens, clocks, disk and presets a test controls.

import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A started server; it stops when it is released, after its last client. The entry `ops` belongs to `token("ops")`.
final class PanelServer {
    let events = Recorder<TweakSessionEvent>()
    let signIns: SignInStore
    let endpoint: PanelEndpoint
    private let base: TestServer

    /// - Parameters:
    ///   - gate: The gates of reads and writes of presets.
    ///   - addition: What the program adds to the panel.
    init(
        _ tokens: [TokenEntry], store: GatedStore? = nil, presets: [String: [String]] = [:],
        gate: (reached: Gate, goOn: Gate)? = nil, registry: TweakRegistry = ExampleTweaks().registry,
        hasThread: Bool = false, addition: PanelExtension? = nil,
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws {
        var limits = TweakServerLimits()
        limits.authenticationDelay = .zero ... .zero
        change(&limits)
        var hooks = TweakServerHooks()
        let table = TokenTable([.named("admin", .admin)] + tokens)
        hooks.tokens = { table }
        hooks.presets = try MemoryPresets(presets, gate: gate)
        hooks.previews = true
        let clock = ManualClock(wall: 1_000_000, isRunning: true)
        signIns = SignInStore(wallClock: { clock.wall }, clock: { clock.now })
        endpoint = PanelEndpoint(.on, signIns: signIns, addition: addition)
        hooks.serverEndpoints = [endpoint]
        hooks.wallClock = { clock.wall }
        hooks.onSessionEvent = { [events] in events.note($0) }
        base = try TestServer(
            registry: registry, limits: limits, hooks: hooks, port: .none, store: store, clock: clock,
            hasThread: hasThread)
    }

    convenience init(
        _ tokens: TokenEntry..., registry: TweakRegistry = ExampleTweaks().registry,
        _ change: (inout TweakServerLimits) -> Void = { _ in }
    ) throws { try self.init(tokens, registry: registry, change) }

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

    var registry: TweakRegistry { base.registry }
    var server: TweakServer { base.server }
    var stepped: SteppedServer? { base.stepped }

    /// Advances the monotonic clock, by which deadlines go.
    func pass(_ duration: Duration) { base.pass(duration) }

    /// Sets the wall clock.
    func setTime(_ milliseconds: Int64) { base.clock.wall = milliseconds }

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
    func connectByLine() throws -> TestClient { try base.connect() }

    /// A connection over HTTP.
    /// - Parameter name: The token of each request; nil: none.
    func connect(_ name: String? = "admin") throws -> PanelClient {
        PanelClient(try TestClient(port: port, owner: base, server: stepped), port: port, token: name.map(Self.token))
    }

    /// Replaces the server's tokens, and returns when they are in effect.
    func replace(_ tokens: [TokenEntry], _ line: TestClient) throws {
        server.tokensChanged(TokenTable(tokens))
        try settle(line)
    }

    /// Returns when everything posted before is handled.
    func settle(_ line: TestClient) throws { try base.settle(line) }

    /// The number that a tweak has.
    func number(_ path: String) -> Double? {
        switch registry[path]?.value {
        case .number(let value)?: value
        case .int(let value)?: Double(value)
        default: nil
        }
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
