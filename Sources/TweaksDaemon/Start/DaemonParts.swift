// Opens the parts of a daemon one after the other (audit, config file, overrides, sources, server), and closes them.

#if Server
    import Synchronization
    import Tweaks
    import TweaksInterface
    import TweaksServer
    import TweaksStorage
    import TweaksSystem
    import TweaksWire

    /// What a daemon has opened so far. A start that fails closes as much, in the same order as the end of a daemon.
    struct DaemonParts {
        let log: EventLog
        let panel: (any DaemonEndpoint)?
        /// The server listens before the sources have started.
        let readiness = Readiness(.starting)
        private(set) var audit: AuditTrail?
        private(set) var reloader: ConfigReloader?
        private(set) var store: OverrideStore?
        private(set) var sources: OpenSources?
        private(set) var tokens: TokenFileMonitor?
        private(set) var changes: ChangeLog?
        private(set) var manager: ServiceManager?
        private(set) var server: TweakServer?

        init(_ log: EventLog, _ panel: (any DaemonEndpoint)?) {
            self.log = log
            self.panel = panel
        }

        /// Reads the files and opens the sockets.
        /// - Throws: `ServerError` if it cannot listen, or a required config file is bad; the caller closes the rest.
        mutating func open(
            _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration, _ signals: DaemonSignals
        ) throws(ServerError) -> TweakServer {
            let registry = configuration.registry
            let namespaceWarnings = UserNamespace.current.warnings(userID: ThisProcess.user, configuration.access)
            warn(settings.warnings + namespaceWarnings)
            prepare(registry, settings)
            audit = settings.audit.map { openAudit($0, registry) }
            // The file and all sources come before the overrides, so that the values below overrides are known when
            // they load.
            try readConfigFile(settings, configuration, signals)
            try signals.check()
            if !settings.isFrozen { store = loadStore(settings, configuration) }
            try signals.check()
            sources = try openSources(settings, configuration)
            applyOverrides(registry, settings)
            // Connected to the sessions when the server exists.
            let tokenChanges = Relay<TokenTable>()
            tokens = settings.tokenFile.map { readTokens($0, tokenChanges) }
            // Created before the server, so that session events are logged after the commits that precede them.
            changes = ChangeLog(registry, log)
            manager = serviceManager(settings.environment)
            try signals.check()
            let server = try startServer(settings, configuration)
            self.server = server
            tokenChanges.connect { [weak server] in server?.tokensChanged($0) }
            warn(settings.warnings(about: server))
            return server
        }

        /// Stops all in an order that loses nothing.
        func close() {
            sources?.stop()
            tokens?.stop()
            if let server {
                panel?.withdraw(from: server)
                server.stop()
                panel?.finish()
            }
            changes?.end()
            store?.close()
            audit?.close()
            log.flush()
        }

        private func warn(_ texts: [String]) {
            for text in texts { log.post(.warning(text)) }
        }

        /// Freezes the registry if that is wanted, and reports its problems from now on.
        private func prepare(_ registry: TweakRegistry, _ settings: DaemonSettings) {
            if settings.isFrozen { registry.freeze() }
            registry.onConflict { [weak log] in log?.post(.conflict($0)) }
            registry.onInvalid { [weak log] in
                log?.post(.unfit($0, "the \($1.layer) of \($1.entry.origin) is not in effect: \($1.reason.message)"))
            }
        }

        // MARK: Audit, config file and sources

        private func openAudit(_ settings: AuditSettings, _ registry: TweakRegistry) -> AuditTrail {
            AuditTrail(settings, registry: registry) { [log] event in
                switch event {
                case .failed, .dropped, .full, .exposed: log.post(.warning(event.description))
                case .recovered: log.post(.saving(event.description))
                }
            }
        }

        /// Applies the config file, if there is one; a frozen process has none.
        private mutating func readConfigFile(
            _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration, _ signals: DaemonSignals
        ) throws(ServerError) {
            guard !settings.isFrozen, let file = settings.config else { return }
            let isRequired = file.atStart == .required
            let reloader = makeReloader(
                file, isStrict: configuration.durability == .required || isRequired, configuration.registry)
            self.reloader = reloader
            signals.onStop { reloader.cancel() }
            do throws(ReloadFailure) {
                try reloader.start()
            } catch {
                guard isRequired else { return }
                reloader.reportStart()
                throw ServerError(
                    "the config file is required and cannot be used:\n\(error.lines.joined(separator: "\n"))")
            }
        }

        private func makeReloader(
            _ file: TweakDaemon.ConfigFile, isStrict: Bool, _ registry: TweakRegistry
        ) -> ConfigReloader {
            let policy = LayerPolicy(
                unknownIsError: file.unknown == .error, dropsOverrides: file.precedence == .fileWins)
            let read = fileReader(isStrict: isStrict)
            return ConfigReloader(path: file.path, policy: policy, registry: registry, read: read) { [log] event in
                switch event {
                case .reloaded(let difference): log.post(.reloaded(TweakReload(file.path, difference)))
                case .failed(let failure): log.post(.reloadFailed(TweakReloadError(failure)))
                case .waiting(let text): log.post(.reloadWaiting(text))
                }
            }
        }

        /// Returns a reader for the config file that first checks who can write it: such a user can change every tweak.
        /// - Parameter isStrict: A file that others could have written is rejected; otherwise it is only reported, once
        ///   for each reason.
        private func fileReader(isStrict: Bool) -> @Sendable (String) -> FileReading {
            let lastObjection = LastReported()
            return { [log] path in
                let objection = FileTrust.objection(to: path)
                if let objection, isStrict { return FileReading(.unreadable(objection)) }
                if lastObjection.changes(to: objection), let objection {
                    log.post(.warning("the config file \(path) may be another user's: \(objection)"))
                }
                return FileReading(path: path, isStrict: isStrict)
            }
        }

        /// Opens the sources and applies their last good values before the sockets are open; a frozen process has none.
        private func openSources(
            _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration
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
                daemon: settings.name, environment: settings.environment, directory: ownedDirectory(settings)
            ) { [log] in log.post(TweakDaemonEvent($0, $1, isProblem: $2)) }
            do throws(TweakError) {
                return try OpenSources(sources, of: configuration.registry, setting)
            } catch {
                throw ServerError("sources: \(error.message)")
            }
        }

        // MARK: Overrides

        /// The state directory, if this process holds its lock.
        private func ownedDirectory(_ settings: DaemonSettings) -> String? {
            guard let store, store.info.holder == nil else { return nil }
            return try? settings.stateDirectory?.get()
        }

        /// Reads the stored overrides, which are applied later.
        private func loadStore(
            _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration
        ) -> OverrideStore? {
            guard let place = settings.stateDirectory else { return nil }
            let store = OverrideStore(
                directory: place, program: settings.name, isRequired: configuration.durability == .required,
                keepsHistory: true
            ) { [log] in log.post(TweakDaemonEvent($0)) }
            if store.load(for: configuration.registry) { return store }
            log.post(Self.isStoredElsewhere)
            return nil
        }

        /// Applies the overrides, and restores what else an earlier run has stored.
        private mutating func applyOverrides(_ registry: TweakRegistry, _ settings: DaemonSettings) {
            if let loaded = store, !loaded.open(registry) {
                store = nil
                log.post(Self.isStoredElsewhere)
            }
            let directory = ownedDirectory(settings)
            if let directory {
                panel?.restore(from: directory) { [log] in log.post(.warning($0)) }
                // If another process holds the directory, the history and its audit belong to that process.
                audit?.complete()
            }
            if let values = reloader?.continueRun(in: directory) { audit?.noteStart(values) }
            reloader?.reportStart()
        }

        private static let isStoredElsewhere = TweakDaemonEvent.unsaved(
            "overrides are not saved by this daemon: another one in this process does so for the same tweaks; stop "
                + "that first, or give each its own registry")

        // MARK: Tokens and server

        private func readTokens(_ path: String, _ changes: Relay<TokenTable>) -> TokenFileMonitor {
            TokenFileMonitor(path: path, onChange: { changes.send($0) }) { [log] event in
                log.post(event.isProblem ? .warning(event.description) : .tokens(event.description))
            }
        }

        private func serviceManager(_ environment: [String: String]) -> ServiceManager? {
            do throws(ServerError) {
                return try ServiceManager(environment: environment)
            } catch {
                log.post(.warning(error.description))
                return nil
            }
        }

        private func startServer(
            _ settings: DaemonSettings, _ configuration: TweakDaemon.Configuration
        ) throws(ServerError) -> TweakServer {
            try settings.startFirst(report: { log.post(.warning($0)) }) { listeners throws(ServerError) in
                let server = TweakServer(
                    name: settings.name, registry: configuration.registry, listeners: listeners,
                    limits: configuration.limits, hooks: TweakServerHooks(self, settings, configuration))
                try server.start { server in
                    keepPanel(server, settings)
                    if let warning = server.warning { log.post(.warning(warning)) }
                    log.post(.listening(server.listeningSummary(settings)))
                    log.flush()
                }
                return server
            }
        }

        /// Keeps the panel's token and its sign-ins over a restart: sign-ins with the panel's own token if that is
        /// stored, and sign-ins with a token of the token file if the panel has a fixed port.
        private func keepPanel(_ server: TweakServer, _ settings: DaemonSettings) {
            panel?.persist(
                in: try? settings.stateDirectory?.get(), server, hasTokenFile: settings.tokenFile != nil,
                reportProblem: { [log] in log.post(.warning($0)) },
                announce: { [log] in log.post(.tokens($0)) })
        }
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
            case .quarantined, .entryQuarantined, .historyQuarantined, .historyFailed:
                self = .warning(event.description)
            }
        }
    }

    extension TweakReloadError {
        init(_ failure: ReloadFailure) {
            self.init(
                file: failure.path, problems: failure.problems.map { (line: $0.line, error: $0.error) },
                count: failure.count)
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
#endif
