// Defines a rate limit template for a token bucket: a sustained rate and a burst size.

/// A rate limit for a token bucket: a sustained rate and a burst size.
///
/// ```swift
/// static let limit = TweakGroup("API", "Anonymous", TweakRateLimit(rate: 10, burst: 20))
///
/// tokens = limit.value.refilled(tokens, after: now - last)
/// if tokens >= 1 { tokens -= 1 } else { refuse() }
/// ```
public struct TweakRateLimit: TweakTemplate {
    /// The sustained number of events per second.
    public var rate: Double
    /// The number of events allowed at once, after a pause.
    public var burst: Int

    /// A limit.
    public init(rate: Double = 100, burst: Int = 20) {
        self.rate = rate
        self.burst = burst
    }

    /// Rate, burst.
    public static let parts: [TweakPart<TweakRateLimit>] = [
        TweakPart("rate", \.rate, in: 0...1_000_000, unit: "/s", help: "Events allowed per second; 0 for none"),
        TweakPart("burst", \.burst, in: 1...1_000_000, help: "Events allowed at once, after a pause"),
    ]

    /// The level of a token bucket some time after it held `tokens`; at most the burst size.
    public func refilled(_ tokens: Double, after time: Duration) -> Double {
        min(tokens + max(0, time / .seconds(1)) * rate, Double(burst))
    }
}
