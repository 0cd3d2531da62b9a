// Computes when a failed write is retried.

/// Retries with exponential backoff; new changes are tried sooner, at a limited rate.
struct Retry {
    /// The minimum time between attempts; changes within it share one attempt.
    private static let shortest = Duration.milliseconds(20)

    private let time: any StorageTime
    private let first: Duration
    private let longest: Duration
    private var delay: Duration
    /// Nil after a success.
    private var lastFailure: ContinuousClock.Instant?
    private var due: ContinuousClock.Instant?

    init(_ time: any StorageTime, first: Duration, longest: Duration) {
        (self.time, self.first, self.longest, delay) = (time, first, longest, first)
    }

    func next(hasUpdates: Bool) -> ContinuousClock.Instant? {
        guard let lastFailure, let due else { return nil }
        return hasUpdates ? min(due, lastFailure.advanced(by: Self.shortest)) : due
    }

    mutating func succeeded() { (lastFailure, due, delay) = (nil, nil, first) }

    mutating func failed() {
        let now = time.now
        lastFailure = now
        // Attempts for new changes do not postpone the scheduled retry.
        if let due, due > now { return }
        due = now.advanced(by: delay)
        delay = min(delay * 2, longest)
    }
}
