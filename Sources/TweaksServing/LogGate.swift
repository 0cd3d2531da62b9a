// Keeps a tireless client from filling a log.

import Dispatch
import Synchronization

/// Lets each origin write so many lines, at once and then in a second, and says how many there were more.
final class LogGate: Sendable {
    /// What an origin may still write.
    private struct Bucket {
        var lines = LogGate.burst
        /// Seconds since the gate was made.
        var at: Double
        var held = 0

        mutating func refill(_ now: Double) {
            if now > at { lines = min(burst, lines + (now - at) * linesPerSecond) }
            at = max(at, now)
        }

        /// Counts lines; false, and they are held, where none may be written.
        mutating func spend(_ count: Int, _ now: Double) -> (mayPass: Bool, left: Int, isFirstHeld: Bool) {
            refill(now)
            guard lines >= 1 else {
                defer { held += count }
                return (false, 0, held == 0)
            }
            defer { (lines, held) = (lines - Double(count), 0) }
            return (true, held, false)
        }
    }

    private static let burst = 100.0
    private static let linesPerSecond = 10.0
    /// More origins than these share what one may write.
    private static let mostOrigins = 256

    private struct State {
        var buckets: [String: Bucket] = [:]
        /// When those were last forgotten that are full again.
        var cleanedAt: Double?
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now
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
        let (whole, part) = (now - start).components
        let seconds = Double(whole) + Double(part) * 1e-18
        let (name, (mayPass, left, isFirstHeld)) = state.withLock { state in
            let name = Self.account(origin, &state, seconds)
            return (name, state.buckets[name, default: Bucket(at: seconds)].spend(count, seconds))
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

    private static func account(_ origin: String, _ state: inout State, _ now: Double) -> String {
        if state.buckets.count < mostOrigins || state.buckets[origin] != nil { return origin }
        if state.cleanedAt.map({ now - $0 >= 1 }) ?? true {
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
