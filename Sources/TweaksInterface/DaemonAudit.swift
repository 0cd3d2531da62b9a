// The audit as a program names it: a file that says who changed what.

extension TweakDaemon {
    /// A file to which every commit is appended: when, who, from where, what was and what is; and what sessions did to
    /// get more rights. What they were refused goes to a second file beside it, `audit-refused.log` for `audit.log`.
    /// Values of secrets are in neither.
    ///
    /// ```swift
    /// try TweakDaemon.start("bounce", audit: "/var/log/bounce/audit.log", tweaks: Look.all)
    /// ```
    public struct Audit: Equatable, Sendable, ExpressibleByStringLiteral {
        /// Where it is; a relative path begins at the working directory of the start. `TWEAKS_AUDIT` wins over it. The
        /// directory has to exist.
        public var path: String
        /// A file that would become larger is renamed to `PATH.1`, that to `PATH.2`, and so on; in bytes.
        public var maximumSize: Int
        /// How many such older files are kept in any case.
        public var keep: Int
        /// More of them are kept as long as their last line is younger than this. `TWEAKS_AUDIT_DAYS` wins over it.
        public var minimumAge: Duration

        /// An audit with its limits: files of 10 MiB, five older ones, and more as long as they are younger than 30 days,
        /// unless the program says otherwise.
        public init(
            _ path: String, maximumSize: Int = 10_485_760, keep: Int = 5, minimumAge: Duration = .seconds(2_592_000)
        ) {
            (self.path, self.maximumSize, self.keep) = (path, maximumSize, keep)
            self.minimumAge = minimumAge
        }

        /// An audit with the usual limits.
        public init(stringLiteral path: String) { self.init(path) }
    }
}
