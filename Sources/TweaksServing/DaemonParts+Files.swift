// The files that a daemon reads and writes: config, overrides, audit, tokens; and who is told what becomes of them.

import TweaksInterface
import Synchronization
import Tweaks
import TweaksServer
import TweaksStorage
import TweaksWire

extension DaemonSettings {
    /// The state directory, where this process holds its lock.
    func keptDirectory(_ store: OverrideStore?) -> String? {
        guard let store, store.facts.holder == nil else { return nil }
        return try? stateDirectory?.get()
    }
}

extension DaemonParts {
    /// Keeps the panel's token and its sign-ins over a restart: those with its own token where that is kept, and those of
    /// the token file where the panel has a port that stays.
    static func keepPanel(_ server: TweakServer, _ settings: DaemonSettings, _ log: EventLog) {
        settings.panel?.keep(
            in: try? settings.stateDirectory?.get(), server, hasTokenFile: settings.tokenFile != nil,
            complain: { log.post(.warning($0)) },
            whenRotated: {
                log.post(.tokens("the panel has another token; who was signed in with the old one is signed out"))
            })
    }

    static func tokens(_ path: String, _ log: EventLog, _ relay: Relay<TokenTable>) -> TokenKeeper {
        TokenKeeper(path: path, onChange: { relay.send($0) }) { event in
            log.post(event.isProblem ? .warning(event.description) : .tokens(event.description))
        }
    }

    static func reloader(
        _ file: TweakDaemon.ConfigFile, isStrict: Bool, _ registry: TweakRegistry, _ log: EventLog
    ) -> ConfigReloader {
        let policy = ConfigPolicy(
            unknownIsError: file.unknown == .error, fileWins: file.precedence == .fileWins)
        let read = Self.reading(isStrict: isStrict, log)
        return ConfigReloader(path: file.path, policy: policy, registry: registry, read: read) { event in
            switch event {
            case .reloaded(let difference): log.post(.reloaded(TweakReload(file.path, difference)))
            case .failed(let failure): log.post(.reloadFailed(TweakReloadError(failure)))
            case .waiting(let text): log.post(.reloadWaiting(text))
            }
        }
    }

    /// Reads a config file, judged first: who can write it can change every tweak that it may name.
    /// - Parameter isStrict: One that others could have written is not taken; else that is said, once for each reason.
    private static func reading(isStrict: Bool, _ log: EventLog) -> @Sendable (String) -> FileContent {
        let said = LastSaid()
        return { path in
            let objection = FileTrust.objection(to: path)
            if let objection, isStrict { return .unreadable(objection) }
            if said.changes(to: objection), let objection {
                log.post(.warning("the config file \(path) may be another user's: \(objection)"))
            }
            return FileContent(path: path, isStrict: isStrict)
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
            case .failed, .lost, .exposed: log.post(.warning(event.description))
            case .recovered: log.post(.saving(event.description))
            }
        }
    }

    /// Opens the sources, and applies what they have kept: before the sockets are open, and without waiting for others.
    static func openSources(
        _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration, _ store: OverrideStore?,
        _ log: EventLog
    ) throws(ServerError) -> [any RunningSource] {
        let context = SourceContext(
            name: settings.name, registry: configuration.registry, environment: settings.environment,
            directory: settings.keptDirectory(store), log: { log.post($0) })
        var sources: [any RunningSource] = []
        for source in configuration.sources {
            if let source = try source.open(context) { sources.append(source) }
        }
        for source in sources { source.applyKept() }
        return sources
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
        case .setAside, .entrySetAside, .historySetAside, .historyFailed: self = .warning(event.description)
        }
    }
}

/// Hands values to a receiver that is connected later; what is sent before that waits for it.
final class Relay<Value: Sendable>: Sendable {
    private struct State {
        // In a structure: a bare function in a Mutex is wrapped once more each time it is looked at.
        var receiver: Receiver?
        var waiting: [Value] = []
    }
    private struct Receiver { let take: @Sendable (Value) -> Void }

    private let state = Mutex(State())

    func connect(_ body: @escaping @Sendable (Value) -> Void) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.receiver = Receiver(take: body)
            return state.waiting
        }
        for value in waiting { body(value) }
    }

    func send(_ value: Value) {
        let receiver = state.withLock { state in
            if state.receiver == nil { state.waiting.append(value) }
            return state.receiver
        }
        receiver?.take(value)
    }
}

/// What was last said of something that is looked at again and again.
private final class LastSaid: Sendable {
    private let text = Mutex<String?>(nil)

    /// Notes a text; false when it is the same as before.
    func changes(to text: String?) -> Bool {
        self.text.withLock { last in
            defer { last = text }
            return last != text
        }
    }
}
