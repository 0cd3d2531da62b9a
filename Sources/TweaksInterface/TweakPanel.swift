// Defines the settings of the panel.

/// The web page that changes tweaks while the process runs, and the HTTP API; see The HTTP API, in TweaksPanel.
///
/// ```swift
/// try TweakDaemon.start("bounce", panel: .on, tweaks: Look.all)
/// ```
///
/// Each request must carry a token. The panel has its own token, which is part of the printed address and which a
/// daemon stores with its state; tokens of the token file are accepted too, with their scopes.
public struct TweakPanel: Equatable, Sendable {
    /// Whether the panel is served.
    public var isOn: Bool
    /// The preferred port; if it is taken, a free port is used, except in a daemon with a token file. 0 means a free
    /// port; a daemon with a state directory prefers the port of its last run.
    public var port: Int
    /// A numeric address to listen on, such as `192.0.2.1` or `::`; nil means the loopback addresses.
    ///
    /// Addresses beyond loopback need a token file, and tokens cross the network in clear text: an SSH tunnel is
    /// better.
    public var address: String?
    /// Host names that browsers may use for this server, beside `localhost` and the addresses; any other name is
    /// rejected.
    public var names: [String]

    /// A panel with all its settings.
    public init(isOn: Bool = true, port: Int = 0, address: String? = nil, names: [String] = []) {
        (self.isOn, self.port, self.address, self.names) = (isOn, port, address, names)
    }

    /// No panel: the program serves no HTTP.
    public static let off = TweakPanel(isOn: false)
    /// On the loopback addresses, at a free port.
    public static let on = TweakPanel()
    /// On the loopback addresses, at this port if it is free.
    public static func on(port: Int) -> TweakPanel { TweakPanel(port: port) }
}
