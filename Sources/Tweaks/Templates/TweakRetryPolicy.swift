// Defines a retry policy template: exponential backoff with jitter.

/// A retry policy: the number of attempts and the delays between them, by exponential backoff with jitter.
///
/// ```swift
/// static let retry = TweakGroup("Upstream", "Payments", TweakRetryPolicy(attempts: 5, baseDelay: .milliseconds(50)))
/// ```
///
/// The formula is that of M. Brooker, “Exponential Backoff And Jitter” (AWS Architecture Blog, 2015): with a jitter
/// of 1 it is the article's full jitter, with 0.5 its equal jitter.
public struct TweakRetryPolicy: TweakTemplate {
    /// The total number of attempts.
    public var attempts: Int
    /// The delay before the second attempt.
    public var baseDelay: Duration
    /// The growth factor of each further delay.
    public var factor: Double
    /// The maximum delay.
    public var maxDelay: Duration
    /// The random fraction of each delay, so that many clients do not retry at the same time.
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
        TweakPart("attempts", \.attempts, in: 1...100, help: "Total number of attempts"),
        TweakPart("base delay", \.baseDelay, in: .zero ... .seconds(60), help: "Delay before the second attempt"),
        TweakPart("factor", \.factor, in: 1...10, help: "Growth factor of each further delay"),
        TweakPart("max delay", \.maxDelay, in: .zero ... .seconds(3_600), help: "Maximum delay"),
        TweakPart("jitter", \.jitter, in: 0...1, help: "Random fraction of each delay"),
    ]

    /// The delay before an attempt, counted from 1; zero before the first.
    public func delay(beforeAttempt attempt: Int) -> Duration {
        var generator = SystemRandomNumberGenerator()
        return delay(beforeAttempt: attempt, using: &generator)
    }

    /// The same, with the caller's random number generator.
    public func delay(beforeAttempt attempt: Int, using generator: inout some RandomNumberGenerator) -> Duration {
        if attempt < 2 || baseDelay <= .zero { return .zero }
        let longest = maxDelay / .seconds(1)
        var delay = min(baseDelay / .seconds(1), longest)
        for _ in 2..<attempt {
            // Reaches the maximum in a few steps, or never grows.
            if delay >= longest || factor <= 1 { break }
            delay = min(delay * factor, longest)
        }
        let chance = jitter > 0 ? jitter * Double.random(in: 0...1, using: &generator) : 0
        return .seconds(max(0, delay * (1 - chance)))
    }
}
