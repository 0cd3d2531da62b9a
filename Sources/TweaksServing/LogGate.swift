// Keeps a tireless client from filling a log.

import Dispatch
import Synchronization

/// Lets each origin write so many lines, at once and then in a second, and says how many there were more.
final class LogGate: Sendable {
    /// What an origin may still write.
    private struct Bucket {
        var lines = LogGate.burst
        var at: ContinuousClock.Instant
        var held = 0

        mutating func refill(_ now: ContinuousClock.Instant) {
            if now > at { lines = min(burst, lines + (now - at) / .seconds(1) * linesPerSecond) }
            at = max(at, now)
        }
    }

    private static let burst = 100.0
    private static let linesPerSecond = 10.0
    /// More origins than these share what one may write.
    private static let mostOrigins = 256

    private struct State {
        var buckets: [String: Bucket] = [:]
        /// When those were last forgotten that are full again.
        var cleanedAt: ContinuousClock.Instant?
    }

    private let state = Mutex(State())
    private let delay: DispatchTimeInterval
    private let queue = DispatchQueue(label: "tweaks.log")
    private let write: @Sendable (String) -> Void

    /// - Parameters:
    ///   - delay: How long after the first line that is held a line says how many there are.
    ///   - write: Writes a line; also from a queue of this gate's.
    init(delay: DispatchTimeInterval = .seconds(1), _ write: @escaping @Sendable (String) -> Void) {
        (self.delay, self.write) = (delay, write)
    }

    /// Writes lines of an origin, all or none; none are counted.
    /// - Parameters:
    ///   - lines: Made only where they are written: a tireless client shall not cost more than its share.
    ///   - count: How many there are.
    func pass(
        _ lines: @autoclosure () -> [String], count: Int, of origin: String, at now: ContinuousClock.Instant = .now
    ) {
        if count == 0 { return }
        let (name, left, mayPass, isFirstHeld) = state.withLock { state in
            let name = Self.account(origin, &state, now)
            var bucket = state.buckets[name] ?? Bucket(at: now)
            bucket.refill(now)
            let mayPass = bucket.lines >= 1
            let left = mayPass ? bucket.held : 0
            if mayPass { (bucket.lines, bucket.held) = (bucket.lines - Double(count), 0) }
            let isFirstHeld = !mayPass && bucket.held == 0
            if !mayPass { bucket.held += count }
            state.buckets[name] = bucket
            return (name, left, mayPass, isFirstHeld)
        }
        say(left, name)
        if mayPass { for line in lines() { write(line) } }
        // Else it would not be said before the next line, and that may be tomorrow.
        if isFirstHeld { queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.end() } }
    }

    /// Says how many were held.
    func end() {
        let held = state.withLock { state in
            defer { for name in Array(state.buckets.keys) { state.buckets[name]?.held = 0 } }
            return state.buckets.filter { $0.value.held > 0 }.mapValues(\.held)
        }
        for (name, count) in held.sorted(by: { $0.key < $1.key }) { say(count, name) }
    }

    private static func account(_ origin: String, _ state: inout State, _ now: ContinuousClock.Instant) -> String {
        if state.buckets[origin] != nil || state.buckets.count < mostOrigins { return origin }
        if state.cleanedAt.map({ now - $0 >= .seconds(1) }) ?? true {
            state.cleanedAt = now
            for name in Array(state.buckets.keys) { state.buckets[name]?.refill(now) }
            state.buckets = state.buckets.filter { $0.value.lines < burst || $0.value.held > 0 }
        }
        return state.buckets.count < mostOrigins ? origin : "others"
    }

    private func say(_ held: Int, _ origin: String) {
        if held > 0 { write("… and \(held) more lines about \(origin)") }
    }
}
