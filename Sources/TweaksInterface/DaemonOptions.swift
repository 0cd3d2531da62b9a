// Defines the options of a daemon: TCP, the panel, the config file, storage and signals.

extension TweakDaemon {
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
}
