// What the daemon's server asks of the other parts: reloads, figures, a line in the log.

import Tweaks
import TweaksInterface
import TweaksServer
import TweaksStorage
import TweaksWire

extension TweakServerHooks {
    init(
        _ reloader: ConfigReloader?, _ store: OverrideStore?, _ audit: AuditTrail?, registry: TweakRegistry,
        changes: ChangeLog, sources: [any RunningSource]
    ) {
        self.init()
        if let reloader {
            reload = { dry, body in
                reloader.reload(dry: dry) { body(.reload(reloader.path, $0, dry: dry)) }
            }
        }
        stats = {
            Self.figures(store, registry) + AuditTrail.figures(audit) + Self.figures(reloader, registry)
                + sources.flatMap(\.figures)
        }
        self.audit = audit
        onSessionEvent = { event in
            changes.post(.session(event))
            if let audit, let note = AuditNote(event) { audit.note(note) }
        }
    }

    private static func figures(_ store: OverrideStore?, _ registry: TweakRegistry) -> [(String, JSON)] {
        guard let store else { return [("storage", .string("off"))] }
        let facts = store.facts
        let held = registry.heldCounts
        return [
            ("storage", .string(facts.state)), ("storageFile", .string(facts.path)),
            ("overridesStored", .count(facts.entries)), ("overridesWaiting", .count(held.waiting)),
            ("overridesUnfit", .count(held.unfit)), ("overridesSetAside", .count(facts.entriesSetAside)),
            ("presets", .string(facts.holder.map { "off: the state directory is used by \($0)" } ?? "saved")),
            ("storageWrites", .count(facts.writes)),
            ("storageFailures", .count(facts.failures)), ("setAside", .text(facts.setAside)),
            ("history", .string(facts.history.state)), ("historyLines", .count(facts.history.lines)),
        ]
    }

    private static func figures(_ reloader: ConfigReloader?, _ registry: TweakRegistry) -> [(String, JSON)] {
        guard let reloader else { return [("config", .string("none"))] }
        let record = reloader.record
        let age = record.takenAt.map { Int64((registry.currentTime - $0) / .seconds(1)) }
        return [
            ("config", .string(reloader.path)), ("configTweaks", .count(record.count)),
            ("configReloads", .count(record.reloads)), ("configFailures", .count(record.failures)),
            ("configSecondsAgo", age.map(JSON.int) ?? .null),
            ("configError", .text(record.failure?.lines.first)),
        ]
    }
}
