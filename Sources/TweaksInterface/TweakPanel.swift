// Defines the settings of the panel.

/// The web page that changes tweaks while the process runs, and the HTTP API; see The HTTP API, in TweaksPanel.
///
/// ```swift
/// try TweakDaemon.start("bounce", panel: .on, tweaks: Look.all)
/// ```
///
/// The page has an address of its own, `http://ID.localhost:PORT/`. The printed address also has a code, which signs in
/// one browser, once. Programs send a token: the panel's own, which a daemon stores with its state, or one of the token
/// file, with its scopes.
public struct TweakPanel: Equatable, Sendable {
    /// How long the page keeps its address, `ID.localhost`. A program that listens at the panel's port while this one
    /// does not run can leave code in browsers, which stays there for the address that was open then.
    public enum Origin: Equatable, Sendable {
        /// A new address at each start of a daemon with a token file, under a service manager, or as root; otherwise
        /// the address is kept.
        case automatic
        /// A new address at each start. A page that is open goes on; one that is reloaded after a restart needs the new
        /// address: `tweakctl NAME panel`.
        case perStart
        /// The address is kept with the daemon's state, so that a page can be reloaded after a restart. Without a state
        /// directory each start has a new one.
        case kept
    }

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
    /// Further host names of the page, such as `localhost` for a browser that does not know `ID.localhost`; any other
    /// name is rejected. There the page stores nothing, and asks for a code each time it is loaded.
    public var names: [String]
    /// How long the page keeps its address.
    public var origin: Origin

    /// A panel with all its settings.
    public init(
        isOn: Bool = true, port: Int = 0, address: String? = nil, names: [String] = [], origin: Origin = .automatic
    ) {
        (self.isOn, self.port, self.address, self.names) = (isOn, port, address, names)
        self.origin = origin
    }

    /// No panel: the program serves no HTTP.
    public static let off = TweakPanel(isOn: false)
    /// On the loopback addresses, at a free port.
    public static let on = TweakPanel()
    /// On the loopback addresses, at this port if it is free.
    public static func on(port: Int) -> TweakPanel { TweakPanel(port: port) }
}
