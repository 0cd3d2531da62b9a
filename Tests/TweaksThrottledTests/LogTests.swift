// Tests that the log of the daemon's events is bounded under a flood.

import Testing
import Tweaks
import TweaksInterface
import TweaksTestSupport

@testable import throttled

extension WithSettings {
    @Suite struct LogTests {
        private let log = LogLines()

        /// A client that sends a thousand wrong tokens on as many connections.
        @Test func aFloodOfWrongTokensIsCounted() {
            let handle = Log.handler { [log] in log.note($1 + $0) }
            let start = ContinuousClock.now
            for number in 1...20_000 { handle(.wrongToken(number)) }
            handle(.warning("the disk is full"))
            handle(.stopping)
            let seconds = Int((ContinuousClock.now - start) / .seconds(1)) + 1
            let lines = log.all
            // A hundred at once, ten a second, and the counts.
            #expect(lines.count <= 100 + 21 * seconds + 3, "\(lines.count)")
            #expect(lines.first == "throttled: error: session 1 of 127.0.0.1:1 sent a wrong token")
            #expect(lines.contains("throttled: error: the disk is full"))
            let omitted = lines.compactMap { $0.firstMatch(of: /… and (\d+) more lines about 127.0.0.1$/) }
            let written = lines.count { $0.contains("sent a wrong token") }
            #expect(omitted.reduce(written) { $0 + (Int($1.1) ?? 0) } == 20_000)
        }
    }
}

extension TweakDaemonEvent {
    fileprivate static func wrongToken(_ number: Int) -> TweakDaemonEvent {
        let peer = "127.0.0.1:\(number)"
        let session = TweakSession(
            id: UInt64(number), transport: .tcp, peer: peer, userID: nil, processID: nil, identity: TweakOrigin(peer),
            scopes: [], state: .opening)
        return .session(TweakSessionEvent(session: session, kind: .authenticationFailed))
    }
}
