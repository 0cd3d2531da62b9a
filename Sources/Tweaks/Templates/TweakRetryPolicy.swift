// How often, and after which pauses, something is tried again.

/// How often something is tried, and how long to wait in between: exponential backoff with jitter.
///
/// ```swift
/// static let retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5, baseDelay: .milliseconds(50)))
/// ```
///
/// The formula is that of M. Brooker, “Exponential Backoff And Jitter” (AWS Architecture Blog, 2015): with a jitter
/// of 1 what he calls full jitter, with 0.5 equal jitter.
public struct TweakRetryPolicy: TweakTemplate {
    /// How often it is tried in all.
    public var attempts: Int
    /// The pause before the second attempt.
    public var baseDelay: Duration
    /// How many times as long each further pause is.
    public var factor: Double
    /// The longest pause.
    public var maxDelay: Duration
    /// The share of each pause that is left to chance, so that many clients do not come back all at once.
    public var jitter: Double

    /// A policy.
    public init(
        attempts: Int = 3, baseDelay: Duration = .milliseconds(100), factor: Double = 2,
        maxDelay: Duration = .seconds(10), jitter: Double = 0.5
    ) {
        self.attempts = attempts
        self.baseDelay = baseDelay
        self.factor = factor
        self.maxDelay = maxDelay
        self.jitter = jitter
    }

    /// Attempts, base delay, factor, max delay, jitter.
    public static let parts: [TweakPart<TweakRetryPolicy>] = [
        TweakPart("attempts", \.attempts, in: 1...100, help: "How often it is tried in all"),
        TweakPart("base delay", \.baseDelay, in: .zero ... .seconds(60), help: "The pause before the second attempt"),
        TweakPart("factor", \.factor, in: 1...10, help: "How many times as long each further pause is"),
        TweakPart("max delay", \.maxDelay, in: .zero ... .seconds(3_600), help: "The longest pause"),
        TweakPart("jitter", \.jitter, in: 0...1, help: "The share of each pause that is left to chance"),
    ]

    /// The pause before an attempt, counted from 1: none before the first.
    public func delay(beforeAttempt attempt: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(beforeAttempt: attempt, using: &generator)
    }

    /// The same with randomness of the caller's.
    public func delay(beforeAttempt attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        if attempt < 2 || baseDelay <= .zero { return .zero }
        let longest = maxDelay / .seconds(1)
        var delay = min(baseDelay / .seconds(1), longest)
        for _ in 2..<attempt {
            // In a few steps it is there, or it does not grow.
            if delay >= longest || factor <= 1 { break }
            delay = min(delay * factor, longest)
        }
        let chance = jitter > 0 ? jitter * Double.random(in: 0...1, using: &generator) : 0
        return .seconds(max(0, delay * (1 - chance)))
    }
}
