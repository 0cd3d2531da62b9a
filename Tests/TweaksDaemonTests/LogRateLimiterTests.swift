// Tests the limit on log lines of one origin.

import Dispatch
import Testing
import TweaksDaemon
import TweaksTestSupport

struct LogRateLimiterTests {
    private let log = LogLines()
    private let limiter: TweakLogLimiter
    private let start = Moment.now

    init() { limiter = TweakLogLimiter(delay: .seconds(3_600)) { [log] line, _ in log.note(line) } }

    private func write(_ lines: [String], of origin: String, at now: Moment) {
        limiter.write(count: lines.count, of: origin, at: now) { for line in lines { log.note(line) } }
    }

    @Test func suppressedLinesAreNotFormatted() {
        var made = 0
        for _ in 0..<1_000 { limiter.write(count: 1, of: "uid 7", at: start) { made += 1 } }
        #expect(made == 100)
    }

    @Test func eachOriginHasItsOwnRate() {
        for number in 0..<125 { write(["line \(number)"], of: "uid 7", at: start) }
        #expect(log.all.count == 100)
        write(["mine"], of: "uid 0", at: start)
        #expect(log.all.last == "mine")
        write(["later"], of: "uid 7", at: start + .seconds(1))
        #expect(log.all.suffix(2) == ["… and 25 more lines about uid 7", "later"])
        // Ten a second from then on; one of them is used up.
        for number in 0..<30 { write(["line \(number)"], of: "uid 7", at: start + .seconds(2)) }
        #expect(log.all.count == 103 + 19)
        limiter.reportOmitted()
        #expect(log.all.last == "… and 11 more lines about uid 7")
        limiter.reportOmitted()
        #expect(log.all.count == 123)
    }

    @Test func linesOfSuppressedCommitsAreCounted() {
        let frequent = TweakOrigin("uid 7")
        #expect(!limiter.omits(1, of: frequent, at: start))
        for number in 0..<105 { write(["line \(number)"], of: "uid 7", at: start) }
        for _ in 0..<20 { #expect(limiter.omits(2, of: frequent, at: start)) }
        #expect(!limiter.omits(1, of: TweakOrigin("uid 0"), at: start))
        #expect(limiter.omits(1, of: frequent, at: start + .milliseconds(99)))
        #expect(!limiter.omits(1, of: frequent, at: start + .milliseconds(101)))
        write(["later"], of: "uid 7", at: start + .milliseconds(101))
        #expect(log.all.suffix(2) == ["… and 46 more lines about uid 7", "later"])
    }

    @Test func originsBeyondTheFirst256ShareOneRate() {
        for number in 0..<10_000 { write(["line"], of: "10.0.0.\(number)", at: start) }
        #expect(log.all.count == 256 + 100)
        limiter.reportOmitted()
        #expect(log.all.last == "… and 9644 more lines about others")
    }

    @Test func theLinesOfACommitAreWrittenTogetherOrNotAtAll() {
        for _ in 0..<10 { write(Array(repeating: "a", count: 21), of: "ops", at: start) }
        #expect(log.all.count == 105)
        limiter.reportOmitted()
        #expect(log.all.last == "… and 105 more lines about ops")
    }
}
