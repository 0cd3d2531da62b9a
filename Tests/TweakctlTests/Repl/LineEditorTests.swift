// Tests of the line editor: keys, completion with Tab, and the history file.

import Foundation
import Testing
import Tweaks
import TweaksSystem
import TweaksTestSupport

@testable import tweakctl

@Suite struct LineEditorTests {
    /// Types bytes, and returns the line with `|` at the cursor.
    private func typed(_ bytes: String, history: [String] = []) -> String {
        var (decoder, editor) = (KeyDecoder(), LineEditor(history: history))
        for key in decoder.decode(bytes.utf8) { _ = editor.handle(key) }
        var text = Array(editor.text)
        text.insert("|", at: editor.cursor)
        return String(text)
    }

    @Test(arguments: [
        ("abc", "abc|"), ("abc\u{1B}[D\u{1B}[Dx", "ax|bc"), ("abc\u{1}x", "x|abc"), ("abc\u{1B}[Hx\u{1B}[Fy", "xabcy|"),
        ("abc\u{1B}OH\u{B}", "|"), ("ab cd\u{17}", "ab |"), ("ab cd  \u{17}x", "ab x|"), ("abc\u{15}d", "d|"),
        ("abc\u{15}\u{19}\u{19}", "abcabc|"), ("ab\u{7F}c", "ac|"), ("\u{7F}", "|"), ("abc\u{1}\u{1B}[3~", "|bc"),
        ("abc\u{1}\u{4}", "|bc"), ("ab cd\u{1B}[1;5Dx", "ab x|cd"), ("ab cd\u{1}\u{1B}fx", "abx| cd"),
        ("äö日\u{1B}[D\u{7F}", "ä|日"), ("e\u{301}x\u{1B}[D\u{7F}", "|x"), ("a\u{1B}[99;99;99Zb", "ab|"),
        ("a\u{1B}\u{1B}[Db", "b|a"), ("a\u{1B}xb", "ab|"), ("a\u{0}\u{1C}b", "ab|"), ("a\u{9B}b", "ab|"),
    ])
    func keysEditTheLine(_ bytes: String, _ line: String) { #expect(typed(bytes) == line) }

    @Test(arguments: [
        ("new\u{1B}[A", "two|"), ("new\u{10}\u{10}\u{10}", "one|"),
        ("new\u{1B}[A\u{1B}[A\u{1B}[B\u{1B}[B\u{1B}[B!", "new!|"),
    ])
    func upAndDownRecallTheHistory(_ bytes: String, _ line: String) {
        #expect(typed(bytes, history: ["one", "two"]) == line)
    }

    @Test func someKeysAreForTheCaller() {
        var editor = LineEditor()
        let keys: [tweakctl.Key] = [
            .control("d"), .character("x"), .control("d"), .control("c"), .tab, .enter, .control("z"),
        ]
        #expect(keys.map { editor.handle($0) } == [.quit, .edited, .edited, .discard, .complete, .submit, .suspend])
    }

    @Test(arguments: 0..<50) func anyBytesKeepTheCursorInTheLine(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let interesting: [UInt8] = [0x1B, 0x5B, 0x4F, 0x44, 0x7F, 0xC3, 0xA4, 0xCC, 0x81, 0xF0, 0x9F, 0x20, 0x17, 0x41]
        var (decoder, editor) = (KeyDecoder(), LineEditor(history: ["a", "b c"]))
        for _ in 0..<500 {
            let byte = Bool.random(using: &random) ? interesting.randomElement(using: &random) : nil
            for key in decoder.decode([byte ?? .random(in: 0...255, using: &random)]) { _ = editor.handle(key) }
            let columns = Int.random(in: -3...20, using: &random)
            let visible = editor.visible(columns: columns)
            #expect(visible.cursor >= 0 && TextWidth.of(visible.text) < max(columns, 1))
            #expect(visible.cursor < max(columns, 1) && editor.textBeforeCursor.count <= editor.text.count)
        }
    }

    @Test func aLongLineScrollsWithTheCursor() {
        var editor = LineEditor()
        for character in "0123456789" { _ = editor.handle(.character(character)) }
        #expect(editor.visible(columns: 20) == ("0123456789", 10))
        #expect(editor.visible(columns: 5) == ("6789", 4))
        _ = editor.handle(.home)
        #expect(editor.visible(columns: 5) == ("0123", 0))
    }

    @Test(
        arguments: [
            ("ge", ["get"], "get "), ("set Con", ["Content/"], "Content/"), ("x", [], nil),
            ("set Content/Text/S", ["Content/Text/Size", "Content/Text/String"], nil),
            ("set Content/Text/Si", ["Content/Text/Size", "Content/Text/Sizes"], "Content/Text/Size"),
            ("set Content/Text/F", ["Content/Text/Fade", "\"Content/Text/Font Name\""], nil),
            ("set A/B/F", ["\"A/B/Font Name\"", "\"A/B/Font Size\""], "\"A/B/Font "),
            ("set A/B/F", ["\"A/B/Font Name\""], "\"A/B/Font Name\" "),
        ] as [(String, [String], String?)])
    func candidatesReplaceTheWord(_ text: String, _ candidates: [String], _ replacement: String?) {
        #expect(Completion(text).replacement(candidates) == replacement)
    }

    @Test(arguments: [
        ("", 0, "", "complete \"\""), ("set Co", 4, "Co", "complete \"set Co\""),
        ("set \"A/B C", 4, "A/B C", "complete \"set A/B C\""),
        ("set \"A/B C\" 5", 12, "5", "complete \"set \\\"A/B C\\\" 5\""),
    ])
    func theWordBeforeTheCursorIsCompleted(_ text: String, _ start: Int, _ word: String, _ request: String) {
        let completion = Completion(text)
        #expect(completion.start == start && completion.word == word && completion.request == request)
    }

    @Test func candidatesAreListedInColumns() {
        #expect(Completion.table(["a", "bbb", "cc"], columns: 10) == ["a    bbb", "cc"])
        #expect(Completion.table(["long candidate"], columns: 3) == ["long candidate"])
        #expect(Completion.table([], columns: 80) == [])
    }

    @Test func theHistoryIsSavedInAPrivateFile() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("state/tweakctl/history")
        var history = History(path: path)
        for line in ["one", "one", "secret", "two"] { history.add(line, inFile: line != "secret") }
        #expect(history.lines == ["one", "secret", "two"])
        #expect(History(path: path).lines == ["one", "two"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func theHistoryKeepsItsNewestLines() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("history")
        let text = (0..<2_500).map { "line \($0)\n" }.joined()
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(History(path: path).lines.count == History.limit)
        let kept = try String(contentsOfFile: path, encoding: .utf8)
        #expect(kept.splitLines().count == History.limit + 1 && kept.hasPrefix("line 1500\n"))
    }

