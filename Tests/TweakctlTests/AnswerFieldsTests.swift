// Tests answers whose fields and text do not agree, because a server cut them or is hostile.

import Testing
import TweaksTestSupport

@testable import tweakctl

struct AnswerFieldsTests {
    private func answer(_ status: String) -> Answer {
        Answer(body: [], status: status, isRefusal: status.hasPrefix("error")).withFields
    }

    @Test(arguments: [
        // The status, and what is made of it.
        (#"{"ok":true,"rev":7,"text":["A/B/C = 1","ok rev 7"]}"#, ["A/B/C = 1"], "ok rev 7", false),
        (
            #"{"ok":false,"error":{"code":"usage","message":"no"},"text":["error usage no"]}"#, [], "error usage no",
            true
        ),
        // Rights ended while the list was sent, or while its text was.
        (#"{"ok":true,"tweaks":[],"error":{"code":"denied","message":"gone"}}"#, [], "error denied gone", true),
        (
            #"{"ok":true,"tweaks":[],"text":["A/B/C = 1",null],"error":{"code":"denied","message":"gone"}}"#,
            ["A/B/C = 1"], "error denied gone", true
        ),
        // Memory ended while it was sent.
        (#"{"ok":true,"tweaks":[{"pa"#, [], "error closing the server cut its answer; ask again", true),
    ])
    func anAnswerThatWasCutIsARefusal(_ status: String, _ body: [String], _ text: String, _ isRefusal: Bool) {
        let answer = answer(status)
        #expect(answer.body == body)
        #expect(answer.status == text)
        #expect(answer.isRefusal == isRefusal)
    }

    @Test func bothReasonsWhyAChangeMayBeLostAreShown() {
        let answer = answer(#"{"ok":true,"unsaved":"disk full","unaudited":"too slow","text":["ok"]}"#)
        #expect(answer.warning == "in effect, but not in the audit: too slow; not saved: disk full")
    }

    /// An answer that only reads has the registry's revision, which may be another client's.
    @Test func theEditorTakesNoRevisionOfOthersForItsOwn() {
        for kind in [RequestKind.allTweaks, .tweak("A/B/C"), .hello, .stats, .text] { #expect(!kind.makesChange) }
        for kind in [RequestKind.change("A/B/C"), .typed, .command("undo"), .run("A/B/C")] { #expect(kind.makesChange) }
    }
}
