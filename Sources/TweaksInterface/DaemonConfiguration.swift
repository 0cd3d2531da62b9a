// Defines the configuration of a daemon, all settings except its name and its tweaks, with the types of its options.

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
        /// Whether exported figures are served to Prometheus at a port of their own, without a token. Off by default.
        public var metrics = Metrics.off
        /// The token file, which `tweakctl token new` writes; `TWEAKS_TOKEN_FILE` overrides it. It is read again when
        /// it changes: sessions that used a removed token lose its rights at once.
        public var tokens: String?
        /// The rights of other users on the Unix socket, and the rights granted on request.
        public var access = TweakAccess()
        /// Whether clients that may write may show other values in the running program for some seconds, without setting
        /// them: a designer compares by holding a key. Off by default, as production wants it; then the page compares
        /// numbers only.
        public var previews = false
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

    /// Whether a daemon listens on TCP.
    public enum TCP: Equatable, Sendable {
        /// Not at all.
        case off
        /// On 127.0.0.1 and ::1, without a token: every user and container of this network namespace can connect and
        /// change tweaks. The port is preferred; if it is taken, a free port is used, with a warning. With a token file
        /// it behaves like ``tokens(port:)``.
        case open(port: Int)
        /// On 127.0.0.1 and ::1, for clients that authenticate with a token of the token file, by `auth TOKEN` or
        /// `tweakctl login`. Requires a token file. If the port is taken, the daemon does not start: clients would send
        /// their tokens to the program that listens there.
        case tokens(port: Int)
    }

    /// Whether the daemon serves the web page and the HTTP API. `TWEAKS_PANEL_PORT` overrides it.
    public struct Panel: Equatable, Sendable {
        /// All settings of the panel.
        public var settings: TweakPanel

        /// A panel with these settings.
        public init(_ settings: TweakPanel) { self.settings = settings }

        /// No panel.
        public static let off = Panel(.off)
        /// On the loopback addresses, at a free port.
        public static let on = Panel(.on)
        /// On the loopback addresses, at this port. If it is taken, a free port is used, with a warning; with a token
        /// file the daemon does not start then.
        public static func on(port: Int) -> Panel { Panel(.on(port: port)) }
    }

    /// Whether a port of its own serves the figures that are declared ``/Tweaks/TweakFlags/exported``, for Prometheus and
    /// probes, to everyone who reaches it. `TWEAKS_METRICS_PORT` overrides the port.
    ///
    /// ```swift
    /// try TweakDaemon.start("bounce", metrics: .on(port: 9464), tweaks: Look.all)
    /// ```
    ///
    /// It has `GET /metrics`, `/healthz` and `/readyz`, and nothing else. If the port is taken, the daemon does not start.
    public struct Metrics: Equatable, Sendable {
        /// Whether the port is open.
        public var isOn: Bool
        /// 0…65535; 0 means a free port.
        public var port: Int
        /// A numeric address to listen on, such as `192.0.2.1` or `::`; nil means the loopback addresses.
        public var address: String?

        /// The port with all its settings.
        public init(isOn: Bool = true, port: Int, address: String? = nil) {
            self.isOn = isOn
            self.port = port
            self.address = address
        }

        /// No such port; a panel has the metrics, for clients with a token.
        public static let off = Metrics(isOn: false, port: 0)
        /// At this port, by default of the loopback addresses.
        public static func on(port: Int, address: String? = nil) -> Metrics { Metrics(port: port, address: address) }
    }

    /// A config file: assignments and comments, as `export` prints them. It belongs to the operator; the daemon never
    /// writes it.
    ///
    /// ```swift
    /// try TweakDaemon.start("throttled", config: "/etc/throttled.conf", tweaks: Settings.all)
    /// ```
    public struct ConfigFile: Equatable, Sendable, ExpressibleByStringLiteral {
        /// What happens to an assignment whose tweak is not registered.
        public enum Unknown: Equatable, Sendable {
            /// It is reported once, kept pending, and applied when the tweak registers.
            case hold
            /// It is an error: the file is rejected.
            case error
        }

        /// What happens to an override when the file changes the value below it.
        public enum Precedence: Equatable, Sendable {
            /// It stays, and the reload reports it.
            case overrideStays
            /// It is dropped.
            case fileWins
        }

        /// How a bad or missing file affects the start.
        public enum AtStart: Equatable, Sendable {
            /// The program starts without it and reports the problem.
            case optional
            /// The program does not start.
            case required
        }

        /// The path of the file; a relative path starts at the working directory of the start. `TWEAKS_CONFIG`
        /// overrides it.
        public var path: String
        /// What happens to an assignment whose tweak is not registered.
        public var unknown: Unknown
        /// What happens to an override when the file changes the value below it.
        public var precedence: Precedence
        /// How a bad or missing file affects the start.
        public var atStart: AtStart

        /// A config file with its rules.
        public init(
            _ path: String, unknown: Unknown = .hold, precedence: Precedence = .overrideStays,
            atStart: AtStart = .optional
        ) {
            self.path = path
            self.unknown = unknown
            self.precedence = precedence
            self.atStart = atStart
        }

        /// A config file with the default rules.
        public init(stringLiteral path: String) { self.init(path) }
    }

    /// Where overrides are stored, so that they survive a restart. `TWEAKS_STATE_DIR` overrides it.
    public enum Storage: Equatable, Sendable {
        /// systemd's `STATE_DIRECTORY`, or else the program's folder in `XDG_STATE_HOME`, `~/.local/state`, or on macOS
        /// `~/Library/Application Support`.
        case standard
        /// This directory.
        case directory(String)
        /// Nowhere: they end with the process.
        case off
    }

    /// What happens to a change that cannot be written to disk.
    public enum Durability: Equatable, Sendable {
        /// It takes effect, and the reply says `unsaved`; the write is retried until it succeeds.
        case bestEffort
        /// Changes by clients are written first and then applied; `error io` means that nothing has changed.
        case required
    }

    /// The signals that the daemon handles.
    public struct Signals: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Signals from their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `SIGHUP` reloads the config file, if there is one, and the program's own sources.
        public static let reload = Signals(rawValue: 1)
        /// `SIGTERM` and `SIGINT` stop the daemon; then ``TweakDaemon/run()`` returns.
        public static let stop = Signals(rawValue: 2)
    }

    /// A source of values beside the config file: the environment, the command line, a fleet in etcd, or one of the
    /// program's own.
    ///
    /// ```swift
    /// try TweakDaemon.start("api", sources: [.environment(), .arguments, TweakDaemon.Source(Features())])
    /// ```
    ///
    /// Each has a layer of its own; of several values of a tweak, that of the layer with the highest rank is the current
    /// one. Two sources of one layer, or of layers with one name or rank, fail the start. A frozen process has none.
    public struct Source: Sendable {
        /// Makes a source for a daemon's name and its environment; nil if none is configured.
        package typealias Make = @Sendable (String, [String: String]) throws(ServerError) -> (any TweakValueSource)?

        package let make: Make
        /// The variables of daemons that it reads.
        package let variables: [String]
        /// Whether a process that has it handles `SIGHUP` and the command `reload`.
        package let isReloadable: Bool

        /// A source of the program's own. One object serves one daemon at a time.
        public init(_ source: any TweakValueSource) {
            make = { _, _ in source }
            variables = []
            isReloadable = true
        }

        /// A source that depends on the daemon and its environment, and that notices changes by itself.
        package init(variables: [String] = [], make: @escaping Make) {
            self.make = make
            self.variables = variables
            isReloadable = false
        }

        /// The variables that a fleet's source reads.
        package static let fleetVariables = [
            "TWEAKS_FLEET", "TWEAKS_FLEET_LABELS", "TWEAKS_FLEET_PREFIX", "TWEAKS_FLEET_INSTANCE",
            "TWEAKS_FLEET_USER", "TWEAKS_FLEET_PASSWORD_FILE",
        ]
    }

    /// A file to which every commit is appended, with its time, author, source, old and new values, and each request of
    /// a session for more rights. Refused requests go to a second file beside it, `audit-refused.log` for `audit.log`.
    /// Neither file contains secret values. Each line has a link to the one before it, which `tweakctl audit verify`
    /// checks.
    ///
    /// ```swift
    /// try TweakDaemon.start("bounce", audit: "/var/log/bounce/audit.log", tweaks: Look.all)
    /// ```
    public struct Audit: Equatable, Sendable, ExpressibleByStringLiteral {
        /// The path of the file; a relative path starts at the working directory of the start. `TWEAKS_AUDIT` overrides
        /// it. The directory must exist.
        public var path: String
        /// The maximum size in bytes. A file that would grow larger is renamed to `PATH.1`, that one to `PATH.2`, and
        /// so on.
        public var maximumSize: Int
        /// How many older files are always kept.
        public var keep: Int
        /// More older files are kept while their last line is younger than this. `TWEAKS_AUDIT_DAYS` overrides it.
        public var minimumAge: Duration

        /// Where each line is sent, too, without waiting. A name in `TWEAKS_AUDIT` overrides it.
        public var shipsTo: [Destination]

        /// The system's log, for copies of audit lines.
        public enum Destination: Equatable, Sendable {
            /// Syslog: datagrams as `syslog(3)` sends them, with the facility `authpriv`.
            case syslog(socket: String = "/dev/log")
            /// Journald, by its native protocol.
            case journald(socket: String = "/run/systemd/journal/socket")
        }

        /// An audit with its limits. Defaults: files of 10 MiB, five older files, and more while they are younger than
        /// 30 days.
        public init(
            _ path: String, maximumSize: Int = 10_485_760, keep: Int = 5, minimumAge: Duration = .seconds(2_592_000),
            shipsTo: [Destination] = []
        ) {
            self.path = path
            self.maximumSize = maximumSize
            self.keep = keep
            self.minimumAge = minimumAge
            self.shipsTo = shipsTo
        }

        /// An audit with the default limits.
        public init(stringLiteral path: String) { self.init(path) }
    }
}

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
        self.isOn = isOn
        self.port = port
        self.address = address
        self.names = names
        self.origin = origin
    }

    /// No panel: the program serves no HTTP.
    public static let off = TweakPanel(isOn: false)
    /// On the loopback addresses, at a free port.
    public static let on = TweakPanel()
    /// On the loopback addresses, at this port if it is free.
    public static func on(port: Int) -> TweakPanel { TweakPanel(port: port) }
}
