// Tests the limits of rates without a server: the token bucket of commits, and the delays after wrong tokens.

import Testing
import Tweaks

@testable import TweaksServer

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
}

struct LoginThrottleTests {
    private let start = Moment.now

    /// The delays in milliseconds after failures of peers at times.
    private func delays(_ failures: [(peer: String, milliseconds: Int)]) -> [Duration] {
        var throttle = LoginThrottle(delays: .milliseconds(250) ... .seconds(4))
        return failures.map { throttle.recordFailure($0.peer, start + .milliseconds($0.milliseconds)) }
    }

    @Test func theDelayDoublesUpToTheMaximumForEachPeer() {
        let delays = delays(Array(repeating: ("uid 1", 0), count: 7) + [("uid 2", 0)])
        #expect(delays == [250, 500, 1_000, 2_000, 4_000, 4_000, 4_000, 250].map { .milliseconds($0) })
    }

    @Test func failuresAreForgottenInTime() {
        let delays = delays(Array(repeating: ("uid 1", 0), count: 3) + [("uid 1", 20_000), ("uid 1", 3_600_000)])
        #expect(delays.suffix(2) == [.milliseconds(500), .milliseconds(250)])
    }

    /// The failures that matter least are forgotten first.
    @Test func theNumberOfRememberedPeersIsBounded() {
        let delays = delays((0..<1_500).map { ("uid \($0)", $0) } + [("uid 1499", 5_000), ("uid 0", 5_000)])
        #expect(delays.suffix(2) == [.milliseconds(500), .milliseconds(250)])
    }
}
