// Connects the server's hooks to the daemon's reloader, storage, audit and log.

import Tweaks
import TweaksInterface
import TweaksServer
import TweaksStorage
import TweaksWire

extension TweakServerHooks {
    init(
        _ reloader: ConfigReloader?, _ store: OverrideStore?, _ audit: AuditTrail?, registry: TweakRegistry,
        changes: ChangeLog, sources: OpenSources
    ) {
        self.init()
        stats = {
            Self.metrics(store, registry) + AuditTrail.metrics(audit) + Self.metrics(reloader, registry)
                + sources.status.map { ($0.name, $0.value?.json ?? .null) }
        }
        self.audit = audit
        portRemedy = "set TWEAKS_PORT"
        report = { changes.post(.warning($0)) }
        onSessionEvent = { event in
            changes.post(.session(event))
            if let audit, let note = AuditNote(event) { audit.note(note) }
        }
    }

    private static func metrics(_ store: OverrideStore?, _ registry: TweakRegistry) -> [(String, JSON)] {
        guard let store else { return [("storage", .string("off"))] }
        let info = store.info
        let pendingCounts = registry.pendingCounts
        return [
            ("storage", .string(info.state)), ("storageFile", .string(info.path)),
            ("overridesStored", .count(info.entries)), ("overridesWaiting", .count(pendingCounts.waiting)),
            ("overridesUnfit", .count(pendingCounts.invalid)), ("overridesSetAside", .count(info.entriesQuarantined)),
            ("presets", .string(info.holder.map { "off: the state directory is used by \($0)" } ?? "saved")),
            ("storageWrites", .count(info.writes)),
            ("storageFailures", .count(info.failures)), ("setAside", .text(info.lastQuarantined)),
            ("history", .string(info.history.state)), ("historyLines", .count(info.history.lines)),
        ]
    }

    private static func metrics(_ reloader: ConfigReloader?, _ registry: TweakRegistry) -> [(String, JSON)] {
        guard let reloader else { return [("config", .string("none"))] }
        let record = reloader.record
        let age = record.appliedAt.map { Int64((registry.currentTime - $0) / .seconds(1)) }
        return [
            ("config", .string(reloader.path)), ("configTweaks", .count(record.count)),
            ("configReloads", .count(record.reloads)), ("configFailures", .count(record.failures)),
            ("configSecondsAgo", age.map(JSON.int) ?? .null),
            ("configError", .text(record.failure?.lines.first)),
        ]
    }
}
