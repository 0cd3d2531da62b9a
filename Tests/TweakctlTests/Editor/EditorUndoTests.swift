// Tests that the editor undoes and redoes own changes at once, and those of others after a question.

import Testing
import Tweaks

@testable import tweakctl

@Suite struct EditorUndoTests {
    private var harness = EditorHarness()

    private static let nothingOwn = "error conflict there is nothing to undo by uid 0; history lists the last commits"

    private static func history(_ changes: String, by origin: String = "uid 1000 (Bob)", next: Int = 7) -> String {
        """
        {"ok":true,"undo":true,"redo":true,"undoes":\(next),"redoes":\(next),"history":[\
        {"rev":8,"by":"uid 0","kind":"undo","of":6,"undone":false,"changes":[]},\
        {"rev":7,"by":"\(origin)","kind":"change","undone":false,"changes":[\(changes)]}]}
        """
    }
    private static let size = #"{"path":"Content/Text/Size","was":16,"value":32,"for":null}"#
    private static let color = ##"{"path":"Content/Text/Color","was":"#000000FF","value":"#FF8800FF","for":null}"##

    @Test(arguments: [("u", "undo"), ("U", "redo")])
    mutating func anotherUsersChangeIsOfferedAndOnlyThatOneIsUndone(_ key: String, _ verb: String) {
        harness.type(key)
        harness.answer("\(verb) mine", status: Self.nothingOwn)
        harness.answer("history 200", status: Self.history(Self.size))
        let question = "\(verb) uid 1000 (Bob)'s change of Content/Text/Size, 16 → 32, in revision 7?"
        #expect(harness.frame().text.contains(question) && harness.lines.isEmpty)
        harness.type("y")
        harness.answer("\(verb) 7", ["Content/Text/Size = 16 # was 32"], status: "ok rev 9 undid 7 by uid 1000 (Bob)")
        #expect(harness.notice == "undid 7 by uid 1000 (Bob): Content/Text/Size = 16")
    }

    @Test mutating func anyOtherKeyChangesNothing() {
        harness.type("u")
        harness.answer("undo mine", status: Self.nothingOwn)
        harness.answer("history 200", status: Self.history(Self.size))
        harness.type("u")
        #expect(harness.lines.isEmpty && harness.notice == "canceled; nothing changed")
    }

    /// Another change has come between the question and the answer.
    @Test mutating func aNewerChangeIsOfferedInTurn() {
        harness.type("u")
        harness.answer("undo mine", status: Self.nothingOwn)
        harness.answer("history 200", status: Self.history(Self.size))
        harness.type("y")
        harness.answer("undo 7", status: "error conflict the change to undo is now that of revision 9, by uid 7")
        harness.answer("history 200", status: Self.history(Self.size, next: 9))
        #expect(harness.frame().text.contains("undo the change in revision 9?"))
        harness.type("y")
        #expect(harness.lines == ["undo 9"])
    }

    /// Without one, it undoes a newer change as well.
    @Test(arguments: [
        (7, ["undo"], ""), (9, [], "the change to undo is no longer that of revision 7; nothing changed"),
    ])
    mutating func anOlderServerTakesNoRevision(_ next: Int, _ lines: [String], _ notice: String) {
        harness.type("u")
        harness.answer("undo mine", status: Self.nothingOwn)
        harness.answer("history 200", status: Self.history(Self.size))
        harness.type("y")
        harness.answer("undo 7", status: "error usage undo [mine] [force], as in: undo mine")
        harness.answer("history 200", status: Self.history(Self.size, next: next))
        #expect(harness.lines == lines && (harness.notice ?? "") == notice)
    }

    @Test(arguments: [
        (color, "undo uid 1000 (Bob)'s change of Content/Text/Color, #000000FF → #FF8800FF, in revision 7?"),
        (size + "," + color, "undo uid 1000 (Bob)'s change of Content/Text/Size, 16 → 32 and 1 more, in revision 7?"),
        (
            #"{"path":"Player/Audio/Token","was":null,"value":null,"secret":true}"#,
            "undo uid 1000 (Bob)'s change of Player/Audio/Token in revision 7?"
        ),
        ("", "undo uid 1000 (Bob)'s change in revision 7?"),
    ])
    mutating func theQuestionDescribesTheChange(_ changes: String, _ question: String) {
        harness.model.size.columns = 120
        harness.type("u")
        harness.answer("undo mine", status: Self.nothingOwn)
        harness.answer("history 200", status: Self.history(changes))
        #expect(harness.frame().text.contains(question))
    }

    @Test mutating func withoutAnyChangeNothingIsOffered() {
        harness.type("u")
        harness.answer("undo mine", status: Self.nothingOwn)
        harness.answer("history 200", status: #"{"ok":true,"undo":false,"redo":false,"history":[]}"#)
        #expect(harness.notice == "there is nothing to undo" && harness.model.mode == .browsing)
    }

    /// The question must not replace what was opened meanwhile.
    @Test mutating func anOpenPromptStays() {
        harness.type("u\r\u{15}7")
        harness.answer("undo mine", status: Self.nothingOwn)
        harness.answer("history 200", status: Self.history(Self.size))
        guard case .typing = harness.model.mode else { return #expect(Bool(false), "\(harness.model.mode)") }
        #expect(harness.notice == "there is no change of yours to undo")
    }

    @Test mutating func theQuestionIsSanitized() {
        let evil = "\\u001b[2J\\u202e\\u009b1m"
        harness.type("u")
        harness.answer("undo mine", status: Self.nothingOwn)
        let change = "{\"path\":\"A/\(evil)/B\",\"was\":\"\(evil)\",\"value\":\"\(evil)x\"}"
        harness.answer("history 200", status: Self.history(change, by: evil))
        #expect(Quoting.isSafe(harness.frame().text.replacing("\n", with: "")))
        guard case .asking(let question) = harness.model.mode else { return #expect(Bool(false), "no question") }
        #expect(Quoting.isSafe(question.text))
    }
}
