// Sets whether and where a panel is served.

/// The web page on which people change tweaks while the process runs, and HTTP for programs; see The HTTP API, in TweaksPanel.
///
/// ```swift
/// try TweakDaemon.start("bounce", panel: .on, tweaks: Look.all)
/// ```
///
/// Each request has to show a token. The panel has one of its own, which the printed address carries, and which a daemon
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
