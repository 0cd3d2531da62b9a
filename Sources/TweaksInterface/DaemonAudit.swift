// Defines the audit options of a program: the file that records who changed which tweak.

extension TweakDaemon {
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
