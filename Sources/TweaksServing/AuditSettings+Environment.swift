// Reads the audit settings from the program and the environment, and reports the audit's metrics.

import TweaksInterface
import TweaksServer
import TweaksStorage
import TweaksSystem
import Tweaks
import TweaksWire

extension AuditSettings {
    /// The settings from the program and the environment; nil if the audit is off.
    static func chosen(
        _ named: TweakDaemon.Audit?, isStrict: Bool, _ environment: [String: String]
    ) throws(ServerError) -> AuditSettings? {
        let days = try days(environment)
        let word = environment["TWEAKS_AUDIT"].flatMap { $0.isEmpty ? nil : $0 }
        if word?.lowercased() == "off" { return nil }
        guard let path = word ?? named?.path, !path.isEmpty else { return nil }
        // The environment moves the file; the limits stay the program's.
        let limits = named ?? TweakDaemon.Audit(path)
        return AuditSettings(
            path: ThisProcess.absolute(path), maximumSize: limits.maximumSize, keep: limits.keep,
            minimumAge: days ?? limits.minimumAge,
            isStrict: isStrict)
    }

    private static func days(_ environment: [String: String]) throws(ServerError) -> Duration? {
        guard let text = environment["TWEAKS_AUDIT_DAYS"], !text.isEmpty else { return nil }
        guard let days = Int64(text), (0...36_500).contains(days) else {
            throw ServerError("TWEAKS_AUDIT_DAYS=\(text): write a whole number of days, 0…36500")
        }
        return .seconds(days * 86_400)
    }
}

extension AuditTrail {
    /// Metrics for `stats`.
    static func metrics(_ trail: AuditTrail?) -> [(String, JSON)] {
        guard let info = trail?.info else { return [("audit", .string("off"))] }
        return [
            ("audit", .string(info.state)), ("auditFile", .string(info.path)),
            ("auditRefusedFile", .string(info.refusedPath)), ("auditCommits", .count(info.commits)),
            ("auditEvents", .count(info.events)),
            ("auditFolded", .count(info.folded)), ("auditLeftOut", .count(info.leftOut)),
            ("auditDroppedBytes", .int(info.dropped)), ("auditFailures", .count(info.failures)),
        ]
    }
}
