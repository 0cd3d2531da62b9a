// Tests the token bucket at given times.

import Testing

@testable import throttled

@Suite struct TokenBucketTests {
    /// Calls at a time, and their results: nil is a token, a number the seconds to wait, infinity no token ever.
    struct Case: CustomTestStringConvertible {
        let testDescription: String
        var burst = 2
        let calls: [(at: Double, rate: Double, burst: Int, wait: Double?)]

        init(_ name: String, burst: Int = 2, _ calls: [(Double, Double, Int, Double?)]) {
            testDescription = name
            self.burst = burst
            self.calls = calls.map { (at: $0.0, rate: $0.1, burst: $0.2, wait: $0.3) }
        }
    }

    static let cases = [
        Case("the burst, then none", [(0, 1, 2, nil), (0, 1, 2, nil), (0, 1, 2, 1)]),
        Case(
            "then one by one, at the rate",
            [
                (0, 4, 2, nil), (0, 4, 2, nil), (0.1, 4, 2, 0.15), (0.25, 4, 2, nil), (0.25, 4, 2, 0.25),
                (0.5, 4, 2, nil),
            ]),
        Case(
            "no more than the burst is collected",
            [(0, 1, 2, nil), (0, 1, 2, nil), (1e9, 1, 2, nil), (1e9, 1, 2, nil), (1e9, 1, 2, 1)]),
        Case(
            "a higher rate shortens the wait", [(0, 1, 1, nil), (0, 1, 1, 1), (0, 100, 1, 0.01), (0.01, 100, 1, nil)]),
        Case("a lower rate extends it", [(0, 100, 1, nil), (0, 100, 1, 0.01), (0.01, 0.5, 1, 1.99)]),
        Case("a lower burst acts at once", burst: 10, [(0, 1, 10, nil), (0, 1, 2, nil), (0, 1, 2, nil), (0, 1, 2, 1)]),
        Case("a higher burst is filled at the rate", [(0, 1, 9, nil), (0, 1, 9, nil), (0, 1, 9, 1), (3, 1, 9, nil)]),
        Case(
            "rate 0: collected tokens", [(0, 0, 2, nil), (9, 0, 2, nil), (9, 0, 2, .infinity), (1e9, 0, 2, .infinity)]),
        Case("burst 0: nothing", burst: 0, [(0, 10, 0, .infinity), (9, 10, 0, .infinity)]),
        Case("burst 0 and back", [(0, 10, 0, .infinity), (0, 10, 1, 0.1), (0.1, 10, 1, nil)]),
        Case("less than nothing is nothing", burst: -1, [(0, -1, -1, .infinity), (9, -1, 3, .infinity)]),
        Case("a tiny rate: a day, and no overflow", burst: 1, [(0, 1e-300, 1, nil), (0, 1e-300, 1, 86_400)]),
        Case("a clock that goes back", [(5, 1, 2, nil), (0, 1, 2, nil), (0, 1, 2, 1), (5, 1, 2, 1), (6, 1, 2, nil)]),
        Case("a gap of ages", burst: 1, [(0, 1, 1, nil), (4e9, 10_000, 1, nil), (4e9, 10_000, 1, 0.001)]),
    ]

    @Test(arguments: cases) func tokensAreGivenAtTheRateAndUpToTheBurst(_ row: Case) {
        var bucket = TokenBucket(burst: row.burst, at: start)
        for call in row.calls {
            let result = bucket.take(at: start + .seconds(call.at), rate: call.rate, burst: call.burst)
            let expected: TokenBucket.Verdict =
                switch call.wait {
                case nil: .taken
                case .infinity: .empty(retry: nil)
                case .some(let seconds): .empty(retry: .milliseconds(seconds * 1_000))
                }
            #expect(result == expected, "at \(call.at)")
        }
    }

    @Test(arguments: [0.3, 0.7, 1, 3, 7, 9.99, 33, 1_000, 9_999])
    func afterTheGivenWaitThereIsAToken(rate: Double) {
        var now = start
        var bucket = TokenBucket(burst: 1, at: now)
        for _ in 0..<1_000 {
            guard case .empty(let retry?) = bucket.take(at: now, rate: rate, burst: 1) else { continue }
            now += retry
            #expect(bucket.take(at: now, rate: rate, burst: 1) == .taken)
        }
    }

    @Test(arguments: [0.001, 0.013, 0.5]) func theLongTermRateDoesNotDependOnTheCalls(step: Double) {
        var bucket = TokenBucket(burst: 5, at: start)
        let times = stride(from: 0, to: 100, by: step)
        let taken = times.count { bucket.take(at: start + .seconds($0), rate: 1.5, burst: 5) == .taken }
        #expect(abs(taken - 155) <= 1)
    }
}
