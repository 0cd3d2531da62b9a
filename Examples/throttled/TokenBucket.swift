// A token bucket: so many requests at once, and then so many a second.

/// The time that everything here goes by; it is handed in, so that tests make it pass as they like.
typealias Instant = ContinuousClock.Instant

/// What one client may still take.
///
/// Rate and burst are given at each call: a change of either acts at once, on every bucket there is. The time since
/// the last call counts at the rate of now.
struct TokenBucket: Equatable {
    /// What came of taking a token.
    enum Verdict: Equatable {
        case taken
        /// There will be one after this time; never, if it is nil.
        case empty(retry: Duration?)
    }

    private var tokens: Double
    private var filled: Instant

    /// A full one.
    init(burst: Int, at now: Instant) {
        tokens = Double(max(burst, 0))
        filled = now
    }

    /// Takes a token, or says when to come back.
    mutating func take(at now: Instant, rate: Double, burst: Int) -> Verdict {
        fill(at: now, rate, burst)
        // Whoever waited as told must not fail by a rounding error.
        guard tokens < 1 - 1e-9 else {
            tokens = max(tokens - 1, 0)
            return .taken
        }
        guard rate > 0, burst > 0 else { return .empty(retry: nil) }
        let milliseconds = ((1 - tokens) / rate * 1_000).rounded(.up)
        return .empty(retry: .milliseconds(min(milliseconds, Self.aDay)))
    }

    /// Whether it holds all it can: then it is as good as a new one.
    mutating func isFull(at now: Instant, rate: Double, burst: Int) -> Bool {
        fill(at: now, rate, burst)
        return tokens >= Double(burst)
    }

    private mutating func fill(at now: Instant, _ rate: Double, _ burst: Int) {
        let seconds = max((now - filled) / .seconds(1), 0)
        tokens = min(tokens + seconds * max(rate, 0), Double(max(burst, 0)))
        filled = max(now, filled)
    }

    /// The longest wait that is told, in milliseconds: a tiny rate makes it longer than a Duration can hold.
    private static let aDay = 86_400_000.0
}
