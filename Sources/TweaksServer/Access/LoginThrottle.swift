// Delays the answers to wrong tokens, longer for each recent failure of the same client.

import Tweaks

/// Recent failures by client. Each doubles the delay of the next one, and each is forgotten after a while.
struct LoginThrottle {
    private struct Entry {
        var count: Int
        var notedAt: Moment
    }

    /// After each such interval, one failure is forgotten.
    private static let memory: Duration = .seconds(10)
    /// Clients are users and addresses of this machine; a larger number of them is forged.
    private static let maxEntries = 1_024

    private let delays: ClosedRange<Duration>
    private var entries: [String: Entry] = [:]

    /// - Parameter delays: The delay of the first failure, and the maximum.
    init(delays: ClosedRange<Duration>) { self.delays = delays }

    /// Records a failure.
    /// - Returns: The delay of its answer.
    mutating func recordFailure(_ peer: String, _ now: Moment) -> Duration {
        let before = recent(peer, now)
        if entries.count >= Self.maxEntries, entries[peer] == nil { forget(now) }
        entries[peer] = Entry(count: min(before + 1, 16), notedAt: now)
        return min(delays.lowerBound * (1 << before), delays.upperBound)
    }

    private func recent(_ peer: String, _ now: Moment) -> Int {
        guard let entry = entries[peer] else { return 0 }
        return max(0, entry.count - Int(min((now - entry.notedAt) / Self.memory, 16)))
    }

    /// Makes room: removes expired entries first, then the one with the oldest failure.
    private mutating func forget(_ now: Moment) {
        entries = entries.filter { recent($0.key, now) > 0 }
        guard entries.count >= Self.maxEntries, let oldest = entries.min(by: { $0.value.notedAt < $1.value.notedAt })
        else { return }
        entries[oldest.key] = nil
    }
}
