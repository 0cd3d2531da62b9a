// Tests of the remarks that are printed for the status line of a reply.

import Testing
import Tweaks

@testable import tweakctl

@Suite struct ConsoleTests {
    @Test(
        arguments: [
            ("", "ok", nil), ("", "ok rev 43", nil), (#""unchanged":true,"#, "ok rev 43 unchanged", nil),
            ("", "ok pong", nil), (#""watching":2,"#, "ok rev 3 watching 2", nil),
            (#""unsaved":"No space left on device","#, "ok rev 43 nicht gesichert", nil),
            ("", "ok rev 44 undid 43 by uid 1000", "undid 43 by uid 1000"),
            ("", "ok best 100, 50 more; add a word to see fewer", "best 100, 50 more; add a word to see fewer"),
        ] as [(String, String, String?)])
    func aStatusIsPrintedIfItAddsToTheBody(_ fields: String, _ status: String, _ remark: String?) {
        let line = "{\"ok\":true,\(fields)\"text\":[\"\(status)\"]}"
        #expect(Answer(body: [], status: line, isRefusal: false).withFields.remark == remark)
    }

    /// An answer that was cut has begun with `"ok":true`.
    @Test func anErrorAtTheEndOfAnAnswerIsARefusal() {
        let line = #"{"ok":true,"tweaks":[],"text":[null],"error":{"code":"denied","message":"cut"}}"#
        let answer = Answer(body: [], status: line, isRefusal: false).withFields
        #expect(answer.isRefusal && answer.errorCode == .denied && answer.complaint == "denied: cut")
    }

    @Test func aNewerLineOfAnEventIsItsText() {
        #expect(Answer.text(ofEvent: #"{"event":"change","rev":5,"text":"event 5 A/B/C = 5"}"#) == "event 5 A/B/C = 5")
        #expect(Answer.text(ofEvent: "event 5 A/B/C = 5") == "event 5 A/B/C = 5")
    }
}
