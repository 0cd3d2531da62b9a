// Runs a daemon from its start to its end: watches the file and the sources, handles signals, reloads and closes.

#if Server
    import Dispatch
    import Synchronization
    import Tweaks
    package import TweaksInterface
    import TweaksServer
    import TweaksStorage
    import TweaksSystem

    extension TweakDaemon {
        /// Reads the files, opens the sockets, and starts watching both. A signal that stops the start makes a daemon
        /// that has stopped.
        /// - Parameters:
        ///   - declare: Registers tweaks; it runs first.
        ///   - temporary: The temporary directories for the socket; nil for the system's.
        package convenience init(
            serving name: String, _ configuration: Configuration, declare: () -> Void = {}, temporary: [String]? = nil
        ) throws(ServerError) {
            let settings = try DaemonSettings(name, configuration, temporary: temporary)
            // First of all: a signal must not end a process that has asked for it to be handled.
            let signals = DaemonSignals(settings, configuration.signals)
            declare()
            let log = configuration.onEvent.map { EventLog($0) } ?? EventLog(linesOf: name, settings.log)
            do throws(ServerError) {
                try signals.check()
                let components = try DaemonComponents(settings, configuration, signals, log: log)
                try components.open()
                self.init(components)
            } catch {
                signals.end()
                guard signals.hasStopped else { throw error }
                log.post(.stopping)
                log.flush()
                signals.noteClosed()
                self.init(StoppedService(signals: signals))
            }
        }
    }

    /// A daemon whose start was ended by a signal.
    private struct StoppedService: DaemonService {
        let signals: DaemonSignals
        let port: Int? = nil
        let panelAddress: String? = nil
        let panelToken: String? = nil
        let metricsPort: Int? = nil
        let socketPath: String? = nil
        let wasStoppedAtStart = true

        func noteFailure() {}

        func stop() {}

        /// Returns at once, as after a stop.
        func run(_ body: @Sendable () async -> Void) async throws {
            await body()
            signals.noteReturn()
        }

        func reload(dry: Bool) throws(TweakReloadError) -> TweakReload { throw TweakReloadError.noConfigFile }
    }

    /// A running daemon. Opened once, closed once.
    final class DaemonComponents: DaemonService, ServerHolder {
        private let name: String
        private let registry: TweakRegistry
        /// Whether a source is the program's own.
        private let reloadsSources: Bool
        private let signals: DaemonSignals
        private let parts: DaemonParts
        package let server: TweakServer
        private let state = Mutex(State())

        private struct State {
            /// Watches the config file.
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
            log: EventLog
        ) throws(ServerError) {
            name = settings.name
            registry = configuration.registry
            reloadsSources = settings.reloadsSources
            self.signals = signals
            var parts = DaemonParts(log, settings.panel)
            do throws(ServerError) {
                server = try parts.open(settings, configuration, signals)
            } catch {
                parts.close()
                throw error
            }
            self.parts = parts
        }

        // MARK: Addresses

        let wasStoppedAtStart = false
        var port: Int? { server.port }
        var socketPath: String? { server.socketPaths.first }
        var panelAddress: String? { server.endpointPort.flatMap { parts.panel?.link(port: $0) } }
        var panelToken: String? { server.endpointPort.flatMap { _ in parts.panel?.secret } }

        var metricsPort: Int? { server.metricsPort }

        // MARK: External changes

        /// Starts watching the file, following the sources, handling signals, and notifying the service manager.
        /// - Throws: Why a source does not start; all is closed then.
        func open() throws(ServerError) {
            Self.running.withLock { $0[ObjectIdentifier(self)] = self }
            if let reloader = parts.reloader { watch(reloader) }
            do throws(TweakError) {
                try parts.sources?.start()
            } catch {
                close()
                throw ServerError(error.message)
            }
            parts.tokens?.start()
            if registry.count == 0 { parts.log.post(.warning(Self.nothingDeclared)) }
            parts.readiness.reach(.ready)
            notifyManager { $0.ready(status: "\(name) serves \(Self.counted(registry.count, "tweak"))") }
            signals.connect { [weak self] signal in
                if signal == SIGHUP { self?.reloadForManager() } else { self?.close(bySignal: true) }
            }
            parts.log.flush()
        }

        /// Swift's statics are lazy: one that was never accessed is not registered.
        private static let nothingDeclared =
            "there are no tweaks yet: pass them to the start (tweaks: Look.size, Look.color), or list them in their module"

        private func watch(_ reloader: ConfigReloader) {
            let watcher = FileWatcher(
                path: reloader.path, onProblem: { [log = parts.log] in log.post(.warning($0)) },
                onChange: { _ in reloader.reloadIfChanged() })
            watcher.start()
            state.withLock { $0.watcher = watcher }
            // The file may have changed between the first reading and now.
            reloader.reloadIfChanged()
        }

        /// Handles SIGHUP. The service manager waits for the notification that the reload has ended, with or without
        /// success.
        private func reloadForManager() {
            if state.withLock({ $0.isClosing }) { return }
            notifyManager { $0.reloading() }
            parts.sources?.reload()
            let status = reloadedStatus()
            notifyManager { $0.ready(status: status) }
        }

        /// Reads the config file, and returns the result for the service manager.
        private func reloadedStatus() -> String {
            guard let reloader = parts.reloader else {
                if reloadsSources { return "the sources were asked for changes" }
                parts.log.post(.warning("asked to reload by SIGHUP, but there is no config file to read"))
                return "there is no config file to read"
            }
            do throws(ReloadFailure) {
                let difference = try reloader.reload()
                return "\(reloader.path) reloaded, \(Self.counted(difference.changes.count, "change"))"
            } catch {
                return "\(reloader.path) rejected: \(error.firstLine ?? "")"
            }
        }

        func reload(dry: Bool) throws(TweakReloadError) -> TweakReload {
            if !dry { parts.sources?.reload() }
            guard let reloader = parts.reloader else {
                if reloadsSources, !dry { return TweakReload(revision: registry.revision) }
                throw TweakReloadError.noConfigFile
            }
            do throws(ReloadFailure) {
                return TweakReload(reloader.path, try reloader.reload(dry: dry))
            } catch {
                throw TweakReloadError(error)
            }
        }

        private static func counted(_ count: Int, _ noun: String) -> String {
            "\(count) \(noun)\(count == 1 ? "" : "s")"
        }

        private func notifyManager(_ body: (ServiceManager) -> String?) {
            if let manager = parts.manager, let problem = body(manager) { parts.log.post(.warning(problem)) }
        }

        // MARK: The end

        func run(_ body: @Sendable () async -> Void) async throws {
            // A signal can arrive while the program is still starting; that is not an error.
            guard server.isRunning || state.withLock({ $0.wasSignaled }) else {
                throw ServerError("the daemon was stopped already; start another one")
            }
            await server.serve()
            close()
            await whenClosed()
            await body()
            signals.noteReturn()
        }

        func noteFailure() { parts.sources?.noteFailure() }

        func stop() { close() }

        /// Stops all components in an order that loses nothing. A second call does nothing.
        private func close(bySignal: Bool = false) {
            let isFirst = state.withLock { state in
                defer { state.isClosing = true }
                if !state.isClosing { state.wasSignaled = bySignal }
                return !state.isClosing
            }
            guard isFirst else { return }
            // Before the sources stop, which may take a while: a load balancer sends no more requests here.
            parts.readiness.reach(.stopping)
            notifyManager { $0.stopping() }
            parts.log.post(.stopping)
            let watcher = state.withLock { $0.watcher.take() }
            // A second signal has its default effect and ends the process at once.
            signals.endStops()
            // The watcher may be waiting for the reload.
            parts.reloader?.cancel()
            watcher?.stop()
            parts.close()
            // Kept until now: SIGHUP would have ended the process before everything was written.
            signals.end()
            let waiting = state.withLock { state in
                defer { state.waiting = [] }
                state.isClosed = true
                return state.waiting
            }
            Self.running.withLock { $0[ObjectIdentifier(self)] = nil }
            signals.noteClosed()
            for body in waiting { body() }
        }

        /// Waits until the thread that is closing it has finished.
        private func whenClosed() async {
            await withCheckedContinuation { continuation in
                let isClosed = state.withLock { state in
                    if !state.isClosed { state.waiting.append { continuation.resume() } }
                    return state.isClosed
                }
                if isClosed { continuation.resume() }
            }
        }
    }
#endif
