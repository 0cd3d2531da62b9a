// Starts a daemon with the fields of its configuration as argument labels.

public import Tweaks
public import TweaksInterface

extension TweakDaemon {
    /// Serves a registry's tweaks with the fields of ``Configuration`` as arguments.
    ///
    /// ```swift
    /// try TweakDaemon.start("bounce", panel: .on, tweaks: Look.size, Look.color)
    /// ```
    /// - Throws: `ServerError` with the cause and the remedy.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(), config: ConfigFile? = nil, sources: [Source] = [],
        storage: Storage = .standard, durability: Durability = .bestEffort, audit: Audit? = nil,
        signals: Signals = .reload, registry: TweakRegistry = .shared, limits: TweakServerLimits = TweakServerLimits(),
        onEvent: EventHandler? = nil, tweaks: any TweakHandle...
    ) throws(ServerError) -> TweakDaemon {
        try start(
            name, tcp: tcp, panel: panel, tokens: tokens, access: access, config: config, sources: sources,
            storage: storage, durability: durability, audit: audit, signals: signals, registry: registry,
            limits: limits, onEvent: onEvent, tweaks: tweaks)
    }

    /// The same with an array, which a program can store beside its declarations.
    @discardableResult
    public static func start(
        _ name: String, tcp: TCP = .off, panel: Panel = .off, tokens: String? = nil,
        access: TweakAccess = TweakAccess(), config: ConfigFile? = nil, sources: [Source] = [],
        storage: Storage = .standard, durability: Durability = .bestEffort, audit: Audit? = nil,
        signals: Signals = .reload, registry: TweakRegistry = .shared, limits: TweakServerLimits = TweakServerLimits(),
        onEvent: EventHandler? = nil, tweaks: [any TweakHandle]
    ) throws(ServerError) -> TweakDaemon {
        var configuration = Configuration()
        (configuration.tcp, configuration.panel, configuration.tokens) = (tcp, panel, tokens)
        (configuration.access, configuration.config, configuration.storage) = (access, config, storage)
        configuration.sources = sources
        (configuration.durability, configuration.audit, configuration.signals) = (durability, audit, signals)
        (configuration.registry, configuration.limits, configuration.onEvent) = (registry, limits, onEvent)
        return try start(name, configuration, tweaks: tweaks)
    }
}
