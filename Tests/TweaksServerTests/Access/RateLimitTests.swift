// Tests the delays after wrong tokens, without a server.

import Testing
import Tweaks

@testable import TweaksServer

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
