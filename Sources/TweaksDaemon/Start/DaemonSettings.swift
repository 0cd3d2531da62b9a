// Reads the settings of a daemon from the program and the environment; the environment wins.

#if Server
    import Tweaks
    import TweaksInterface
    import TweaksServer
    import TweaksStorage
    import TweaksSystem

    #if Panel
        import TweaksPanel
    #endif

    /// The settings of a daemon, resolved from the program and the environment.
    struct DaemonSettings {
        /// Where the Unix socket may be.
        let socket: SocketChoice
        /// The TCP ports to try, best first: the next one is tried when the previous one is taken.
        let ports: [TweakListener?]
        private(set) var warnings: [String] = []
        /// The TCP port that the program prefers, if another one may be used when it is taken.
        private var preferredPort: Int?
        let name: String
        let environment: [String: String]
        let isFrozen: Bool
        /// The config file and its rules; nil if there is none.
        let config: TweakDaemon.ConfigFile?
        /// The directory of the overrides, or why there is none; nil if they are not stored.
        let stateDirectory: Result<String, StateLocation.Problem>?
        /// The audit settings; nil without an audit, and in a frozen process.
        let audit: AuditSettings?
        /// The token file; nil if there is none.
        let tokenFile: String?
        /// The web page; nil if it is off.
        let panel: (any DaemonEndpoint)?
        /// The port of the metrics; off without the trait Panel.
        let metrics: TweakDaemon.Metrics
        /// How the log is written, if the program has no handler for it.
        let log: LogSettings
        /// Whether the log goes to a terminal.
        let isOnTerminal: Bool
        /// Whether a source of the program's own looks for changes at a reload.
        let reloadsSources: Bool

        private static let knownVariables = [
            "TWEAKS_SOCKET", "TWEAKS_PORT", "TWEAKS_CONFIG", "TWEAKS_STATE_DIR", "TWEAKS_AUDIT", "TWEAKS_AUDIT_DAYS",
            "TWEAKS_FROZEN", "TWEAKS_TOKEN_FILE", "TWEAKS_PANEL_PORT", "TWEAKS_METRICS_PORT", "TWEAKS_TMPDIR",
            "TWEAKS_LOG",
        ]

        /// - Parameter temporary: The temporary directories; nil for the system's.
        init(
            _ name: String, _ configuration: TweakDaemon.Configuration, temporary: [String]? = nil
        ) throws(ServerError) {
            guard (1...64).contains(name.utf8.count), Quoting.isBareWord(name), !name.hasPrefix(".") else {
                throw ServerError("daemon name \(name): use 1–64 letters, digits, “.”, “_” and “-”")
            }
            self.name = name
            environment = configuration.environment ?? ThisProcess.environment
            isFrozen = try Self.flag("TWEAKS_FROZEN", environment)
            log = try LogSettings(environment)
            config = Self.configFile(configuration.config, environment)
            stateDirectory = Self.stateDirectory(configuration.storage, name, environment)
            if environment.text("TWEAKS_STATE_DIR") != nil, case .failure(let problem) = stateDirectory {
                throw ServerError(problem.description)
            }
            let audit = try AuditSettings.chosen(
                configuration.audit, program: name, isStrict: configuration.durability == .required, environment)
            self.audit = isFrozen ? nil : audit
            tokenFile = Self.tokenFile(configuration.tokens, environment)
            // The destination of a program's own handler is unknown.
            isOnTerminal = configuration.isOnTerminal ?? (configuration.onEvent == nil && StandardError.isTerminal)
            reloadsSources = !isFrozen && configuration.sources.contains(where: \.isReloadable)
            warnings = Self.warnings(aboutUnknown: environment, configuration.sources)
            let isService = ServiceManager.hasStarted(
                environment, isOnTerminal: configuration.isOnTerminal ?? StandardError.isTerminal)
            panel = try Self.panel(
                configuration.panel.settings, hasTokens: tokenFile != nil, isService: isService, environment, &warnings)
            metrics = try Self.metrics(configuration.metrics, environment, &warnings)
            socket = SocketChoice(environment, temporary)
            let tcp = configuration.tcp
            ports = try Self.ports(tcp, hasTokens: tokenFile != nil, environment)
            if ports.count > 1, case .open(let port) = tcp { preferredPort = port }
            if case .open = tcp, tokenFile != nil, ports != [nil] {
                warnings.append("the program opens TCP without tokens, but there is a token file: TCP asks for a token")
            }
        }

        static func isOff(_ text: String?) -> Bool { text?.lowercased() == "off" }

        private static func warnings(
            aboutUnknown environment: [String: String], _ sources: [TweakDaemon.Source]
        ) -> [String] {
            let known = knownVariables + sources.flatMap(\.variables)
            let unknown = environment.keys.sorted().filter { $0.hasPrefix("TWEAKS_") && !known.contains($0) }
            return unknown.map {
                if TweakDaemon.Source.fleetVariables.contains($0) {
                    return "\($0) is not used: this program follows no fleet; start it with sources: [.etcd()], or "
                        + "unset it"
                }
                let near = Spelling.nearest(to: $0, among: known)
                return "\($0) is not used by this version; \(near.map { "did you mean \($0)?" } ?? "unset it")"
            }
        }

        private static func flag(_ name: String, _ environment: [String: String]) throws(ServerError) -> Bool {
            guard let text = environment.text(name) else { return false }
            guard case .bool(let value)? = TweakValue(parsing: text, as: .bool) else {
                throw ServerError("\(name)=\(text): write 1 or 0")
            }
            return value
        }

        // MARK: Files

        private static func tokenFile(_ named: String?, _ environment: [String: String]) -> String? {
            let word = environment.text("TWEAKS_TOKEN_FILE")
            if isOff(word) { return nil }
            guard let path = word ?? named, !path.isEmpty else { return nil }
            return ThisProcess.absolute(path)
        }

        private static func configFile(
            _ named: TweakDaemon.ConfigFile?, _ environment: [String: String]
        ) -> TweakDaemon.ConfigFile? {
            let path = environment.text("TWEAKS_CONFIG")
            if isOff(path) { return nil }
            guard var file = named ?? path.map({ TweakDaemon.ConfigFile($0) }) else { return nil }
            // The environment moves the file; the rules stay the program's.
            file.path = ThisProcess.absolute(path ?? file.path)
            return file
        }

        private static func stateDirectory(
            _ storage: TweakDaemon.Storage, _ name: String, _ environment: [String: String]
        ) -> Result<String, StateLocation.Problem>? {
            switch storage {
            case .off where isOff(environment.text("TWEAKS_STATE_DIR") ?? "off"): nil
            case .off, .standard: StateLocation.directory(named: nil, program: name, environment: environment)
            case .directory(let path): StateLocation.directory(named: path, program: name, environment: environment)
            }
        }

        // MARK: Panel

        /// The panel that the program or the environment has enabled; nil without one.
        private static func panel(
            _ named: TweakPanel, hasTokens: Bool, isService: Bool, _ environment: [String: String],
            _ warnings: inout [String]
        ) throws(ServerError) -> (any DaemonEndpoint)? {
            var chosen = named
            var isMovable = !hasTokens
            if let text = environment.text("TWEAKS_PANEL_PORT") {
                if isOff(text) { return nil }
                guard let port = UInt16(text) else {
                    throw ServerError(
                        "TWEAKS_PANEL_PORT=\(text): a port is 0…65535, 0 for a free one, or off for no panel")
                }
                chosen.isOn = true
                chosen.port = Int(port)
                isMovable = false
            }
            if !chosen.isOn { return nil }
            let keepsOrigin = chosen.origin.isKept(
                hasTokens: hasTokens, isService: isService, isRoot: ThisProcess.user == 0)
            return makePanel(chosen, isMovable: isMovable, keepsOrigin: keepsOrigin, &warnings)
        }

        private static func makePanel(
            _ panel: TweakPanel, isMovable: Bool, keepsOrigin: Bool, _ warnings: inout [String]
        ) -> (any DaemonEndpoint)? {
            #if Panel
                return PanelEndpoint(panel, isMovable: isMovable, keepsOrigin: keepsOrigin)
            #else
                warnings.append(
                    "there is no panel: the program is built without the trait Panel; name it at the dependency on "
                        + "Tweaks")
                return nil
            #endif
        }

        // MARK: Metrics

        /// The port of the metrics that the program or the environment has enabled.
        private static func metrics(
            _ named: TweakDaemon.Metrics, _ environment: [String: String], _ warnings: inout [String]
        ) throws(ServerError) -> TweakDaemon.Metrics {
            var chosen = named
            if let text = environment.text("TWEAKS_METRICS_PORT") {
                if isOff(text) { return .off }
                guard let port = UInt16(text) else {
                    throw ServerError(
                        "TWEAKS_METRICS_PORT=\(text): a port is 0…65535, 0 for a free one, or off for no metrics")
                }
                (chosen.isOn, chosen.port) = (true, Int(port))
            }
            #if !Panel
                if chosen.isOn {
                    warnings.append(
                        "there are no metrics: the program is built without the trait Panel; name it at the dependency "
                            + "on Tweaks")
                }
                chosen.isOn = false
            #endif
            return chosen
        }

        /// The host of the metrics, as an address has it.
        var metricsHost: String {
            let address = metrics.address ?? "127.0.0.1"
            return address.utf8.contains(UInt8(ascii: ":")) ? "[\(address)]" : address
        }

        /// The endpoint of the metrics; nil without one.
        func metrics(_ registry: TweakRegistry) -> (any Endpoint)? {
            #if Panel
                metrics.isOn ? MetricsEndpoint(registry, port: metrics.port, address: metrics.address) : nil
            #else
                nil
            #endif
        }

        // MARK: Ports

        /// The listeners for TCP; none with `TWEAKS_PORT=off`. With a token file, TCP always requires a token, and no
        /// other port is used when it is taken: clients connect to the configured port and would send their tokens to
        /// the program that has it.
        private static func ports(
            _ tcp: TweakDaemon.TCP, hasTokens: Bool, _ environment: [String: String]
        ) throws(ServerError) -> [TweakListener?] {
            if isOff(environment["TWEAKS_PORT"]) { return [nil] }
            let listener = { hasTokens ? TweakListener.tcpWithTokens(port: $0) : .tcp(port: $0) }
            let environmentPort = try environmentPort(tcp, hasTokens: hasTokens, environment)
            switch tcp {
            case .off: return [environmentPort.map(listener)]
            case .tokens(let port) where !hasTokens:
                throw ServerError(
                    "tcp port \(port): this program opens TCP only with tokens, and there is no token file; name one "
                        + "in TWEAKS_TOKEN_FILE, or in the code: tokens: \"/etc/NAME.tokens\"")
            case .open(let port), .tokens(let port):
                return (environmentPort.map { [$0] } ?? (hasTokens ? [port] : [port, 0])).map(listener)
            }
        }

        /// The port of the environment. It can open TCP in a program that has not, if tokens are required.
        private static func environmentPort(
            _ tcp: TweakDaemon.TCP, hasTokens: Bool, _ environment: [String: String]
        ) throws(ServerError) -> Int? {
            guard let text = environment.text("TWEAKS_PORT") else { return nil }
            if tcp == .off, !hasTokens {
                throw ServerError(
                    "TWEAKS_PORT=\(text): this program has not opened TCP, and opening it needs a token file; name "
                        + "one in TWEAKS_TOKEN_FILE (tweakctl token new makes one), or unset TWEAKS_PORT")
            }
            guard let port = UInt16(text) else {
                throw ServerError(
                    "TWEAKS_PORT=\(text): a port is 0…65535, 0 for a free one, or off for no TCP; other addresses "
                        + "than loopback are refused")
            }
            return Int(port)
        }

        // MARK: Starting

        /// Warnings about ports that were taken, so that others are used.
        func warnings(about server: TweakServer) -> [String] {
            let tcp = (kind: "tcp", wanted: preferredPort, used: server.port, variable: "TWEAKS_PORT")
            let web = (
                kind: "panel", wanted: panel?.ports.first, used: server.endpointPort, variable: "TWEAKS_PANEL_PORT"
            )
            return [tcp, web].compactMap { kind, wanted, used, variable in
                guard let wanted, let used, wanted != 0, wanted != used else { return nil }
                return
                    "\(kind) port \(wanted) is taken: clients there reach another program, or another instance of this "
                    + "one, and not this one at \(used); end that one, or set \(variable)"
            }
        }
    }

    extension TweakPanel.Origin {
        /// Whether the page's address is kept over a restart. On a developer's own machine a reloaded page goes on
        /// working; elsewhere other users may listen at the port meanwhile.
        fileprivate func isKept(hasTokens: Bool, isService: Bool, isRoot: Bool) -> Bool {
            switch self {
            case .automatic: !hasTokens && !isService && !isRoot
            case .perStart: false
            case .kept: true
            }
        }
    }

    extension [String: String] {
        /// The value of an environment variable; nil for one that is missing or empty.
        func text(_ variable: String) -> String? { self[variable].flatMap { $0.isEmpty ? nil : $0 } }
    }
#endif
