// Tests the delays between retries.

import Testing
import TweaksSystem

@Suite struct BackoffTests {
    private static func milliseconds(_ delays: Int...) -> [Duration] { delays.map { .milliseconds($0) } }

    @Test func `Each delay is twice the one before, up to the longest`() {
        var backoff = Backoff(.milliseconds(200) ... .seconds(5))
        let delays = (0..<7).map { _ in backoff.next() }
        #expect(delays == Self.milliseconds(200, 400, 800, 1_600, 3_200, 5_000, 5_000))
        backoff.reset()
        #expect(backoff.next() == .milliseconds(200))
    }

    @Test(arguments: [(0.0, 125, 250), (0.5, 187.5, 375), (1.0, 250, 500)])
    func `With jitter, a delay is between its half and its whole`(_ random: Double, _ first: Double, _ second: Double) {
        var backoff = Backoff(.milliseconds(250) ... .seconds(15))
        #expect(backoff.next(random: random) == .milliseconds(first))
        #expect(backoff.next(random: random) == .milliseconds(second))
    }
}
