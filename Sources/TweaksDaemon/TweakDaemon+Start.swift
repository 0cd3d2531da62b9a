// Starts a daemon, which makes a program's tweaks editable, durable and reloadable.

@_exported public import Tweaks
@_exported public import TweaksInterface
import TweaksSystem

#if canImport(Darwin)
    import MachO
#endif

extension TweakDaemon {
    /// Serves a registry's tweaks with the fields of ``Configuration`` as arguments.
    ///
    /// ```swift
    /// try TweakDaemon.start("bounce", panel: .on, tweaks: Look.size, Look.color)
    /// ```
    /// - Throws: `ServerError` with the cause and the remedy.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, metrics: Metrics = .off,
        tokens: String? = nil,
        access: TweakAccess = TweakAccess(), previews: Bool = false, config: ConfigFile? = nil, sources: [Source] = [],
        storage: Storage = .standard, durability: Durability = .bestEffort, audit: Audit? = nil,
        signals: Signals = .reload, registry: TweakRegistry = .shared, limits: TweakServerLimits = TweakServerLimits(),
        onEvent: EventHandler? = nil, tweaks: any TweakHandle...
    ) throws(ServerError) -> TweakDaemon {
        try start(
            name, tcp: tcp, panel: panel, metrics: metrics, tokens: tokens, access: access, previews: previews,
            config: config,
            sources: sources, storage: storage, durability: durability, audit: audit, signals: signals,
            registry: registry,
            limits: limits, onEvent: onEvent, tweaks: tweaks)
    }

    /// The same with an array, which a program can store beside its declarations.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, metrics: Metrics = .off,
        tokens: String? = nil,
        access: TweakAccess = TweakAccess(), previews: Bool = false, config: ConfigFile? = nil, sources: [Source] = [],
        storage: Storage = .standard, durability: Durability = .bestEffort, audit: Audit? = nil,
        signals: Signals = .reload, registry: TweakRegistry = .shared, limits: TweakServerLimits = TweakServerLimits(),
        onEvent: EventHandler? = nil, tweaks: [any TweakHandle]
    ) throws(ServerError) -> TweakDaemon {
        var configuration = Configuration()
        configuration.tcp = tcp
        configuration.panel = panel
        configuration.metrics = metrics
        configuration.tokens = tokens
        configuration.access = access
        configuration.previews = previews
        configuration.config = config
        configuration.sources = sources
        configuration.storage = storage
        configuration.durability = durability
        configuration.audit = audit
        configuration.signals = signals
        configuration.registry = registry
        configuration.limits = limits
        configuration.onEvent = onEvent
        return try start(name, configuration, tweaks: tweaks)
    }

    /// Serves a registry's tweaks, and reports the addresses before the first connection is accepted.
    /// - Parameters:
    ///   - name: The program's name: letters, digits, `.`, `_` and `-`. It names the socket and the folder.
    ///   - configuration: All other settings.
    ///   - tweaks: Tweaks, groups, actions and lists of them to register first, beside those of modules with a
    ///     `TweakList`. Statics are lazy: one that was never accessed would be missing from every list.
    /// - Throws: `ServerError` with the cause and the remedy.
    @discardableResult
    public static func start(
        _ name: String, _ configuration: Configuration, tweaks: any TweakHandle...
    ) throws(ServerError) -> TweakDaemon {
        openClosedStreams()
        if FrozenTrait.isOn {
            log(name, configuration)(.warning("built with the Frozen trait: tweaks are constants; nothing is served"))
            return TweakDaemon(nil)
        }
        #if Server
            return try TweakDaemon(serving: name, configuration, declare: registerLists)
        #else
            registerLists()
            log(name, configuration)(
                .warning(
                    "nothing is served or kept: the program is built without the trait Server; name it at the "
                        + "dependency on Tweaks"))
            return TweakDaemon(nil)
        #endif
    }

    // MARK: A whole program

    /// Runs a program: starts its daemon, then the body; when the body returns, stops the daemon.
    ///
    /// ```swift
    /// await TweakDaemon.main("bounce", panel: .on, tweaks: Look.size, Look.color) {
    ///     while true {
    ///         draw(Look.size.value)
    ///         try await Task.sleep(for: .milliseconds(16))
    ///     }
    /// }
    /// ```
    /// An error of the start or of the body is printed on standard error, and the process exits with 1: an error that
    /// leaves `main` would be a trap and a backtrace. `SIGTERM` and `SIGINT` cancel the body's task; what is unsaved is
    /// written, and this returns; an error of the body is an effect of its cancellation then. A body that has not ended
    /// five seconds later is ended with the process. Without a body the program serves until such a signal. Where a
    /// build serves nothing, by the trait Frozen or without Server, the signals keep their default action.
    ///
    /// A program that needs the daemon or its events, or has a loop of its own, calls
    /// ``start(_:_:tweaks:)`` and prints its error. The parameters but `body` are fields of ``Configuration``.
    /// - Parameters:
    ///   - name: The program's name: letters, digits, `.`, `_` and `-`. It names the socket and the folder.
    ///   - tcp: ``Configuration/tcp``
    ///   - panel: ``Configuration/panel``
    ///   - metrics: ``Configuration/metrics``
    ///   - tokens: ``Configuration/tokens``
    ///   - access: ``Configuration/access``
    ///   - previews: ``Configuration/previews``
    ///   - config: ``Configuration/config``
    ///   - sources: ``Configuration/sources``
    ///   - storage: ``Configuration/storage``
    ///   - durability: ``Configuration/durability``
    ///   - audit: ``Configuration/audit``
    ///   - signals: ``Configuration/signals``; by default both.
    ///   - registry: ``Configuration/registry``
    ///   - limits: ``Configuration/limits``
    ///   - tweaks: Tweaks, groups, actions and lists of them to register first.
    ///   - body: The program, on the actor of the caller.
    public static func main(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, metrics: Metrics = .off,
        tokens: String? = nil,
        access: TweakAccess = TweakAccess(), previews: Bool = false, config: ConfigFile? = nil, sources: [Source] = [],
        storage: Storage = .standard, durability: Durability = .bestEffort, audit: Audit? = nil,
        signals: Signals = [.reload, .stop], registry: TweakRegistry = .shared,
        limits: TweakServerLimits = TweakServerLimits(), tweaks: any TweakHandle...,
        @_inheritActorContext body: sending @escaping @isolated(any) () async throws -> Void = { await untilCanceled() }
    ) async {
        do {
            let daemon = try start(
                name, tcp: tcp, panel: panel, metrics: metrics, tokens: tokens, access: access, previews: previews,
                config: config,
                sources: sources, storage: storage, durability: durability, audit: audit, signals: signals,
                registry: registry,
                limits: limits, tweaks: tweaks)
            try await daemon.run(body)
        } catch {
            logSettings(nil).writeFailure("\(error)", program: name)
            exit(1)
        }
    }

    /// Opens `/dev/null` for each of standard input, output and error that is closed. Starting a daemon calls it; a
    /// program that opens files or sockets before that calls it first, or the first one opened receives its log.
    public static func openClosedStreams() { StandardStreams.occupy(.quiet) }

    private static func log(_ name: String, _ configuration: Configuration) -> EventHandler {
        if let handler = configuration.onEvent { return handler }
        let settings = logSettings(configuration.environment)
        return { event in for entry in event.entries { settings.write(entry, event.level, program: name) } }
    }

    /// The settings of the environment; the standard ones where those are wrong, which the start reports.
    private static func logSettings(_ environment: [String: String]?) -> LogSettings {
        (try? LogSettings(environment ?? ThisProcess.environment)) ?? .standard
    }

    // MARK: Lists

    /// Declares the tweaks of all modules that have a `TweakList`. Starting a daemon calls it; a test or a tool that
    /// serves nothing calls it to list all tweaks.
    ///
    /// On Linux these are the modules in the same binary as this one. Code loaded at run time registers its list
    /// explicitly: `Plugin.all.register()`.
    public static func registerLists() {
        if FrozenTrait.isOn { return }
        for list in lists { list() }
    }

    #if canImport(Darwin)
        private static var lists: [TweakList] {
            (0..<_dyld_image_count()).flatMap { image -> [TweakList] in
                guard let header = _dyld_get_image_header(image) else { return [] }
                return header.withMemoryRebound(to: mach_header_64.self, capacity: 1) { header in
                    var size: UInt = 0
                    let start = getsectiondata(header, "__DATA", "__tweaks", &size)
                    return gathered(UnsafeRawPointer(start), size: Int(size))
                }
            }
        }
    #else
        private static var lists: [TweakList] {
            guard let start = tweaks_lists_start(), let end = tweaks_lists_end() else { return [] }
            return gathered(start, size: end - start)
        }
    #endif

    /// The pointers of a section.
    private static func gathered(_ start: UnsafeRawPointer?, size: Int) -> [TweakList] {
        UnsafeRawBufferPointer(start: start, count: size).bindMemory(to: TweakList?.self).compactMap(\.self)
    }
}
