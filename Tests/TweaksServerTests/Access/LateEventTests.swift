// Tests that watchers are told when others go on at the end of a round, and nothing else wakes the server.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

@testable import TweaksServer

@Suite(.blocking) struct LateEventTests {
    /// A session that has waited for a wrong token sets something, and watches it: that has all others told of it.
    @Test func behindAPenalty() throws {
        let server = try AccessServer(.token("ops", .read), hasThread: true) {
            $0.authenticationDelay = .seconds(60) ... .seconds(60)
        }
        let (watcher, other) = (try server.connect(), try server.connect())
        try watcher.ask("watch Content/Text/Size")
        try other.send("auth twk_wrong\nContent/Text/Size = 72\nwatch Content/Text/Size\n")
        try server.settle(watcher)
        server.pass(.seconds(60))
        #expect(try watcher.line().hasPrefix("event 1 Content/Text/Size = 72 "))
    }
}
