// A process with a panel that a test has for itself.

import Foundation
import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A server with a panel, a Unix socket, presets, and tokens of its own; it stops when it is let go of.
final class PanelHost {
    /// Somebody with a token.
    struct Guest {
        let name: String
        let secret = TokenSecret.make()
        let scopes: [TweakScope]

        var entry: TokenEntry { TokenEntry(name: name, token: secret, scopes: scopes) }
    }

    /// May do everything; its token is good at every start.
    static let owner = Guest(name: "owner", scopes: [.admin])

    let registry: TweakRegistry
    private let guests: [Guest]
    private let directory: TemporaryDirectory
    private let presets: MemoryPresets
    /// The browsers that are signed in, as a daemon keeps them over a restart.
    private let signedIn = Box<[SignIn]>([])
    private var server: TweakServer
    private(set) var port = 0
    /// Hears of every change.
    private var watcher: TestClient?

    /// Starts one.
    init(_ registry: TweakRegistry = PageTweaks().registry, guests: [Guest] = []) throws {
        self.registry = registry
        self.guests = guests + [Self.owner]
        directory = try TemporaryDirectory()
        presets = try MemoryPresets()
        server = TweakServer(name: "unmade", registry: registry, listeners: [])
        try start()
    }

    deinit { server.stop() }

    // MARK: Starting

    /// Listens below the system's ephemeral ports: those go to other tests, and a server that starts again needs its own.
    private func start() throws {
        for port in (20_000..<32_000).shuffled().prefix(100) {
            if (try? start(port: port)) != nil { return }
        }
        try start(port: 0)
    }

    private func start(port wanted: Int) throws {
        var hooks = TweakServerHooks()
        let (presets, table) = (presets, TokenTable(guests.map(\.entry)))
        let (signIns, signedIn) = (SignIns(), signedIn)
        signIns.follow(signedIn.value) { signedIn.value = $0 }
        hooks.fronts = [PanelFront(.on(port: wanted), isMovable: false, signIns: signIns)]
        hooks.tokens = { table }
        hooks.presets = presets
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
            limits: TweakServerLimits(), hooks: hooks)
        try server.start()
        port = try #require(server.frontPort)
    }

    /// Ends it; everybody's connection ends.
    func stop() {
        watcher = nil
        server.stop()
    }

    /// Starts it again at the port where it was.
    func startAgain() throws {
        let wanted = port
        // A program that another test starts holds the old listener from its fork to its exec.
        try eventually { (try? start(port: wanted)) != nil }
    }

    /// Takes a guest's token out of the table.
    func revoke(_ guest: Guest) {
        server.tokensChanged(TokenTable(guests.filter { $0.name != guest.name }.map(\.entry)))
    }

    // MARK: Addresses

    /// The origin of its page.
    var origin: String { "http://127.0.0.1:\(port)" }

    /// The address of its page with a token.
    /// - Parameter place: What stands behind the token: `/Kinds/Basic`.
    func link(_ guest: Guest = owner, _ place: String = "") -> String {
        "\(origin)/#token=\(guest.secret)" + (place.isEmpty ? "" : "&\(place)")
    }

    /// The link of this start, as it is printed.
    var printedLink: String { (server.fronts.first as? PanelFront)?.link(port: port) ?? "" }

    // MARK: The process

    /// A connection to its socket, as `nc` makes it.
    func connect() throws -> TestClient { try TestClient(unix: directory.file("socket")) }

    /// What a tweak of `Kinds/Basic`, or of a whole path, has now.
    func value(_ name: String) -> TweakValue? { registry[Self.path(name)]?.value }

    /// Sets a tweak as a stranger with `nc` would.
    func set(_ name: String, _ text: String) throws {
        let reply = try connect().ask("set \(Self.path(name)) \(text)")
        #expect(reply.last?.hasPrefix("ok") == true, "\(reply)")
    }

    /// Waits until a tweak has a value in the process.
    func wait(_ name: String, _ value: TweakValue, at location: SourceLocation = #_sourceLocation) throws {
        try wait(name, at: location) { $0 == value }
    }

    /// Waits until a tweak's value in the process fits.
    func wait(
        _ name: String, at location: SourceLocation = #_sourceLocation, _ fits: (TweakValue) -> Bool
    ) throws {
        let watcher = try watched()
        while true {
            if let now = self.value(name), fits(now) { return }
            do { _ = try watcher.line() } catch {
                let now = self.value(name).map(\.text) ?? "nothing"
                Issue.record("\(name) stays \(now)", sourceLocation: location)
                throw error
            }
        }
    }

    private func watched() throws -> TestClient {
        if let watcher { return watcher }
        let client = try connect()
        try client.ask("watch *")
        watcher = client
        return client
    }

    /// A path; a name alone is one of `Kinds/Basic`.
    static func path(_ name: String) -> String { name.contains("/") ? name : "\(PageTweaks.group)/\(name)" }
}
