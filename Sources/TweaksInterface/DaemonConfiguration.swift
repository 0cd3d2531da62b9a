// Defines the configuration of a daemon: all settings except its name and its tweaks.

public import Tweaks

extension TweakDaemon {
    /// How a program's tweaks are served, stored and loaded.
    ///
    /// ```swift
    /// var configuration = TweakDaemon.Configuration()
    /// configuration.config = "/etc/throttled.conf"
    /// configuration.signals = [.reload, .stop]
    /// let daemon = try TweakDaemon.start("throttled", configuration, tweaks: Settings.all)
    /// ```
    public struct Configuration: Sendable {
        /// Whether TCP is open beside the Unix socket. Off by default.
        public var tcp = TCP.off
        /// Whether the web page and the HTTP API are served. Off by default. The startup line contains the address.
        public var panel = Panel.off
        /// The token file, which `tweakctl token new` writes; `TWEAKS_TOKEN_FILE` overrides it. It is read again when
        /// it changes: sessions that used a removed token lose its rights at once.
        public var tokens: String?
        /// The rights of other users on the Unix socket, and the rights granted on request.
        public var access = TweakAccess()
        /// The config file; its values rank above the defaults and below overrides.
        public var config: ConfigFile?
        /// Other sources of values: the environment, arguments, a fleet, the program's own. Each ranks by its layer,
        /// below overrides.
        public var sources: [Source] = []
        /// Where overrides are stored.
        public var storage = Storage.standard
        /// What happens to a change that cannot be written to disk.
        public var durability = Durability.bestEffort
        /// A file to which every commit is appended.
        public var audit: Audit?
        /// The handled signals. `SIGTERM` and `SIGINT` keep their disposition unless the program asks for them.
        public var signals = Signals.reload
        /// The registry whose tweaks are served.
        public var registry = TweakRegistry.shared
        /// The limits for clients.
        public var limits = TweakServerLimits()
        /// Receives every event worth logging, one at a time, on its own queue. If nil, each event is a line on
        /// standard error, except for changes by the program itself.
        public var onEvent: EventHandler?
        /// The environment; nil: the process's own.
        package var environment: [String: String]?
        /// Whether the log is read on a terminal; nil: detected.
        package var isOnTerminal: Bool?

        /// A Unix socket, overrides in the user's state directory, and nothing else.
        public init() {}
    }
}
