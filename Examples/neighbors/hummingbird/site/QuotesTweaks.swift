// Declares what an operator can change while the service runs.

import Logging
public import Tweaks

/// The levels of swift-log, as choices of a tweak.
public enum LogLevel: String, CaseIterable, TweakConvertible {
    case trace, debug, info, notice, warning, error, critical

    var level: Logger.Level { Logger.Level(rawValue: rawValue) ?? .info }
}

/// The tweaks of the service.
public struct QuotesTweaks: Sendable {
    /// The lowest level of messages that are logged.
    public let level: Tweak<LogLevel>
    /// How long a quote may take.
    public let timeout: Tweak<Duration>
    /// How many quotes all clients get together.
    public let rate: Tweak<Double>
    /// Whether quotes are refused for now.
    public let maintenance: Tweak<Bool>
    /// How long the upstream takes, which this example has none of.
    public let delay: Tweak<Duration>

    /// Declares the tweaks.
    public init(registry: TweakRegistry = .shared) {
        level = Tweak("Log", "Output", "Level", LogLevel.info, registry: registry)
        timeout = Tweak(
            "HTTP", "Limits", "Timeout", .seconds(2), in: .milliseconds(1) ... .seconds(60),
            help: "How long a quote may take; then the status is 504", registry: registry)
        rate = Tweak(
            "HTTP", "Limits", "Rate", 1_000.0, in: 1...100_000, unit: "/s",
            help: "Quotes of all clients together; above it the status is 429", registry: registry)
        maintenance = Tweak(
            "HTTP", "Service", "Maintenance", false, help: "Refuse quotes with status 503", registry: registry)
        delay = Tweak(
            "Quotes", "Upstream", "Delay", .zero, in: .zero ... .seconds(60), help: "How long the upstream takes",
            registry: registry)
    }

    /// All of them, for the start of the daemon.
    public var all: [any TweakHandle] { [level, timeout, rate, maintenance, delay] }
}
