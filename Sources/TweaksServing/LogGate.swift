// Keeps a tireless client from filling a log.

import Dispatch
import Synchronization
import Tweaks
import TweaksStorage

/// Lets each origin write so many lines, at once and then in a second, and says how many there were more.
final class LogGate: Sendable {
    /// What an origin may still write.
    private final class Bucket {
        private(set) var lines = LogGate.burst
        /// Seconds since the gate was made.
        private var at: Double
        var held = 0
        /// Until then no line may be written.
        private(set) var opensAt: Moment?

        init(at now: Double) { at = now }

        func refill(_ now: Double) {
            if now > at { lines = min(burst, lines + (now - at) * linesPerSecond) }
            at = max(at, now)
        }

        /// Counts lines; false, and they are held, where none may be written.
        func spend(_ count: Int, _ now: Double, _ moment: Moment) -> (mayPass: Bool, left: Int, isFirstHeld: Bool) {
            refill(now)
            guard lines >= 1 else { return (false, 0, hold(count)) }
            defer { held = 0 }
            lines -= Double(count)
            opensAt = lines < 1 ? moment + .seconds((1 - lines) / linesPerSecond) : nil
            return (true, held, false)
        }

        /// Counts lines that are not written.
        /// - Returns: Whether they are the first.
        func hold(_ count: Int) -> Bool {
            held += count
            return held == count
        }
    }

    private static let burst = 100.0
    private static let linesPerSecond = 10.0
    /// More origins than these share what one may write.
    private static let mostOrigins = 256

    /// An origin, and what it may still write.
    private struct Known {
        let origin: TweakOrigin
        let bucket: Bucket
    }

    private struct State {
        /// The one that was looked for last: a tireless client is looked for again and again.
        var last: Known?
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
            let bucket = state.buckets[name] ?? Bucket(at: seconds)
            state.buckets[name] = bucket
            return (name, bucket.spend(count, seconds, Moment(now)))
        }
        say(left, name)
        if mayPass { for line in lines() { write(line) } }
        // Else it would not be said before the next line, and that may be tomorrow.
        if isFirstHeld { queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.end() } }
    }

    /// Counts lines of an origin, where none may be written; they need not be made.
    /// - Returns: False where they may be written, or that is not known so quickly.
    func holds(_ count: Int, of origin: TweakOrigin, at now: Moment) -> Bool {
        let isFirst = state.withLock { state -> Bool? in
            if state.last?.origin != origin {
                state.last = state.buckets[AuditNote.name(of: origin)].map { Known(origin: origin, bucket: $0) }
            }
            guard let bucket = state.last?.bucket, let opensAt = bucket.opensAt, now < opensAt else { return nil }
            return bucket.hold(count)
        }
        if isFirst == true { queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.end() } }
        return isFirst != nil
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
            state.last = nil
            state.buckets = state.buckets.filter { $0.value.lines < burst || $0.value.held > 0 }
        }
        return state.buckets.count < mostOrigins ? origin : "others"
    }

    private func say(_ held: Int, _ origin: String) {
        if held > 0 { write("… and \(held) more lines about \(origin)") }
    }
}
