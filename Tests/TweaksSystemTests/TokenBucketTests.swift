// Tests the token bucket: its rate, its capacity and its debts.

import Testing
import Tweaks
import TweaksSystem

struct TokenBucketTests {
    private let start = Moment.now

    /// The number of commits that the bucket allows.
    private func allowed(_ count: Int, _ bucket: inout TokenBucket, at time: Moment) -> Int {
        var allowed = 0
        for _ in 0..<count where bucket.consume(time) { allowed += 1 }
        return allowed
    }

    @Test func oneSecondsCommitsPassAtOnceAndThenByTheRate() {
        var bucket = TokenBucket(perSecond: 10)
        for (count, milliseconds, expected) in [(12, 0, 10), (1, 99, 0), (1, 100, 1), (1, 150, 0), (20, 60_000, 10)] {
            #expect(allowed(count, &bucket, at: start + .milliseconds(milliseconds)) == expected)
        }
    }

    /// Neither a clock that goes back nor another rate does.
    @Test func onlyTimeFillsTheBucket() {
        var bucket = TokenBucket(perSecond: 4)
        #expect(allowed(4, &bucket, at: start) == 4)
        #expect(allowed(1, &bucket, at: start - .seconds(5)) == 0)
        bucket.change(perSecond: 1_000)
        #expect(allowed(1, &bucket, at: start) == 0)
        bucket.change(perSecond: 2)
        #expect(allowed(10, &bucket, at: start + .seconds(9)) == 2)
    }

    /// As the lines of a commit, which are written together or not at all.
    @Test func aDebtIsPaidBeforeTheNextOnes() {
        var bucket = TokenBucket(perSecond: 10, capacity: 100)
        #expect((1...5).map { _ in bucket.consume(start, count: 21) } == [true, true, true, true, true])
        #expect(!bucket.consume(start) && !bucket.isFull(start + .milliseconds(10_499)))
        // 105 of 100 are consumed: five are owed, and one is wanted.
        #expect(bucket.refilledAt == start + .milliseconds(600))
        #expect(allowed(1, &bucket, at: start + .milliseconds(599)) == 0)
        #expect(allowed(2, &bucket, at: start + .milliseconds(600)) == 1)
        #expect(bucket.isFull(start + .milliseconds(10_600)) && allowed(200, &bucket, at: start + .seconds(99)) == 100)
    }
}
