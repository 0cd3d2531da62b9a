// Keys and what they do to a line; Tab and what it makes of candidates; the history's file.

import Foundation
import Testing
import TweaksTerminal
import TweaksTestSupport

@testable import tweakctl

@Suite struct LineEditorTests {
    /// Types bytes, and returns the line with `|` where the cursor is.
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
    func keys(_ bytes: String, _ line: String) { #expect(typed(bytes) == line) }

    @Test func olderLines() {
        let history = ["one", "two"]
        #expect(typed("new\u{1B}[A", history: history) == "two|")
        #expect(typed("new\u{10}\u{10}\u{10}", history: history) == "one|")
        #expect(typed("new\u{1B}[A\u{1B}[A\u{1B}[B\u{1B}[B\u{1B}[B!", history: history) == "new!|")
    }

    @Test func outcomes() {
        var editor = LineEditor()
        #expect(editor.handle(.control("d")) == .quit)
        #expect(editor.handle(.character("x")) == .edited)
        #expect(editor.handle(.control("d")) == .edited)
        #expect(editor.handle(.control("c")) == .discard)
        #expect(editor.handle(.tab) == .complete)
        #expect(editor.handle(.enter) == .submit)
        #expect(editor.handle(.control("z")) == .suspend)
    }

    /// Bytes in any pieces and any order leave a line and a cursor that fit together.
    @Test(arguments: 0..<50) func nonsense(_ seed: UInt64) {
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

    @Test func longLines() {
        var editor = LineEditor()
        for character in "0123456789" { _ = editor.handle(.character(character)) }
        #expect(editor.visible(columns: 20) == ("0123456789", 10))
        #expect(editor.visible(columns: 5) == ("6789", 4))
        _ = editor.handle(.home)
        #expect(editor.visible(columns: 5) == ("0123", 0))
    }

    // MARK: Tab

    @Test(
        arguments: [
            ("ge", ["get"], "get "), ("set Con", ["Content/"], "Content/"), ("x", [], nil),
            ("set Content/Text/S", ["Content/Text/Size", "Content/Text/String"], nil),
            ("set Content/Text/Si", ["Content/Text/Size", "Content/Text/Sizes"], "Content/Text/Size"),
            ("set Content/Text/F", ["Content/Text/Fade", "\"Content/Text/Font Name\""], nil),
            ("set A/B/F", ["\"A/B/Font Name\"", "\"A/B/Font Size\""], "\"A/B/Font "),
            ("set A/B/F", ["\"A/B/Font Name\""], "\"A/B/Font Name\" "),
        ] as [(String, [String], String?)])
    func replacements(_ text: String, _ candidates: [String], _ replacement: String?) {
        #expect(Completion(text).replacement(candidates) == replacement)
    }

    @Test(arguments: [
        ("", 0, "", "complete \"\""), ("set Co", 4, "Co", "complete \"set Co\""),
        ("set \"A/B C", 4, "A/B C", "complete \"set A/B C\""),
        ("set \"A/B C\" 5", 12, "5", "complete \"set \\\"A/B C\\\" 5\""),
    ])
    func words(_ text: String, _ start: Int, _ word: String, _ request: String) {
        let completion = Completion(text)
        #expect(completion.start == start && completion.word == word && completion.request == request)
    }

    @Test func columns() {
        #expect(Completion.table(["a", "bbb", "cc"], columns: 10) == ["a    bbb", "cc"])
        #expect(Completion.table(["long candidate"], columns: 3) == ["long candidate"])
        #expect(Completion.table([], columns: 80) == [])
    }

    // MARK: History

    @Test func historyIsKept() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("state/tweakctl/history")
        var history = History(path: path)
        history.add("one", inFile: true)
        history.add("one", inFile: true)
        history.add("secret", inFile: false)
        history.add("two", inFile: true)
        #expect(history.lines == ["one", "secret", "two"])
        #expect(History(path: path).lines == ["one", "two"])
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test func historyIsBounded() throws {
        let directory = try TemporaryDirectory()
        let path = directory.file("history")
        let text = (0..<2_500).map { "line \($0)\n" }.joined()
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(History(path: path).lines.count == History.limit)
        let kept = try String(contentsOfFile: path, encoding: .utf8)
        #expect(kept.splitLines().count == History.limit + 1 && kept.hasPrefix("line 1500\n"))
    }

    @Test func historyIsNeverAnothersFile() throws {
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
        ("set A/B/Token hunter2", ["A/B/Token = (set) # was (unset)"], false),
        ("A/B/Token = hunter2", ["A/B/Token = (set) # was (unset)"], false),
        // Unchanged, or queued: nothing says whether it is a secret.
        ("A/B/Token = hunter2", [], false), ("check A/B/Token hunter2", [], false),
    ])
    func secretsStayOut(_ line: String, _ body: [String], _ isKept: Bool) {
        #expect(Repl.isWorthKeeping(line, Answer(body: body, status: "ok", isRefusal: false)) == isKept)
    }

    @Test func refusedValuesStayOut() {
        let answer = Answer(body: [], status: "error bad-value A/B/Token: too long", isRefusal: true)
        #expect(!Repl.isWorthKeeping("set A/B/Token hunter2", answer))
        #expect(Repl.isWorthKeeping("get A/B/Tokn", answer))
        for slip in [
            "A/B/Token=hunter2", "A/B/Token hunter2", "Set A/B/Token hunter2", "A/B/Token = \"hunter2", "\"get\" x",
        ] {
            #expect(!Repl.isWorthKeeping(slip, answer), "\(slip)")
        }
    }
}
