// One call that makes a program's tweaks editable, durable and reloadable.

public import Tweaks
public import TweaksInterface
import TweaksSystem

#if Server
    import TweaksServing
#endif

extension TweakDaemon {
    /// Serves a registry's tweaks, and says where before the first connection is accepted.
    /// - Parameters:
    ///   - name: What the program is called: letters, digits, `.`, `_` and `-`. It names the socket and the folder.
    ///   - tcp: Whether TCP is open, too.
    ///   - panel: Whether there is a web page, and HTTP for programs. The line that says where to connect has its address.
    ///   - tokens: The file of the tokens, which `tweakctl token new` writes; `TWEAKS_TOKEN_FILE` wins over it. It is
    ///     read again when it changes: who has shown a token that is not in it any more loses what it gave, at once.
    ///   - access: Who else may do what on the Unix socket, and what is given on request.
    ///   - config: The config file; its values lie above the defaults and below overrides.
    ///   - storage: Where overrides are kept.
    ///   - durability: What happens to a change that the disk refuses.
    ///   - audit: A file to which every commit is appended.
    ///   - signals: What signals do. `SIGTERM` and `SIGINT` are left alone unless the program wants them.
    ///   - registry: Whose tweaks are served.
    ///   - limits: What clients may take.
    ///   - onEvent: Told of everything worth logging. Without one, each event is a line on standard error, but for
    ///     changes that the program made itself.
    ///   - tweaks: Tweaks, groups, actions and lists of them to register first, beside those of modules with a
    ///     `TweakList`. Statics are lazy: one that was not touched yet would be missing from every list.
    /// - Throws: `ServerError` that names what is wrong and the remedy.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(),
        config: ConfigFile? = nil, storage: Storage = .standard,
        durability: Durability = .bestEffort, audit: Audit? = nil, signals: Signals = .reload,
        registry: TweakRegistry = .shared,
        limits: TweakServerLimits = TweakServerLimits(), onEvent: EventHandler? = nil, tweaks: any TweakHandle...
    ) throws(ServerError) -> TweakDaemon {
        try start(
            name, tcp: tcp, panel: panel, tokens: tokens, access: access, config: config, storage: storage,
            durability: durability,
            audit: audit, signals: signals,
            registry: registry, limits: limits, onEvent: onEvent, tweaks: tweaks)
    }

    /// The same with a list, which a program can keep beside its declarations.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(),
        config: ConfigFile? = nil, storage: Storage = .standard,
        durability: Durability = .bestEffort, audit: Audit? = nil, signals: Signals = .reload,
        registry: TweakRegistry = .shared,
        limits: TweakServerLimits = TweakServerLimits(), onEvent: EventHandler? = nil, tweaks: [any TweakHandle]
    ) throws(ServerError) -> TweakDaemon {
        try start(
            name, tcp: tcp, panel: panel, tokens: tokens, access: access, config: config, storage: storage,
            durability: durability,
            audit: audit, signals: signals,
            registry: registry, limits: limits, environment: ThisProcess.environment,
            // Where a program's own handler writes is not known.
            isOnTerminal: onEvent == nil && StandardError.isTerminal, onEvent: onEvent ?? standardErrorLog(name))
    }

    /// The same with an environment of the caller's.
    package static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(),
        config: ConfigFile? = nil, storage: Storage = .standard,
        durability: Durability = .bestEffort, audit: Audit? = nil, signals: Signals = .reload, registry: TweakRegistry,
        limits: TweakServerLimits = TweakServerLimits(), environment: [String: String],
        isOnTerminal: Bool = StandardError.isTerminal, onEvent: @escaping EventHandler
    ) throws(ServerError) -> TweakDaemon {
        if FrozenTrait.isOn {
            onEvent(.warning("built with the Frozen trait: tweaks are constants; nothing is served"))
            return TweakDaemon(nil)
        }
        registerLists()
        #if Server
            return try TweakDaemon(
                serving: name, tcp: tcp, panel: panel, tokens: tokens, access: access, config: config, storage: storage,
                durability: durability, audit: audit, signals: signals, registry: registry, limits: limits,
                environment: environment, isOnTerminal: isOnTerminal, onEvent: onEvent)
        #else
            onEvent(
                .warning(
                    "nothing is served or kept: the program is built without the trait Server; name it at the "
                        + "dependency on Tweaks"))
            return TweakDaemon(nil)
        #endif
    }

    private static func standardErrorLog(_ name: String) -> EventHandler {
        #if Server
            lines(of: name)
        #else
            { event in StandardError.write(event.lines.map { "\(name): \($0)\n" }.joined()) }
        #endif
    }
}
