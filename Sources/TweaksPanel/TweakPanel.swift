// What a program chooses about its panel, and the panel of a server that it makes by itself.

import TweaksWire
public import Tweaks
public import TweaksServer

/// The web page on which people change tweaks while the process runs, and HTTP for programs; see <doc:HTTPAPI>.
///
/// ```swift
/// try TweakDaemon.start("bounce", panel: .on, tweaks: Look.all)
/// ```
///
/// Whoever asks has to show a token. The panel has one of its own, which the printed address carries, and which a daemon
/// keeps with its state; those of the token file are taken, too, with the scopes they have.
public struct TweakPanel: Equatable, Sendable {
    /// Whether there is one.
    public var isOn: Bool
    /// The port to prefer; when it is taken, a free one is used, but not in a daemon with a token file. 0 is a free one; a
    /// daemon with a state directory prefers the one that it had last.
    public var port: Int
    /// A numeric address to listen on, such as `192.0.2.1` or `::`; nil: the loopback addresses.
    ///
    /// Beyond loopback it needs tokens in a file, and the token crosses the network in clear: a tunnel by ssh is better.
    public var address: String?
    /// Names by which browsers may call this server, beside `localhost` and the addresses; any other name is refused.
    public var names: [String]

    /// A panel with all its settings.
    public init(isOn: Bool = true, port: Int = 0, address: String? = nil, names: [String] = []) {
        (self.isOn, self.port, self.address, self.names) = (isOn, port, address, names)
    }

    /// None: the program listens to no HTTP.
    public static let off = TweakPanel(isOn: false)
    /// On the loopback addresses, at a free port.
    public static let on = TweakPanel()
    /// On the loopback addresses, at this port if it is free.
    public static func on(port: Int) -> TweakPanel { TweakPanel(port: port) }
}

extension TweakServer {
    /// A server with a panel; nothing is opened before ``TweaksServer/TweakServer/start()``.
    /// - Parameters:
    ///   - panel: Where it listens. Beyond loopback a server refuses to start, since it has no file of tokens.
    ///   - name: What clients are told the process is called.
    ///   - registry: Whose tweaks are served.
    ///   - listeners: Where else; any number.
    ///   - limits: What one client, and all together, may take.
    ///   - access: Who else may do what on a Unix socket, and what is given on request.
    ///   - onSession: Told of what happens to each session, on the I/O thread: note it down, and return.
    public convenience init(
        panel: TweakPanel, name: String, registry: TweakRegistry = .shared, listeners: [TweakListener] = [],
        limits: TweakServerLimits = TweakServerLimits(), access: TweakAccess = TweakAccess(),
        onSession: (@Sendable (TweakSessionEvent) -> Void)? = nil
    ) {
        var hooks = TweakServerHooks()
        (hooks.access, hooks.onSessionEvent) = (access, onSession)
        if panel.isOn { hooks.fronts = [PanelFront(panel)] }
        self.init(name: name, registry: registry, listeners: listeners, limits: limits, hooks: hooks)
    }

    /// The address of the panel, with the token of this server; nil where there is none, or the server does not run.
    ///
    /// Whoever has it may do everything. Print it where only its user reads it.
    public var panelAddress: String? {
        guard let front = fronts.lazy.compactMap({ $0 as? PanelFront }).first, let port = frontPort else { return nil }
        return front.link(port: port)
    }
}
