// Implements a token bucket: a burst of requests at once, then a rate a second.

/// A point in time; callers pass it in, so that tests control the clock.
typealias Instant = ContinuousClock.Instant

/// The token bucket of one client.
///
/// Rate and burst are parameters of each call, so that a change of either applies to all buckets at once. The time
/// since the last call counts at the current rate.
struct TokenBucket: Equatable {
    /// The result of taking a token.
    enum Verdict: Equatable {
        case taken
        /// The next token is available after this time; nil: never.
        case empty(retry: Duration?)
    }

    private var tokens: Double
    private var filled: Instant

    /// Creates a full bucket.
    init(burst: Int, at now: Instant) {
        tokens = Double(max(burst, 0))
        filled = now
    }

    /// Takes a token, or returns when the next one is available.
    mutating func take(at now: Instant, rate: Double, burst: Int) -> Verdict {
        fill(at: now, rate, burst)
        // A client that waited for `retry` must not fail by a rounding error.
        guard tokens < 1 - 1e-9 else {
            tokens = max(tokens - 1, 0)
            return .taken
        }
        guard rate > 0, burst > 0 else { return .empty(retry: nil) }
        let milliseconds = ((1 - tokens) / rate * 1_000).rounded(.up)
        return .empty(retry: .milliseconds(min(milliseconds, Self.maximumWait)))
    }

    /// Whether it is full; then it is equal to a new one.
    mutating func isFull(at now: Instant, rate: Double, burst: Int) -> Bool {
        fill(at: now, rate, burst)
        return tokens >= Double(burst)
    }

    private mutating func fill(at now: Instant, _ rate: Double, _ burst: Int) {
        let seconds = max((now - filled) / .seconds(1), 0)
        tokens = min(tokens + seconds * max(rate, 0), Double(max(burst, 0)))
        filled = max(now, filled)
    }

    /// The longest wait that is returned, one day in milliseconds: at a tiny rate the wait would overflow a Duration.
    private static let maximumWait = 86_400_000.0
}