    @Test func theHistoryIsNotWrittenThroughALink() throws {
        let directory = try TemporaryDirectory()
        try "precious\n".write(toFile: directory.file("other"), atomically: true, encoding: .utf8)
        try FileManager.default.createSymbolicLink(atPath: directory.file("history"), withDestinationPath: "other")
        var history = History(path: directory.file("history"))
        history.add("one", inFile: true)
        #expect(history.lines == ["one"])
        #expect(try String(contentsOfFile: directory.file("other"), encoding: .utf8) == "precious\n")
    }

    @Test(arguments: [
        ("get *", [], true), ("set A/B/C 5", ["A/B/C = 5 # was 3"], true), (" get *", [], false),
        ("set A/B/Token hunter2", ["A/B/Token = (gesetzt) # war leer"], false),
        ("A/B/Token = hunter2", ["A/B/Token = (gesetzt) # war leer"], false),
        // Unchanged, or queued: the reply does not show whether it is a secret.
        ("A/B/Token = hunter2", [], false), ("check A/B/Token hunter2", [], false),
    ])
    func linesThatMayHoldSecretsAreNotSaved(_ line: String, _ body: [String], _ isKept: Bool) {
        let fields = body.first?.contains("Token") == true ? ",\"set\":true" : ""
        let tweaks = JSON("{\"tweaks\":[\(body.isEmpty ? "" : "{\"path\":\"A/B/C\"\(fields)}")]}")
        #expect(Repl.isStorable(line, Answer(body: body, status: "ok", isRefusal: false, fields: tweaks)) == isKept)
        // An older server does not say which values are secret.
        let isRead = line == "get *"
        #expect(Repl.isStorable(line, Answer(body: body, status: "ok", isRefusal: false)) == isRead)
    }

    @Test func refusedValuesAreNotSaved() {
        let answer = Answer(body: [], status: "error bad-value A/B/Token: too long", isRefusal: true)
        #expect(!Repl.isStorable("set A/B/Token hunter2", answer))
        #expect(Repl.isStorable("get A/B/Tokn", answer))
        for slip in [
            "A/B/Token=hunter2", "A/B/Token hunter2", "Set A/B/Token hunter2", "A/B/Token = \"hunter2", "\"get\" x",
        ] {
            #expect(!Repl.isStorable(slip, answer), "\(slip)")
        }
    }
}
