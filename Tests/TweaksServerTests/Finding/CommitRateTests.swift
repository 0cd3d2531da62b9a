// Commits a second, with a clock of the test's.

import Testing
import Tweaks

@testable import TweaksServer

struct CommitRateTests {
    private let start = Moment.now

    @Test func beforeTheFirstSampleItCountsFromTheStart() {
        let rate = CommitRate(6, at: start)
        #expect(rate.rate(6, at: start) == (0, .zero))
        #expect(rate.rate(16, at: start + .seconds(4)) == (2.5, .seconds(4)))
    }

    @Test func itIsTheLastMinute() {
        var rate = CommitRate(0, at: start)
        var revision: UInt64 = 0
        for second in 1...600 {
            // Ten a second for nine minutes, then one.
            revision += second <= 540 ? 10 : 1
            let now = start + .seconds(second)
            if rate.isDue(now) { rate.note(revision, at: now) }
        }
        #expect(rate.rate(revision, at: start + .seconds(600)) == (1, .seconds(60)))
    }

    /// Nothing wakes a process for this figure: after a long rest it says how long that was.
    @Test func afterALongRestTheTimeIsLonger() {
        var rate = CommitRate(0, at: start)
        rate.note(100, at: start + .seconds(10))
        #expect(rate.rate(700, at: start + .seconds(610)) == (1, .seconds(600)))
    }

    @Test func itIsDueEveryFewSeconds() {
        var rate = CommitRate(0, at: start)
        #expect(!rate.isDue(start + .seconds(4)))
        #expect(rate.isDue(start + .seconds(5)))
        rate.note(0, at: start + .seconds(5))
        #expect(!rate.isDue(start + .seconds(9)))
    }

    /// A revision below the one before it would be a mistake, but not one to die of.
    @Test func itIsNeverNegative() {
        #expect(CommitRate(5, at: start).rate(3, at: start + .seconds(1)).perSecond == 0)
    }
}
