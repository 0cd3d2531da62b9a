// Measures recent commits per second.

import Tweaks

/// Samples of the revision, taken when the I/O thread is awake anyway: an idle process is not woken to measure.
struct CommitRate {
    private var samples: [(time: Moment, revision: UInt64)]
    private let interval: Duration = .seconds(5)
    private let window: Duration = .seconds(60)

    init(_ revision: UInt64, at now: Moment) { (samples, dueAt) = ([(now, revision)], now + interval) }

    /// When the next sample is due.
    private(set) var dueAt: Moment

    /// Whether a sample is due.
    func isDue(_ now: Moment) -> Bool { dueAt <= now }

    /// Adds a sample.
    mutating func note(_ revision: UInt64, at now: Moment) {
        samples.append((now, revision))
        dueAt = now + interval
        // The newest sample outside the window stays, since the window begins there.
        while samples.count > 2, samples[1].time + window <= now { samples.removeFirst() }
    }

    /// The commits per second and the time measured: about the last minute, or more if nothing woke the I/O thread.
    func rate(_ revision: UInt64, at now: Moment) -> (perSecond: Double, over: Duration) {
        let start = samples.last { $0.time + window <= now } ?? samples[0]
        let time = now - start.time
        if time <= .zero { return (0, .zero) }
        return (Double(revision &- min(start.revision, revision)) / (time / .seconds(1)), time)
    }
}
