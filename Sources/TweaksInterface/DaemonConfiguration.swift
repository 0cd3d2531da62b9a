// Defines the configuration of a daemon: everything that it takes beside its name and its tweaks.

public import Tweaks

extension TweakDaemon {
    /// How a program's tweaks are served, kept and read.
    ///
    /// ```swift
    /// var configuration = TweakDaemon.Configuration()
    /// configuration.config = "/etc/throttled.conf"
    /// configuration.signals = [.reload, .stop]
    /// let daemon = try TweakDaemon.start("throttled", configuration, tweaks: Settings.all)
    /// ```
    public struct Configuration: Sendable {
        /// Whether TCP is open beside the Unix socket. Not by default.
        public var tcp = TCP.off
        /// Whether there is a web page, and HTTP for programs. Not by default. The line that says where to connect has its
        /// address.
        public var panel = Panel.off
        /// The file of the tokens, which `tweakctl token new` writes; `TWEAKS_TOKEN_FILE` wins over it. It is read again
        /// when it changes: who has shown a token that is not in it any more loses what it gave, at once.
        public var tokens: String?
        /// Who else may do what on the Unix socket, and what is given on request.
        public var access = TweakAccess()
        /// The config file; its values lie above the defaults and below overrides.
        public var config: ConfigFile?
        /// What else says what values are to be, such as a fleet; theirs lie above the config file and below overrides.
        public var sources: [Source] = []
        /// Where overrides are kept.
        public var storage = Storage.standard
        /// What happens to a change that the disk refuses.
        public var durability = Durability.bestEffort
        /// A file to which every commit is appended.
        public var audit: Audit?
        /// What signals do. `SIGTERM` and `SIGINT` are left alone unless the program wants them.
        public var signals = Signals.reload
        /// Whose tweaks are served.
        public var registry = TweakRegistry.shared
        /// What clients may take.
        public var limits = TweakServerLimits()
        /// Told of everything worth logging, one event at a time, on a queue of its own. Nil: each event is a line on
        /// standard error, but for changes that the program made itself.
        public var onEvent: EventHandler?
        /// The environment; nil: that of the process.
        package var environment: [String: String]?
        /// Whether what is logged goes to a person; nil: found out.
        package var isOnTerminal: Bool?

        /// A Unix socket, overrides in the user's state directory, and nothing else.
        public init() {}
    }
}
