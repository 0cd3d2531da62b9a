// Defines the options of a daemon: TCP, the panel, the config file, where overrides are kept, signals.

extension TweakDaemon {
    /// Whether a daemon listens on TCP.
    public enum TCP: Equatable, Sendable {
        /// Not at all.
        case off
        /// On 127.0.0.1 and ::1, without a token: every user and container of this network namespace can connect and
        /// change tweaks. The port is the one to prefer; when it is taken, a free one is used, with a warning. Where there
        /// is a token file, it is as ``tokens(port:)``.
        case open(port: Int)
        /// On 127.0.0.1 and ::1, for clients that show a token of the token file, by `auth TOKEN` or `tweakctl login`. It
        /// needs such a file. When the port is taken, the daemon does not start: people would show their tokens to
        /// the program that listens there.
        case tokens(port: Int)
    }

    /// Whether a daemon has a web page, and HTTP for programs. `TWEAKS_PANEL_PORT` wins over it.
    public struct Panel: Equatable, Sendable {
        /// All of its settings.
        public var settings: TweakPanel

        /// A panel with these settings.
        public init(_ settings: TweakPanel) { self.settings = settings }

        /// None.
        public static let off = Panel(.off)
        /// On the loopback addresses, at a free port.
        public static let on = Panel(.on)
        /// On the loopback addresses, at this port. When it is taken, at a free one, with a warning; with a token file the
        /// daemon does not start then.
        public static func on(port: Int) -> Panel { Panel(.on(port: port)) }
    }

    /// A config file: assignments and comments, as `export` prints them. It is the operator's; it is never written.
    ///
    /// ```swift
    /// try TweakDaemon.start("throttled", config: "/etc/throttled.conf", tweaks: Settings.all)
    /// ```
    public struct ConfigFile: Equatable, Sendable, ExpressibleByStringLiteral {
        /// What happens to an assignment whose tweak is not registered.
        public enum Unknown: Equatable, Sendable {
            /// It is said once, held, and applied when the tweak registers.
            case hold
            /// It is an error: the file is not taken.
            case error
        }

        /// What happens to an override when the file's value beneath it changes.
        public enum Precedence: Equatable, Sendable {
            /// It stays, and everybody who asks is told.
            case overrideStays
            /// It is dropped.
            case fileWins
        }

        /// What a bad or missing file means for the start.
        public enum AtStart: Equatable, Sendable {
            /// The program runs without it and says so.
            case optional
            /// The program does not start.
            case required
        }

        /// Where it is; a relative path begins at the working directory of the start. `TWEAKS_CONFIG` wins over it.
        public var path: String
        /// What happens to an assignment whose tweak is not registered.
        public var unknown: Unknown
        /// What happens to an override when the file's value beneath it changes.
        public var precedence: Precedence
        /// What a bad or missing file means for the start.
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

        /// A config file with the usual rules.
        public init(stringLiteral path: String) { self.init(path) }
    }

    /// Where overrides are kept, so that they survive a restart. `TWEAKS_STATE_DIR` wins over it.
    public enum Storage: Equatable, Sendable {
        /// systemd's `STATE_DIRECTORY`, else the program's folder in `XDG_STATE_HOME`, `~/.local/state`, or on macOS
        /// `~/Library/Application Support`.
        case standard
        /// This directory.
        case directory(String)
        /// Nowhere: they end with the process.
        case off
    }

    /// What happens to a change that the disk refuses.
    public enum Durability: Equatable, Sendable {
        /// It is in effect, and the answer says `unsaved`; the write is tried again until it succeeds.
        case bestEffort
        /// Changes from the wire are written first and applied after; `error io` means that nothing has changed.
        case required
    }

    /// What signals do.
    public struct Signals: OptionSet, Sendable {
        /// The bits.
        public let rawValue: UInt8

        /// Signals from their bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }

        /// `SIGHUP` reads the config file, where there is one.
        public static let reload = Signals(rawValue: 1)
        /// `SIGTERM` and `SIGINT` stop the daemon; then ``TweakDaemon/run()`` returns.
        public static let stop = Signals(rawValue: 2)
    }
}
