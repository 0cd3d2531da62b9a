// Connects the components of a daemon: files, server, watcher, signals, service manager.

import TweaksInterface
import TweaksSystem
import Dispatch
import Synchronization
import Tweaks
import TweaksServer
import TweaksStorage
import TweaksWire

/// A daemon's components. Opened once, closed once.
final class DaemonComponents: Sendable {
    let server: TweakServer
    let reloader: ConfigReloader?
    let registry: TweakRegistry
    private let log: EventLog
    private let changes: ChangeLog
    let panel: (any DaemonEndpoint)?
    private let store: OverrideStore?
    private let audit: AuditTrail?
    let sources: OpenSources
    /// Whether a source is the program's own.
    let reloadsSources: Bool
    private let tokens: TokenFileMonitor?
    private let manager: ServiceManager?
    let signals: DaemonSignals
    private let followers = Mutex(Followers())

    /// The observers of external changes, which must be stopped.
    private struct Followers {
        var watcher: FileWatcher?
        var isClosing = false
        var wasSignaled = false
        var isClosed = false
        var waiting: [@Sendable () -> Void] = []
    }

    /// The open daemons: a program need not retain its daemon to keep it running.
    private static let running = Mutex<[ObjectIdentifier: DaemonComponents]>([:])

    /// Reads the files and opens the sockets.
    /// - Throws: `ServerError` if it cannot listen, or a required config file is bad; nothing is left open.
    init(
        _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration, _ signals: DaemonSignals,
        _ log: EventLog
    ) throws(ServerError) {
        let (registry, limits) = (configuration.registry, configuration.limits)
        let (access, durability) = (configuration.access, configuration.durability)
        self.registry = registry
        self.log = log
        self.signals = signals
        panel = settings.panel
        reloadsSources = settings.reloadsSources
        let namespaceWarnings = UserNamespace.current.warnings(userID: ThisProcess.user, access)
        for warning in settings.warnings + namespaceWarnings { log.post(.warning(warning)) }
        if settings.isFrozen { registry.freeze() }
        registry.onConflict { [weak log] in log?.post(.conflict($0)) }
        registry.onInvalid { [weak log] in
            log?.post(.unfit($0, "the \($1.layer) of \($1.entry.origin) is not in effect: \($1.reason.message)"))
        }
        audit = settings.isFrozen ? nil : settings.audit.map { Self.openAudit($0, registry, log) }
        // The file comes before the overrides, so that the values below overrides are known when they load.
        reloader =
            settings.isFrozen
            ? nil
            : settings.config.map { file in
                Self.reloader(
                    file, isStrict: durability == .required || file.atStart == .required, registry, log)
            }
        do throws(ServerError) {
            if let reloader { signals.onStop { reloader.cancel() } }
            try Self.readFirst(reloader, settings.config)
            try signals.check()
        } catch {
            audit?.close()
            throw error
        }
        let loaded = settings.isFrozen ? nil : Self.loadStore(settings, durability, registry, log)
        do throws(ServerError) {
            try signals.check()
            // All sources come before the overrides, as the file does.
            sources = try Self.openSources(settings, configuration, loaded, log)
        } catch {
            loaded?.close()
            audit?.close()
            throw error
        }
        store = loaded.flatMap { $0.open(registry) ? $0 : nil }
        if loaded != nil, store == nil { log.post(Self.isStoredElsewhere) }
        if let directory = settings.ownedStateDirectory(store) {
            panel?.restore(from: directory) { log.post(.warning($0)) }
            // If another process holds the directory, the history and its audit belong to that process.
            audit?.complete()
        }
        if let values = reloader?.continueRun(in: settings.ownedStateDirectory(store)) { audit?.noteStart(values) }
        reloader?.reportStart()
        // Connected to the sessions when the server exists.
        let tokenChanges = Relay<TokenTable>()
        tokens = settings.tokenFile.map { Self.tokens($0, log, tokenChanges) }
        // Created before the server, so that session events are logged after the commits that precede them.
        changes = ChangeLog(registry, log)
        manager = Self.serviceManager(settings.environment, log)
        let (reloader, store, audit, tokens, changes) = (reloader, store, audit, tokens, changes)
        let sources = sources
        do throws(ServerError) {
            try signals.check()
            server = try settings.startFirst(report: { log.post(.warning($0)) }) { listeners throws(ServerError) in
                var hooks = TweakServerHooks(
                    reloader, store, audit, registry: registry, changes: changes, sources: sources)
                hooks.setReload(reloader, settings.reloadsSources ? sources : nil, registry)
                hooks.access = access
                if let tokens { hooks.tokens = { tokens.table } }
                hooks.serverEndpoints = [settings.panel].compactMap { $0 }
                let server = TweakServer(
                    name: settings.name, registry: registry, listeners: listeners, limits: limits,
                    hooks: hooks.with(settings.presets(limits, store)))
                try server.start { server in
                    Self.keepPanel(server, settings, log)
                    if let warning = server.warning { log.post(.warning(warning)) }
                    log.post(.listening(server.listeningSummary(settings)))
                    log.flush()
                }
                return server
            }
        } catch {
            sources.stop()
            changes.end()
            store?.close()
            audit?.close()
            log.flush()
            throw error
        }
        tokenChanges.connect { [weak server] in server?.tokensChanged($0) }
        for warning in settings.warnings(about: server) { log.post(.warning(warning)) }
    }

