// Tests the rate of commits with times that the test chooses.

import Testing
import Tweaks

@testable import TweaksServer

struct CommitRateTests {
    private let start = Moment.now

    @Test func beforeTheFirstSampleThePeriodBeginsAtTheStart() {
        let rate = CommitRate(6, at: start)
        #expect(rate.rate(6, at: start) == (0, .zero))
        #expect(rate.rate(16, at: start + .seconds(4)) == (2.5, .seconds(4)))
    }

    @Test func theRateIsThatOfTheLastMinute() {
        var rate = CommitRate(0, at: start)
        var revision: UInt64 = 0
        for second in 1...600 {
            // Ten commits a second for nine minutes, then one.
            revision += second <= 540 ? 10 : 1
            let now = start + .seconds(second)
            if rate.isDue(now) { rate.note(revision, at: now) }
        }
        #expect(rate.rate(revision, at: start + .seconds(600)) == (1, .seconds(60)))
    }

    /// The process does not wake for samples, so the period after an idle time is longer.
    @Test func afterAnIdleTimeThePeriodIsLonger() {
        var rate = CommitRate(0, at: start)
        rate.note(100, at: start + .seconds(10))
        #expect(rate.rate(700, at: start + .seconds(610)) == (1, .seconds(600)))
    }

    @Test func aSampleIsDueEveryFiveSeconds() {
        var rate = CommitRate(0, at: start)
        #expect(!rate.isDue(start + .seconds(4)))
        #expect(rate.isDue(start + .seconds(5)))
        rate.note(0, at: start + .seconds(5))
        #expect(!rate.isDue(start + .seconds(9)))
    }

    /// A lower revision would be a bug, but must not trap.
    @Test func theRateIsNeverNegative() {
        #expect(CommitRate(5, at: start).rate(3, at: start + .seconds(1)).perSecond == 0)
    }
}
