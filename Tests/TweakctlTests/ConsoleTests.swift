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

    /// What a change is answered that changed nothing.
    @Test(
        arguments: [
            ("A/B/C = 5", #""unchanged":true,"#, "rev 4 unchanged", "unchanged: it has that value already"),
            ("set A/B/C 5", #""unchanged":true,"#, "rev 4 unchanged", "unchanged: it has that value already"),
            ("reset A/B/C", #""unchanged":true,"#, "rev 4 unchanged", "unchanged: there is no override to remove"),
            ("reload", #""unchanged":true,"#, "rev 4 unchanged", "unchanged: the config file sets the same values"),
            ("reload dry", #""dry":true,"#, "rev 4 dry", "a reload would change nothing"),
            ("commit", #""unchanged":true,"#, "rev 4 unchanged", "nothing has changed"),
            ("load warm", #""unchanged":true,"#, "rev 4 unchanged loaded warm", nil), ("A/B/C = 5", "", "rev 5", nil),
            ("A/B/C = 5", #""unchanged":true,"unsaved":"full","#, "rev 4 unchanged unsaved: full", nil),
        ] as [(String, String, String, String?)])
    func aChangeWithoutEffectSaysSo(_ line: String, _ fields: String, _ words: String, _ wanted: String?) {
        let status = "{\"ok\":true,\(fields)\"text\":[\"ok \(words)\"]}"
        #expect(Answer(body: [], status: status, isRefusal: false).withFields.inaction(line) == wanted)
    }

    @Test(
        arguments: [
            ("find nonsense", "", "nothing found"), ("modified", "", "nothing is modified"),
            ("get *", "", "nothing to show"), ("ls", "", "nothing to list"),
            ("export", "", "nothing to export"), ("history", "", "nothing has changed yet"),
            ("presets", "", "there are no presets"), ("ping", "", nil), ("find size", "A/B/Size = 5", nil),
        ] as [(String, String, String?)])
    func anEmptyAnswerIsExplained(_ line: String, _ body: String, _ wanted: String?) {
        let answer = Answer(body: body.isEmpty ? [] : [body], status: "ok", isRefusal: false)
        #expect(answer.emptiness(line) == wanted)
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
