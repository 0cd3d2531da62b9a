// Makes the level of each label of swift-log a tweak.

public import Logging
import Synchronization
public import Tweaks

/// The levels of loggers as tweaks: `Log/Levels/api = debug for 10m`.
///
/// ```swift
/// let levels = TweakLogLevels()
/// LoggingSystem.bootstrap { levels.handler($0, StreamLogHandler.standardError(label: $0)) }
/// ```
///
/// A label has a tweak from its first logger on: one of the levels, or `default`. By default it is the level that the
/// program has given to the logger, or else `Log/Output/Level`, the level of all. A temporary level ends by itself, and
/// loggers that exist already follow: each call reads the tweak, which costs what reading a variable costs.
public final class TweakLogLevels: Sendable {
    /// A level, or `default`: for a label what the program has given its logger, for all what it has given this.
    enum Level: String, CaseIterable, TweakConvertible {
        case `default`, trace, debug, info, notice, warning, error, critical

        // No conversion by text: this is read for each line.
        var level: Logger.Level? {
            switch self {
            case .default: nil
            case .trace: .trace
            case .debug: .debug
            case .info: .info
            case .notice: .notice
            case .warning: .warning
            case .error: .error
            case .critical: .critical
            }
        }
    }

    private let registry: TweakRegistry
    private let shared: Tweak<Level>
    private let fallback: Logger.Level
    private let labels = Mutex<[String: Tweak<Level>]>([:])
    /// Labels beyond this number, as a program with one for each request has, follow the level of all.
    private static let maxLabels = 500

    /// Declares the level of all labels.
    /// - Parameters:
    ///   - level: The level of loggers to which neither the program nor a tweak has given one.
    ///   - registry: The registry of the tweaks.
    public init(_ level: Logger.Level = .info, registry: TweakRegistry = .shared) {
        self.registry = registry
        fallback = level
        shared = Tweak(
            "Log", "Output", "Level", Level(rawValue: level.rawValue) ?? .default,
            help: "The level of loggers that have none of their own", registry: registry)
    }

    /// A handler whose level is the label's tweak, and that writes by another one.
    public func handler(_ label: String, _ base: any LogHandler) -> any LogHandler {
        var base = base
        // A handler of several, such as `MultiplexLogHandler`, asks each for its level.
        base.logLevel = .trace
        return LeveledLogHandler(base: base, tweak: tweak(label), shared: shared, fallback: fallback)
    }

    /// The tweak of a label; nil for one that has none.
    private func tweak(_ label: String) -> Tweak<Level>? {
        let (known, isFull) = labels.withLock { ($0[label], $0.count >= Self.maxLabels) }
        if known != nil || isFull { return known }
        let name = String(label.map { $0 == "/" ? "." : $0 }.prefix(100))
        let tweak = try? registry.register(
            "Log", "Levels", name, Level.default, help: "The level of the logger \(name)")
        if let tweak { labels.withLock { $0[label] = tweak } }
        return tweak
    }
}

/// Writes by another handler what its tweak lets pass.
private struct LeveledLogHandler: LogHandler {
    var base: any LogHandler
    let tweak: Tweak<TweakLogLevels.Level>?
    let shared: Tweak<TweakLogLevels.Level>
    let fallback: Logger.Level
    /// The level that the program has given to this logger.
    var own: Logger.Level?

    var logLevel: Logger.Level {
        get { tweak?.value.level ?? own ?? shared.value.level ?? fallback }
        set { own = newValue }
    }

    var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }

    func log(event: LogEvent) { base.log(event: event) }
}
