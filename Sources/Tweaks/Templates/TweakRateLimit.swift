// How much is let through, for a token bucket.

/// How much is let through: a rate that can be kept up, and how much more at once.
///
/// ```swift
/// static let limit = TweakGroup("API", "Anonymous", TweakRateLimit(rate: 10, burst: 20))
///
/// tokens = limit.value.refilled(tokens, after: now - last)
/// if tokens >= 1 { tokens -= 1 } else { refuse() }
/// ```
public struct TweakRateLimit: TweakTemplate {
    /// How many a second.
    public var rate: Double
    /// How many at once, after a pause.
    public var burst: Int

    /// A limit.
    public init(rate: Double = 100, burst: Int = 20) {
        self.rate = rate
        self.burst = burst
    }

    /// Rate, burst.
    public static let parts: [TweakPart<TweakRateLimit>] = [
        TweakPart("rate", \.rate, in: 0...1_000_000, unit: "/s", help: "How many are let through a second; 0 for none"),
        TweakPart("burst", \.burst, in: 1...1_000_000, help: "How many are let through at once, after a pause"),
    ]

    /// How full a token bucket is some time after it held `tokens`; never fuller than the burst.
    public func refilled(_ tokens: Double, after time: Duration) -> Double {
        min(tokens + max(0, time / .seconds(1)) * rate, Double(burst))
    }
}
