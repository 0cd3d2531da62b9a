// How often something is tried that the disk has refused.

/// When to try again: soon at first, then ever less often; and at once for something new, but not in a frenzy.
struct Retry {
    /// So many sets a second can be told that the disk is full; more share an answer.
    private static let shortest = Duration.milliseconds(20)

    private let time: any StorageTime
    private let first: Duration
    private let most: Duration
    private var delay: Duration
    /// Nil while all is well.
    private var lastFailure: ContinuousClock.Instant?
    private var due: ContinuousClock.Instant?

    init(_ time: any StorageTime, first: Duration, most: Duration) {
        (self.time, self.first, self.most, delay) = (time, first, most, first)
    }

    func next(hasNews: Bool) -> ContinuousClock.Instant? {
        guard let lastFailure, let due else { return nil }
        return hasNews ? min(due, lastFailure.advanced(by: Self.shortest)) : due
    }

    mutating func succeeded() { (lastFailure, due, delay) = (nil, nil, first) }

    mutating func failed() {
        let now = time.now
        lastFailure = now
        // New changes have their own attempts, and do not put off the next one of these.
        if let due, due > now { return }
        due = now.advanced(by: delay)
        delay = min(delay * 2, most)
    }
}
