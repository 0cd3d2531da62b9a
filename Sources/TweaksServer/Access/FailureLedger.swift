// Wrong tokens cost time: who has shown some of late, and how long the answer takes.

import Tweaks

/// Failures by peer. Each of late doubles the time that the next one takes; each is forgotten after a while.
struct FailureLedger {
    private struct Entry {
        var count: Int
        var notedAt: Moment
    }

    /// One failure is forgotten each time this has passed.
    private static let memory: Duration = .seconds(10)
    /// Peers are users and addresses of this machine; more than these are made up.
    private static let most = 1_024

    private let delays: ClosedRange<Duration>
    private var entries: [String: Entry] = [:]

    /// - Parameter delays: What the first failure costs, and what none exceeds.
    init(delays: ClosedRange<Duration>) { self.delays = delays }

    /// Notes a failure.
    /// - Returns: How long its answer has to wait.
    mutating func note(_ peer: String, _ now: Moment) -> Duration {
        let before = recent(peer, now)
        if entries.count >= Self.most, entries[peer] == nil { forget(now) }
        entries[peer] = Entry(count: min(before + 1, 16), notedAt: now)
        return min(delays.lowerBound * (1 << before), delays.upperBound)
    }

    private func recent(_ peer: String, _ now: Moment) -> Int {
        guard let entry = entries[peer] else { return 0 }
        return max(0, entry.count - Int(min((now - entry.notedAt) / Self.memory, 16)))
    }

    /// Makes room: first for what does not matter any more, then for whoever was quiet the longest.
    private mutating func forget(_ now: Moment) {
        entries = entries.filter { recent($0.key, now) > 0 }
        guard entries.count >= Self.most, let oldest = entries.min(by: { $0.value.notedAt < $1.value.notedAt }) else {
            return
        }
        entries[oldest.key] = nil
    }
}
