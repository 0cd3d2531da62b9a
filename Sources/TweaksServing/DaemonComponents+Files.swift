// Opens the files of a daemon (config, overrides, audit, tokens) and routes their events to the log.

import TweaksInterface
import Synchronization
import Tweaks
import TweaksServer
import TweaksStorage
import TweaksWire

extension DaemonSettings {
    /// The state directory, if this process holds its lock.
    func ownedStateDirectory(_ store: OverrideStore?) -> String? {
        guard let store, store.info.holder == nil else { return nil }
        return try? stateDirectory?.get()
    }
}

extension DaemonComponents {
    /// Keeps the panel's token and its sign-ins over a restart: sign-ins with the panel's own token if that is stored,
    /// and sign-ins with a token of the token file if the panel has a fixed port.
    static func keepPanel(_ server: TweakServer, _ settings: DaemonSettings, _ log: EventLog) {
        settings.panel?.persist(
            in: try? settings.stateDirectory?.get(), server, hasTokenFile: settings.tokenFile != nil,
            reportProblem: { log.post(.warning($0)) },
            announce: { log.post(.tokens($0)) })
    }

    static func tokens(_ path: String, _ log: EventLog, _ relay: Relay<TokenTable>) -> TokenFileMonitor {
        TokenFileMonitor(path: path, onChange: { relay.send($0) }) { event in
            log.post(event.isProblem ? .warning(event.description) : .tokens(event.description))
        }
    }

    static func reloader(
        _ file: TweakDaemon.ConfigFile, isStrict: Bool, _ registry: TweakRegistry, _ log: EventLog
    ) -> ConfigReloader {
        let policy = LayerPolicy(
            unknownIsError: file.unknown == .error, dropsOverrides: file.precedence == .fileWins)
        let read = Self.reading(isStrict: isStrict, log)
        return ConfigReloader(path: file.path, policy: policy, registry: registry, read: read) { event in
            switch event {
            case .reloaded(let difference): log.post(.reloaded(TweakReload(file.path, difference)))
            case .failed(let failure): log.post(.reloadFailed(TweakReloadError(failure)))
            case .waiting(let text): log.post(.reloadWaiting(text))
            }
        }
    }

    /// Returns a reader for the config file that first checks who can write it: such a user can change every tweak.
    /// - Parameter isStrict: A file that others could have written is rejected; otherwise it is only reported, once for
    ///   each reason.
    private static func reading(isStrict: Bool, _ log: EventLog) -> @Sendable (String) -> FileReading {
        let lastObjection = LastReported()
        return { path in
            let objection = FileTrust.objection(to: path)
            if let objection, isStrict { return FileReading(.unreadable(objection)) }
            if lastObjection.changes(to: objection), let objection {
                log.post(.warning("the config file \(path) may be another user's: \(objection)"))
            }
            return FileReading(path: path, isStrict: isStrict)
        }
    }

    static func readFirst(
        _ reloader: ConfigReloader?, _ file: TweakDaemon.ConfigFile?
    ) throws(ServerError) {
        do {
            try reloader?.start()
        } catch {
            guard file?.atStart == .required else { return }
            reloader?.reportStart()
            throw ServerError(
                "the config file is required and cannot be used:\n\(error.lines.joined(separator: "\n"))")
        }
    }

    static func openAudit(
        _ settings: AuditSettings, _ registry: TweakRegistry, _ log: EventLog
    ) -> AuditTrail {
        AuditTrail(settings, registry: registry) { event in
            switch event {
            case .failed, .dropped, .full, .exposed: log.post(.warning(event.description))
            case .recovered: log.post(.saving(event.description))
            }
        }
    }

    /// Opens the sources and applies their last good values before the sockets are open; a frozen process has none.
    static func openSources(
        _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration, _ store: OverrideStore?,
        _ log: EventLog
    ) throws(ServerError) -> OpenSources {
        var sources: [any TweakValueSource] = []
        for source in settings.isFrozen ? [] : configuration.sources {
            if let source = try source.make(settings.name, settings.environment) { sources.append(source) }
        }
        if let config = settings.config, let source = sources.first(where: { $0.layer == .configFile }) {
            throw ServerError(
                "sources: the config file \(config.path) and the source \(type(of: source)) have the same layer, "
                    + "config file; give the source a layer of its own, or name no config file")
        }
        let setting = SourceSetting(
            daemon: settings.name, environment: settings.environment, directory: settings.ownedStateDirectory(store)
        ) { log.post(TweakDaemonEvent($0, $1, isProblem: $2)) }
        do throws(TweakError) {
            return try OpenSources(sources, of: configuration.registry, setting)
        } catch {
            throw ServerError("sources: \(error.message)")
        }
    }

    /// Reads the stored overrides, which are applied later.
    static func loadStore(
        _ settings: DaemonSettings, _ durability: TweakDaemon.Durability, _ registry: TweakRegistry, _ log: EventLog
    ) -> OverrideStore? {
        guard let place = settings.stateDirectory else { return nil }
        let store = OverrideStore(
            directory: place, program: settings.name, isRequired: durability == .required, keepsHistory: true
        ) { log.post(TweakDaemonEvent($0)) }
        if store.load(for: registry) { return store }
        log.post(Self.isStoredElsewhere)
        return nil
    }

    static let isStoredElsewhere = TweakDaemonEvent.unsaved(
        "overrides are not saved by this daemon: another one in this process does so for the same tweaks; stop "
            + "that first, or give each its own registry")
}

extension TweakDaemonEvent {
    /// Maps what a source logs to a daemon event.
    fileprivate init(_ layer: TweakLayer, _ text: String, isProblem: Bool) {
        // The library's own sources name their subject.
        let isBuiltIn = [.configFile, .environment, .arguments, .fleet].contains(layer)
        let line = isBuiltIn ? text : "\(layer): \(text)"
        if isProblem {
            self = .warning(line)
        } else {
            self = layer == .fleet ? .fleet(line) : .source(line)
        }
    }

    /// Maps a storage event to a daemon event.
    fileprivate init(_ event: OverrideStore.Event) {
        switch event {
        case .opened, .foundLate, .recovered, .historyRecovered: self = .saving(event.description)
        case .locked, .unusable, .newerVersion, .failed: self = .unsaved(event.description)
        case .quarantined, .entryQuarantined, .historyQuarantined, .historyFailed: self = .warning(event.description)
        }
    }
}

/// Forwards values to a receiver that is connected later; values sent before that are queued.
final class Relay<Value: Sendable>: Sendable {
    private struct State {
        // Wrapped in a structure: each access to a bare function in a Mutex would add another wrapper around it.
        var receiver: Receiver?
        var waiting: [Value] = []
    }
    private struct Receiver { let handle: @Sendable (Value) -> Void }

    private let state = Mutex(State())

    func connect(_ body: @escaping @Sendable (Value) -> Void) {
        let waiting = state.withLock { state in
            defer { state.waiting = [] }
            state.receiver = Receiver(handle: body)
            return state.waiting
        }
        for value in waiting { body(value) }
    }

    func send(_ value: Value) {
        let receiver = state.withLock { state in
            if state.receiver == nil { state.waiting.append(value) }
            return state.receiver
        }
        receiver?.handle(value)
    }
}

/// Remembers the last reported text, so that repeated checks report only changes.
private final class LastReported: Sendable {
    private let text = Mutex<String?>(nil)

    /// Stores a text; false if it equals the previous one.
    func changes(to text: String?) -> Bool {
        self.text.withLock { last in
            defer { last = text }
            return last != text
        }
    }
}
