// The audit as a program names it: a file that says who changed what.

import Foundation
import TweaksStorage
import TweaksWire

extension TweakDaemon {
    /// A file to which every commit is appended: when, who, from where, what was and what is; and what sessions were
    /// refused, or did to get more rights. Values of secrets are not in it.
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
        /// How many such older files are kept.
        public var keep: Int

        /// An audit with its limits: 10 MiB and five older files, unless the program says otherwise.
        public init(_ path: String, maximumSize: Int = 10_485_760, keep: Int = 5) {
            (self.path, self.maximumSize, self.keep) = (path, maximumSize, keep)
        }

        /// An audit with the usual limits.
        public init(stringLiteral path: String) { self.init(path) }
    }
}

extension AuditSettings {
    /// What the program and the environment say; nil for none.
    init?(_ named: TweakDaemon.Audit?, _ environment: [String: String]) {
        let word = environment["TWEAKS_AUDIT"].flatMap { $0.isEmpty ? nil : $0 }
        if word?.lowercased() == "off" { return nil }
        guard var path = word ?? named?.path, !path.isEmpty else { return nil }
        // The program may change its directory later.
        if !path.hasPrefix("/") { path = FileManager.default.currentDirectoryPath + "/" + path }
        // The limits are the program's, wherever the file is.
        let limits = named ?? TweakDaemon.Audit(path)
        self.init(path: path, maximumSize: limits.maximumSize, keep: limits.keep)
    }
}

extension AuditTrail {
    /// Figures for `stats`.
    static func figures(_ trail: AuditTrail?) -> [(String, JSON)] {
        guard let facts = trail?.facts else { return [("audit", .string("off"))] }
        return [
            ("audit", .string(facts.state)), ("auditFile", .string(facts.path)),
            ("auditCommits", .count(facts.commits)), ("auditEvents", .count(facts.events)),
            ("auditLeftOut", .count(facts.leftOut)),
            ("auditFailures", .count(facts.failures)),
        ]
    }
}
