// The files that a daemon reads and writes: config, overrides, audit, tokens; and who is told what becomes of them.

import Synchronization
import Tweaks
import TweaksServer
import TweaksStorage
import TweaksWire

extension DaemonParts {
    static func tokens(_ path: String, _ log: EventLog, _ relay: Relay<TokenTable>) -> TokenKeeper {
        TokenKeeper(path: path, onChange: { relay.send($0) }) { event in
            log.post(event.isProblem ? .warning(event.description) : .tokens(event.description))
        }
    }

    static func reloader(
        _ file: TweakDaemon.ConfigFile, _ registry: TweakRegistry, _ log: EventLog
    ) -> ConfigReloader {
        let policy = ConfigPolicy(
            unknownIsError: file.unknown == .error, fileWins: file.precedence == .fileWins)
        return ConfigReloader(path: file.path, policy: policy, registry: registry) { event in
            switch event {
            case .reloaded(let difference): log.post(.reloaded(TweakReload(file.path, difference)))
            case .failed(let failure): log.post(.reloadFailed(TweakReloadError(failure)))
            case .waiting(let text): log.post(.reloadWaiting(text))
            }
        }
    }

    static func readFirst(
        _ reloader: ConfigReloader?, _ file: TweakDaemon.ConfigFile?
    ) throws(ServerError) {
        do {
            try reloader?.reload()
        } catch {
            guard file?.atStart == .required else { return }
            throw ServerError(
                "the config file is required and cannot be taken:\n\(error.lines.joined(separator: "\n"))")
        }
    }

    static func openAudit(
        _ settings: AuditSettings, _ registry: TweakRegistry, _ log: EventLog
    ) -> AuditTrail {
        AuditTrail(settings, registry: registry) { event in
            switch event {
            case .failed: log.post(.warning(event.description))
            case .recovered: log.post(.saving(event.description))
            }
        }
    }

    static func openStore(
        _ settings: DaemonSettings, _ durability: TweakDaemon.Durability, _ registry: TweakRegistry, _ log: EventLog
    ) -> OverrideStore? {
        guard let place = settings.stateDirectory else { return nil }
        let store = OverrideStore(
            directory: place, program: settings.name, isRequired: durability == .required, keepsHistory: true
        ) { log.post(TweakDaemonEvent($0)) }
        if store.open(registry) { return store }
        log.post(
            .unsaved(
                "overrides are not saved by this daemon: another one in this process does so for the same tweaks; stop "
                    + "that first, or give each its own registry"))
        return nil
    }
}

extension TweakDaemonEvent {
    /// What the storage has to tell.
    fileprivate init(_ event: OverrideStore.Event) {
        switch event {
        case .opened, .foundLate, .recovered, .historyRecovered: self = .saving(event.description)
        case .locked, .unusable, .newerVersion, .failed: self = .unsaved(event.description)
        case .setAside, .historySetAside, .historyFailed: self = .warning(event.description)
        }
    }
}

/// Hands something on to whoever is there later.
final class Relay<Value: Sendable>: Sendable {
    // In a structure: a bare function in a Mutex is wrapped once more each time it is looked at.
    private struct Receiver { let take: @Sendable (Value) -> Void }

    private let receiver = Mutex<Receiver?>(nil)

    func connect(_ body: @escaping @Sendable (Value) -> Void) { receiver.withLock { $0 = Receiver(take: body) } }

    func send(_ value: Value) { receiver.withLock { $0 }?.take(value) }
}
