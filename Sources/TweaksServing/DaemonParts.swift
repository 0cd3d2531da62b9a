// The parts of a daemon, introduced to each other: files, server, watcher, signals, service manager.

import TweaksInterface
import TweaksSystem
import Dispatch
import Synchronization
import Tweaks
import TweaksServer
import TweaksStorage
import TweaksWire

/// A daemon's parts. Opened once, closed once.
final class DaemonParts: Sendable {
    let server: TweakServer
    let reloader: ConfigReloader?
    private let registry: TweakRegistry
    private let log: EventLog
    private let changes: ChangeLog
    let panel: (any DaemonFront)?
    private let store: OverrideStore?
    private let audit: AuditTrail?
    private let sources: [any RunningSource]
    private let tokens: TokenKeeper?
    private let manager: ServiceManager?
    /// Signals, also those that come before there is a daemon to obey them.
    private let signalled: Relay<Int32>
    private let followers = Mutex(Followers())

    /// What follows the outside, and has to be ended.
    private struct Followers {
        var watcher: FileWatcher?
        var reloads: SignalWatch?
        var stops: SignalWatch?
        var isClosing = false
        var wasSignalled = false
        var isClosed = false
        var waiting: [@Sendable () -> Void] = []
    }

    /// The open ones: a program need not keep its daemon to keep it running.
    private static let running = Mutex<[ObjectIdentifier: DaemonParts]>([:])

    /// Reads the files and opens the sockets.
    /// - Throws: `ServerError` when it cannot listen, or a required config file is bad; nothing is left open.
    init(
        _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration, _ log: EventLog
    ) throws(ServerError) {
        let (registry, signals, limits) = (configuration.registry, configuration.signals, configuration.limits)
        let (access, durability) = (configuration.access, configuration.durability)
        self.registry = registry
        self.log = log
        panel = settings.panel
        let indistinct = UserNamespace.current.warnings(userID: ThisProcess.user, access)
        for warning in settings.warnings + indistinct { log.post(.warning(warning)) }
        if settings.isFrozen { registry.freeze() }
        registry.onConflict { [weak log] in log?.post(.conflict($0)) }
        registry.onUnfit { [weak log] in
            log?.post(.unfit($0, "the \($1.layer) of \($1.entry.origin) is not in effect: \($1.reason.message)"))
        }
        audit = settings.isFrozen ? nil : settings.audit.map { Self.openAudit($0, registry, log) }
        // First the file, then the overrides: what lies beneath them is known then.
        reloader =
            settings.isFrozen
            ? nil
            : settings.config.map { file in
                Self.reloader(
                    file, isStrict: durability == .required || file.atStart == .required, registry, log)
            }
        do throws(ServerError) {
            try Self.readFirst(reloader, settings.config)
        } catch {
            audit?.close()
            throw error
        }
        store = settings.isFrozen ? nil : Self.openStore(settings, durability, registry, log)
        if let directory = settings.keptDirectory(store) {
            panel?.resume(from: directory) { log.post(.warning($0)) }
            // Where another process has the directory, the history is its own, and so is the audit of that.
            audit?.complete()
        }
        do throws(ServerError) {
            sources = settings.isFrozen ? [] : try Self.openSources(settings, configuration, store, log)
        } catch {
            store?.close()
            audit?.close()
            throw error
        }
        // Sessions learn of it when there is a server.
        let whenTokensChange = Relay<TokenTable>()
        tokens = settings.tokenFile.map { Self.tokens($0, log, whenTokensChange) }
        // From here on, for what sessions do is logged behind what they changed.
        changes = ChangeLog(registry, log)
        manager = Self.serviceManager(settings.environment, log)
        // Before the sockets: a client that has been answered may send a signal at once.
        let signalled = Relay<Int32>()
        self.signalled = signalled
        let follow = { SignalWatch($0) { signalled.send($0) } }
        // A process that may be asked to reload must not die of it: not frozen, and not without a file under a manager.
        let mayReload = signals.contains(.reload) && (settings.config != nil || manager != nil)
        let (reloads, stops) = (
            mayReload ? follow([SIGHUP]) : nil, signals.contains(.stop) ? follow([SIGTERM, SIGINT]) : nil
        )
        followers.withLock { ($0.reloads, $0.stops) = (reloads, stops) }
        let (reloader, store, audit, tokens, changes) = (reloader, store, audit, tokens, changes)
        let sources = sources
        do throws(ServerError) {
            server = try settings.startFirst { listeners throws(ServerError) in
                var hooks = TweakServerHooks(
                    reloader, store, audit, registry: registry, changes: changes, sources: sources)
                hooks.access = access
                if let tokens { hooks.tokens = { tokens.table } }
                hooks.fronts = [settings.panel].compactMap { $0 }
                let server = TweakServer(
                    name: settings.name, registry: registry, listeners: listeners, limits: limits,
                    hooks: hooks.with(settings.presets(limits, store)))
                try server.start { server in
                    Self.keepPanel(server, settings, log)
                    if let warning = server.warning { log.post(.warning(warning)) }
                    log.post(.listening(server.whereabouts(settings)))
                    log.flush()
                }
                return server
            }
        } catch {
            changes.end()
            store?.close()
            audit?.close()
            log.flush()
            throw error
        }
        whenTokensChange.connect { [weak server] in server?.tokensChanged($0) }
        for warning in settings.warnings(about: server) { log.post(.warning(warning)) }
    }

