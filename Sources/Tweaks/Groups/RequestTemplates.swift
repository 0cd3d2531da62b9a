// Defines the templates for requests: retries, timeouts and rate limits.

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

/// Timeouts for a request to another machine: to connect, for each read, and in total.
///
/// ```swift
/// static let timeouts = TweakGroup("Upstream", "Payments", "Timeout", TweakTimeouts(total: .seconds(5)))
/// ```
public struct TweakTimeouts: TweakTemplate {
    /// The time to establish a connection.
    public var connect: Duration
    /// The time to receive data in one read.
    public var read: Duration
    /// The time for the whole request.
    public var total: Duration

    /// Timeouts.
    public init(connect: Duration = .seconds(2), read: Duration = .seconds(10), total: Duration = .seconds(30)) {
        self.connect = connect
        self.read = read
        self.total = total
    }

    /// Connect, read, total.
    public static let parts: [TweakPart<TweakTimeouts>] = [
        TweakPart("connect", \.connect, in: .milliseconds(1) ... .seconds(600), help: "Time to connect"),
        TweakPart("read", \.read, in: .milliseconds(1) ... .seconds(3_600), help: "Time to receive data in one read"),
        TweakPart("total", \.total, in: .milliseconds(1) ... .seconds(86_400), help: "Time for the whole request"),
    ]

    /// The timeout of a read that begins this long after the request: the read timeout, or the rest of the total.
    public func read(after elapsed: Duration) -> Duration {
        elapsed >= total ? .zero : min(read, total - max(elapsed, .zero))
    }
}

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
