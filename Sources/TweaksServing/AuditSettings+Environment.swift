// Where the audit is, as the program and the environment say, and its figures.

import TweaksInterface
import TweaksServer
import TweaksStorage
import TweaksSystem
import Tweaks
import TweaksWire

extension AuditSettings {
    /// What the program and the environment say; nil for none.
    static func chosen(
        _ named: TweakDaemon.Audit?, isStrict: Bool, _ environment: [String: String]
    ) throws(ServerError) -> AuditSettings? {
        let days = try days(environment)
        let word = environment["TWEAKS_AUDIT"].flatMap { $0.isEmpty ? nil : $0 }
        if word?.lowercased() == "off" { return nil }
        guard let path = word ?? named?.path, !path.isEmpty else { return nil }
        // The limits are the program's, wherever the file is.
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
    /// Figures for `stats`.
    static func figures(_ trail: AuditTrail?) -> [(String, JSON)] {
        guard let facts = trail?.facts else { return [("audit", .string("off"))] }
        return [
            ("audit", .string(facts.state)), ("auditFile", .string(facts.path)),
            ("auditRefusedFile", .string(facts.refusedPath)), ("auditCommits", .count(facts.commits)),
            ("auditEvents", .count(facts.events)),
            ("auditFolded", .count(facts.folded)), ("auditLeftOut", .count(facts.leftOut)),
            ("auditDroppedBytes", .int(facts.dropped)), ("auditFailures", .count(facts.failures)),
        ]
    }
}
