// Tests of the remarks that are printed for the status line of a reply.

import Testing

@testable import tweakctl

@Suite struct ConsoleTests {
    @Test(
        arguments: [
            ("ok", nil), ("ok rev 43", nil), ("ok rev 43 unchanged", nil), ("ok pong", nil),
            ("ok rev 3 watching 2", nil), ("ok rev 43 unsaved: No space left on device", nil),
            ("ok rev 44 undid 43 by uid 1000", "undid 43 by uid 1000"),
            ("ok best 100, 50 more; add a word to see fewer", "best 100, 50 more; add a word to see fewer"),
        ] as [(String, String?)])
    func aStatusIsPrintedIfItAddsToTheBody(_ status: String, _ remark: String?) {
        #expect(Console.additionalText(status) == remark)
    }
}