    // MARK: Following the outside

    /// Starts to follow the file, obeys the signals, and tells the service manager.
    func open(_ settings: DaemonSettings) {
        Self.running.withLock { $0[ObjectIdentifier(self)] = self }
        if let reloader { follow(reloader) }
        for source in sources { source.start() }
        tokens?.start()
        tellManager { $0.ready(status: "\(settings.name) serves \(Self.counted(self.registry.count, "tweak"))") }
        signalled.connect { [weak self] signal in
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

    private func follow(_ reloader: ConfigReloader) {
        let log = log
        let watcher = FileWatcher(
            path: reloader.path, onTrouble: { log.post(.warning($0)) }, lookAgain: { _ in reloader.look() })
        watcher.start()
        followers.withLock { $0.watcher = watcher }
        // It may have changed between the first reading and now.
        reloader.look()
    }

    /// The manager asks for a reload by SIGHUP, and waits until it is told that it has ended, well or badly.
    private func reloadForManager() {
        if followers.withLock({ $0.isClosing }) { return }
        tellManager { $0.reloading() }
        guard let reloader else {
            log.post(.warning("asked to reload by SIGHUP, but there is no config file to read"))
            return tellManager { $0.ready(status: "there is no config file to read") }
        }
        let result = Result { () throws(ReloadFailure) in try reloader.reload() }
        let status: String
        switch result {
        case .success(let difference):
            status = "\(reloader.path) taken, \(Self.counted(difference.changes.count, "change"))"
        case .failure(let failure): status = "\(reloader.path) not taken: \(failure.lines.first ?? "")"
        }
        tellManager { $0.ready(status: status) }
    }

    private static func counted(_ count: Int, _ noun: String) -> String {
        "\(count) \(noun)\(count == 1 ? "" : "s")"
    }

    private func tellManager(_ body: (ServiceManager) -> String?) {
        guard let manager else { return }
        if let trouble = body(manager) { log.post(.warning(trouble)) }
    }

    // MARK: Closing

    /// Ends everything, in the order in which nothing is lost. A second call does nothing.
    func close(bySignal: Bool = false) {
        let isFirst = followers.withLock { followers in
            defer { followers.isClosing = true }
            if !followers.isClosing { followers.wasSignalled = bySignal }
            return !followers.isClosing
        }
        guard isFirst else { return }
        tellManager { $0.stopping() }
        log.post(.stopping)
        let ended = followers.withLock { followers in
            defer { (followers.watcher, followers.stops) = (nil, nil) }
            return (followers.watcher, followers.stops)
        }
        // A second signal has its usual effect: it ends the process at once.
        ended.1?.cancel()
        // The watcher may be waiting for it.
        reloader?.cancel()
        ended.0?.stop()
        for source in sources { source.stop() }
        tokens?.stop()
        panel?.retract(from: server)
        server.stop()
        panel?.finish()
        changes.end()
        store?.close()
        audit?.close()
        log.flush()
        // A hangup would have ended the process before everything was written.
        let reloads = followers.withLock { $0.reloads.take() }
        reloads?.cancel()
        let waiting = followers.withLock { followers in
            defer { followers.waiting = []; followers.isClosed = true }
            return followers.waiting
        }
        Self.running.withLock { $0[ObjectIdentifier(self)] = nil }
        for body in waiting { body() }
    }

    /// Whether a signal ends it, or has done so.
    var wasSignalled: Bool { followers.withLock { $0.wasSignalled } }

    /// Waits until another thread that is closing it has done so.
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
