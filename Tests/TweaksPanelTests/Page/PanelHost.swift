// Runs a program with a panel for one test.

import Testing
import Tweaks
import TweaksPanel
import TweaksServer
import TweaksTestSupport
import TweaksWire

/// A server with a panel, a Unix socket, presets, and tokens; it stops when it is released.
final class PanelHost {
    /// A user with a token.
    struct User {
        let name: String
        let secret = TokenSecret.make()
        let scopes: [TweakScope]

        var entry: TokenEntry { TokenEntry(name: name, token: secret, scopes: scopes) }
    }

    /// Has all rights; its token is valid after every start.
    static let owner = User(name: "owner", scopes: [.admin])

    let registry: TweakRegistry
    private let users: [User]
    private let directory: TemporaryDirectory
    private let presets: MemoryPresets
    /// The signed-in browsers, which a daemon keeps over a restart.
    private let signedIn = Box<[SignIn]>([])
    private var server: TweakServer
    private(set) var port = 0
    /// The ID in the address of the page.
    private(set) var pageID = PanelID.make()
    private let panel: TweakPanel
    private let previews: Bool
    /// Receives an event for every change.
    private var watcher: TestClient?

    /// - Parameters:
    ///   - origin: How long the page keeps its address.
    ///   - names: Further names of the page.
    ///   - previews: Whether the program allows previews.
    ///   - address: The address of an earlier host, which is taken if its port is free.
    init(
        _ registry: TweakRegistry = PageTweaks().registry, users: [User] = [], origin: TweakPanel.Origin = .kept,
        names: [String] = [], previews: Bool = true, at address: (port: Int, pageID: String)? = nil
    ) throws {
        self.registry = registry
        panel = TweakPanel(names: names, origin: origin)
        self.previews = previews
        self.users = users + [Self.owner]
        directory = try TemporaryDirectory()
        presets = try MemoryPresets()
        server = TweakServer(name: "unmade", registry: registry, listeners: [])
        if let address {
            pageID = address.pageID
            if (try? start(port: address.port)) != nil { return }
        }
        try start()
    }

    deinit { server.stop() }

    // MARK: Starting

    /// Listens below the ephemeral ports: other tests get those, and a restarted server needs its port again.
    private func start() throws {
        for port in (20_000..<32_000).shuffled().prefix(100) {
            if (try? start(port: port)) != nil { return }
        }
        try start(port: 0)
    }

    private func start(port wanted: Int) throws {
        var hooks = TweakServerHooks()
        let (presets, table) = (presets, TokenTable(users.map(\.entry)))
        let (signIns, signedIn) = (SignInStore(), signedIn)
        signIns.restore(signedIn.value) { signedIn.value = $0 }
        var panel = panel
        panel.port = wanted
        let endpoint = PanelEndpoint(panel, isMovable: false, keepsOrigin: panel.origin == .kept, signIns: signIns)
        endpoint.restore(endpoint.secret, port: nil, id: pageID)
        pageID = endpoint.id
        hooks.serverEndpoints = [endpoint]
        hooks.tokens = { table }
        hooks.presets = presets
        hooks.previews = previews
        server = TweakServer(
            name: "example", registry: registry, listeners: [.unix(path: directory.file("socket"))],
            limits: TweakServerLimits(), hooks: hooks)
        try server.start()
        port = try #require(server.endpointPort)
    }

    /// The panel below a path of another site.
    func mounted(below path: String, origins: [String]) -> TweakPanelHandler {
        TweakPanelHandler(server, below: path, origins: origins)
    }

    /// Stops the server and with it all connections.
    func stop() {
        watcher = nil
        server.stop()
    }

    /// Starts the server again at the same port.
    func restart() throws {
        let wanted = port
        // A program that another test starts holds the old listener between its fork and its exec.
        try eventually { (try? start(port: wanted)) != nil }
    }

    /// Removes a user's token from the table.
    func revoke(_ user: User) {
        server.tokensChanged(TokenTable(users.filter { $0.name != user.name }.map(\.entry)))
    }

    // MARK: Addresses

    /// The origin of its page.
    var origin: String { "http://\(PanelID.host(pageID)):\(port)" }

    /// The address of its page with a token in place of a code, which signs in as often as needed.
    /// - Parameter place: The rest of the fragment: `/Kinds/Basic`.
    func link(_ user: User = owner, _ place: String = "") -> String {
        "\(origin)/#code=\(user.secret)" + (place.isEmpty ? "" : "&\(place)")
    }

    /// The link that the server prints at this start.
    var printedLink: String { (server.serverEndpoints.first as? PanelEndpoint)?.link(port: port) ?? "" }

    /// The code of that link.
    var code: String { printedLink.firstRange(of: "#code=").map { String(printedLink[$0.upperBound...]) } ?? "" }

    // MARK: The process

    /// A connection to its socket, as `nc` makes it.
    func connect() throws -> TestClient { try TestClient(unix: directory.file("socket")) }

    /// The numbers of the sessions in which pages of a user read events.
    func streams(of name: String = "owner", _ client: TestClient) throws -> [Substring] {
        try client.ask("sessions").filter { $0.contains("token \(name)") && !$0.contains("watches 0") }
            .compactMap { $0.split(separator: " ").first }
    }

    /// The current value of a tweak.
    func value(_ name: String) -> TweakValue? { registry[Self.path(name)]?.value }

    /// Sets a tweak over another connection.
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

    /// The path of a tweak; a name without a slash is in `Kinds/Basic`.
    static func path(_ name: String) -> String { name.contains("/") ? name : "\(PageTweaks.group)/\(name)" }
}
