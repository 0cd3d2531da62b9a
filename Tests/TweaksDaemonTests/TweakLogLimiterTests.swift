// Tests the limiter that programs use in their own handlers of events.

import Dispatch
import Testing
import Tweaks
import TweaksDaemon
import TweaksTestSupport

struct TweakLogLimiterTests {
    private let log = LogLines()
    private let limiter: TweakLogLimiter
    private let start = Moment.now

    init() {
        limiter = TweakLogLimiter(delay: .seconds(3_600)) { [log] line, event in
            log.note("\(event == nil ? "count" : event?.isProblem == true ? "warning" : "info") \(line)")
        }
    }

    private func event(
        _ kind: TweakSessionEvent.Kind, of peer: String = "127.0.0.1", _ number: Int
    ) -> TweakDaemonEvent {
        let session = TweakSession(
            id: UInt64(number), transport: .tcp, peer: "\(peer):\(number)", userID: nil, processID: nil,
            identity: TweakOrigin("\(peer):\(number)"), scopes: [], state: .opening)
        return .session(TweakSessionEvent(session: session, kind: kind))
    }

    /// A thousand a second for a minute: 3.6 MB of lines.
    @Test func aFloodWritesABoundedAmount() {
        for number in 0..<60_000 {
            limiter.write(event(.authenticationFailed, number), at: start + .milliseconds(number))
        }
        limiter.write(.stopping, at: start + .seconds(60))
        let lines = log.all
        // A hundred at once, then ten a second, each after a count.
        #expect(lines.count <= 100 + 2 * 10 * 60 + 2, "\(lines.count)")
        #expect(lines.reduce(0) { $0 + $1.utf8.count } < 100_000)
        let counts = lines.compactMap { $0.firstMatch(of: /^count … and (\d+) more lines about 127.0.0.1$/) }
        let written = lines.count { $0.hasPrefix("warning ") }
        #expect(counts.reduce(written) { $0 + (Int($1.1) ?? 0) } == 60_000)
        #expect(lines.last == "info stopping")
    }

    @Test func othersAndProblemsOfTheProcessAreWritten() {
        for number in 0..<500 { limiter.write(event(.authenticationFailed, number), at: start) }
        let before = log.all.count
        limiter.write(event(.authenticationFailed, of: "192.0.2.1", 9), at: start)
        limiter.write(.warning("the disk is full"), at: start)
        limiter.write(.unsaved("no space"), at: start)
        #expect(log.all.count == before + 3)
        // Events without a line are not counted either.
        for number in 0..<500 { limiter.write(event(.state, number), at: start) }
        limiter.write(.stopping, at: start)
        #expect(log.all.suffix(2) == ["count … and 400 more lines about 127.0.0.1", "info stopping"])
    }
}
