// Limits the log lines of each origin, so that a busy client cannot fill the log.

package import Dispatch
import Synchronization
package import Tweaks

/// Allows each origin a burst of lines and then a rate per second, and reports how many lines were suppressed.
package final class LogRateLimiter: Sendable {
    /// The token bucket of an origin.
    private final class Bucket {
        private(set) var lines = LogRateLimiter.burst
        /// The time of the last refill, in seconds since the limiter was created.
        private var at: Double
        var suppressed = 0
        /// No line may be written before this time.
        private(set) var opensAt: Moment?

        init(at now: Double) { at = now }

        func refill(_ now: Double) {
            if now > at { lines = min(burst, lines + (now - at) * linesPerSecond) }
            at = max(at, now)
        }

        /// Spends tokens for lines; if none is left, counts the lines as suppressed.
        func spend(
            _ count: Int, _ now: Double, _ moment: Moment
        ) -> (mayWrite: Bool, left: Int, isFirstSuppressed: Bool) {
            refill(now)
            guard lines >= 1 else { return (false, 0, suppress(count)) }
            defer { suppressed = 0 }
            lines -= Double(count)
            opensAt = lines < 1 ? moment + .seconds((1 - lines) / linesPerSecond) : nil
            return (true, suppressed, false)
        }

        /// Counts suppressed lines.
        /// - Returns: Whether they are the first.
        func suppress(_ count: Int) -> Bool {
            suppressed += count
            return suppressed == count
        }
    }

    private static let burst = 100.0
    private static let linesPerSecond = 10.0
    /// Origins beyond this number share one bucket.
    private static let maxOrigins = 256

    /// An origin and its bucket.
    private struct Known {
        let origin: TweakOrigin
        let bucket: Bucket
    }

    private struct State {
        /// The origin of the last lookup: a busy client is looked up again and again.
        var last: Known?
        var buckets: [String: Bucket] = [:]
        /// The time, in seconds since the start, when full buckets were last removed.
        var cleanedAt: Double?
    }

    private let state = Mutex(State())
    private let start = Moment.now
    private let delay: DispatchTimeInterval
    private let queue = DispatchQueue(label: "tweaks.log")
    private let writeLine: @Sendable (String) -> Void

    /// - Parameters:
    ///   - delay: The time from the first suppressed line to the line that reports the count.
    ///   - writeLine: Writes a line with a count; also called on the limiter's queue.
    package init(delay: DispatchTimeInterval = .seconds(1), _ writeLine: @escaping @Sendable (String) -> Void) {
        (self.delay, self.writeLine) = (delay, writeLine)
    }

    /// Writes the lines of an origin, all or none; suppressed lines are counted.
    /// - Parameters:
    ///   - count: The number of lines.
    ///   - write: Writes them; not called for suppressed lines, so that these cost little.
    package func write(
        count: Int, of origin: String, at now: Moment = .now, _ write: () -> Void
    ) {
        if count == 0 { return }
        let (whole, part) = (now - start).components
        let seconds = Double(whole) + Double(part) * 1e-18
        let (name, (mayWrite, left, isFirstSuppressed)) = state.withLock { state in
            let name = Self.bucketName(origin, &state, seconds)
            let bucket = state.buckets[name] ?? Bucket(at: seconds)
            state.buckets[name] = bucket
            return (name, bucket.spend(count, seconds, now))
        }
        report(left, name)
        if mayWrite { write() }
        // Otherwise the count would be reported only with the next line, which can be much later.
        if isFirstSuppressed { queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.reportSuppressed() } }
    }

    /// Counts lines of an origin as suppressed, without formatting them, if none may be written now.
    /// - Returns: False if they may be written, or the fast check cannot decide.
    package func suppresses(_ count: Int, of origin: TweakOrigin, at now: Moment) -> Bool {
        let isFirst = state.withLock { state -> Bool? in
            if state.last?.origin != origin {
                state.last = state.buckets[origin.client].map { Known(origin: origin, bucket: $0) }
            }
            guard let bucket = state.last?.bucket, let opensAt = bucket.opensAt, now < opensAt else { return nil }
            return bucket.suppress(count)
        }
        if isFirst == true { queue.asyncAfter(deadline: .now() + delay) { [weak self] in self?.reportSuppressed() } }
        return isFirst != nil
    }

    /// Reports the numbers of suppressed lines.
    package func reportSuppressed() {
        let suppressed = state.withLock { state in
            defer { for name in Array(state.buckets.keys) { state.buckets[name]?.suppressed = 0 } }
            return state.buckets.filter { $0.value.suppressed > 0 }.mapValues(\.suppressed)
        }
        for (name, count) in suppressed.sorted(by: { $0.key < $1.key }) { report(count, name) }
    }

    private static func bucketName(_ origin: String, _ state: inout State, _ now: Double) -> String {
        if state.buckets.count < maxOrigins || state.buckets[origin] != nil { return origin }
        if state.cleanedAt.map({ now - $0 >= 1 }) ?? true {
            state.cleanedAt = now
            for name in Array(state.buckets.keys) { state.buckets[name]?.refill(now) }
            state.last = nil
            state.buckets = state.buckets.filter { $0.value.lines < burst || $0.value.suppressed > 0 }
        }
        return state.buckets.count < maxOrigins ? origin : "others"
    }

    private func report(_ suppressed: Int, _ origin: String) {
        if suppressed > 0 { writeLine("… and \(suppressed) more lines about \(origin)") }
    }
}