    // MARK: External changes

    /// Starts watching the file, following the sources, handling signals, and notifying the service manager.
    /// - Throws: Why a source does not start; all is closed then.
    func open(_ settings: DaemonSettings) throws(ServerError) {
        Self.running.withLock { $0[ObjectIdentifier(self)] = self }
        if let reloader { watch(reloader) }
        do throws(TweakError) {
            try sources.start()
        } catch {
            close()
            throw ServerError(error.message)
        }
        tokens?.start()
        notifyManager { $0.ready(status: "\(settings.name) serves \(Self.counted(self.registry.count, "tweak"))") }
        signals.connect { [weak self] signal in
            if signal == SIGHUP { self?.reloadForManager() } else { self?.close(bySignal: true) }
        }
        log.flush()
    }

    private static func serviceManager(_ environment: [String: String], _ log: EventLog) -> ServiceManager? {
        do throws(ServerError) {
            return try ServiceManager(environment: environment)
        } catch {
            log.post(.warning(error.description))
            return nil
        }
    }

    private func watch(_ reloader: ConfigReloader) {
        let log = log
        let watcher = FileWatcher(
            path: reloader.path, onProblem: { log.post(.warning($0)) }, onChange: { _ in reloader.reloadIfChanged() })
        watcher.start()
        followers.withLock { $0.watcher = watcher }
        // The file may have changed between the first reading and now.
        reloader.reloadIfChanged()
    }

    /// Handles SIGHUP. The service manager waits for the notification that the reload has ended, with or without
    /// success.
    private func reloadForManager() {
        if followers.withLock({ $0.isClosing }) { return }
        notifyManager { $0.reloading() }
        sources.reload()
        guard let reloader else {
            if reloadsSources { return notifyManager { $0.ready(status: "the sources were asked for changes") } }
            log.post(.warning("asked to reload by SIGHUP, but there is no config file to read"))
            return notifyManager { $0.ready(status: "there is no config file to read") }
        }
        let result = Result { () throws(ReloadFailure) in try reloader.reload() }
        let status: String
        switch result {
        case .success(let difference):
            status = "\(reloader.path) reloaded, \(Self.counted(difference.changes.count, "change"))"
        case .failure(let failure): status = "\(reloader.path) rejected: \(failure.lines.first ?? "")"
        }
        notifyManager { $0.ready(status: status) }
    }

    private static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    private func notifyManager(_ body: (ServiceManager) -> String?) {
        guard let manager else { return }
        if let problem = body(manager) { log.post(.warning(problem)) }
    }

    // MARK: Closing

    /// Stops all components in an order that loses nothing. A second call does nothing.
    func close(bySignal: Bool = false) {
        let isFirst = followers.withLock { followers in
            defer { followers.isClosing = true }
            if !followers.isClosing { followers.wasSignaled = bySignal }
            return !followers.isClosing
        }
        guard isFirst else { return }
        notifyManager { $0.stopping() }
        log.post(.stopping)
        let ended = followers.withLock { followers in
            defer { followers.watcher = nil }
            return followers.watcher
        }
        // A second signal has its default effect and ends the process at once.
        signals.endStops()
        // The watcher may be waiting for the reload.
        reloader?.cancel()
        ended?.stop()
        sources.stop()
        tokens?.stop()
        panel?.withdraw(from: server)
        server.stop()
        panel?.finish()
        changes.end()
        store?.close()
        audit?.close()
        log.flush()
        // Kept until now: SIGHUP would have ended the process before everything was written.
        signals.end()
        let waiting = followers.withLock { followers in
            defer { followers.waiting = []; followers.isClosed = true }
            return followers.waiting
        }
        Self.running.withLock { $0[ObjectIdentifier(self)] = nil }
        signals.noteClosed()
        for body in waiting { body() }
    }

    /// Whether a signal is stopping the daemon or has stopped it.
    var wasSignaled: Bool { followers.withLock { $0.wasSignaled } }

    /// Waits until the thread that is closing it has finished.
    func whenClosed() async {
        await withCheckedContinuation { continuation in
            let isClosed = followers.withLock { followers in
                if !followers.isClosed { followers.waiting.append { continuation.resume() } }
                return followers.isClosed
            }
            if isClosed { continuation.resume() }
        }
    }
}
