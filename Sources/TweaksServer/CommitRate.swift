// How many commits a second there were of late.

import Tweaks

/// Samples of the revision, taken when the I/O thread is awake anyway: a process that rests is not woken for a figure.
struct CommitRate {
    private var samples: [(time: Moment, revision: UInt64)]
    private let interval: Duration = .seconds(5)
    private let window: Duration = .seconds(60)

    init(_ revision: UInt64, at now: Moment) { (samples, dueAt) = ([(now, revision)], now + interval) }

    /// When it is time for another sample.
    private(set) var dueAt: Moment

    /// Whether that has come.
    func isDue(_ now: Moment) -> Bool { dueAt <= now }

    /// Takes a sample.
    mutating func note(_ revision: UInt64, at now: Moment) {
        samples.append((now, revision))
        dueAt = now + interval
        // The newest one that is out of the window stays: that is where the window begins.
        while samples.count > 2, samples[1].time + window <= now { samples.removeFirst() }
    }

    /// Commits a second, and over which time: about the last minute, or more where nothing woke the I/O thread.
    func rate(_ revision: UInt64, at now: Moment) -> (perSecond: Double, over: Duration) {
        let start = samples.last { $0.time + window <= now } ?? samples[0]
        let time = now - start.time
        if time <= .zero { return (0, .zero) }
        return (Double(revision &- min(start.revision, revision)) / (time / .seconds(1)), time)
    }
}
