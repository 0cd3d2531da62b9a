// What people are told of the words behind ok.

import Testing
import TweaksTerminal

@testable import tweakctl

@Suite struct RemarkTests {
    @Test(
        "words that say more than the body",
        arguments: [
            ("ok", nil), ("ok rev 43", nil), ("ok rev 43 unchanged", nil), ("ok pong", nil),
            ("ok rev 3 watching 2", nil),
            ("ok rev 43 unsaved: No space left on device", nil),
            ("ok rev 44 undid 43 by uid 1000", "undid 43 by uid 1000"),
            ("ok best 100, 50 more; another word leaves fewer", "best 100, 50 more; another word leaves fewer"),
        ] as [(String, String?)])
    func words(status: String, expected: String?) { #expect(Console.remark(status) == expected) }
}
