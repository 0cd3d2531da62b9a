// Tests of the search through the history at the prompt.

import Testing
import Tweaks
import TweaksTestSupport

@testable import tweakctl

@Suite struct HistorySearchTests {
    private static let history = ["get A", "set A 1", "get B", "set B 2", "set ä 3"]

    /// The line after some keys, with `|` at the cursor, and with the prompt while the search lasts.
    private func shown(_ keys: String, _ history: [String] = Self.history) -> String {
        var (decoder, editor) = (KeyDecoder(), LineEditor(history: history))
        for character in keys {
            if character == "␛" {
                _ = editor.handle(.escape)
            } else {
                for key in decoder.decode(String(character).utf8) { _ = editor.handle(key) }
            }
        }
        var text = Array(editor.text)
        text.insert("|", at: editor.cursor)
        return (editor.search?.prompt ?? "") + String(text)
    }

    /// ⌃ stands for Ctrl, ⌫ for Backspace, and the arrows for themselves.
    private static func bytes(_ keys: String) -> String {
        let names: [(String, String)] = [
            ("⌃R", "\u{12}"), ("⌃S", "\u{13}"), ("⌃G", "\u{7}"), ("⌃N", "\u{E}"), ("⌫", "\u{7F}"), ("↑", "\u{1B}[A"),
            ("←", "\u{1B}[D"),
        ]
        return names.reduce(keys) { $0.replacing($1.0, with: $1.1) }
    }

    @Test(arguments: [
        ("⌃R", "search '': |"), ("⌃Rset", "search 'set': |set ä 3"), ("⌃Rset⌃R", "search 'set': |set B 2"),
        ("⌃Rset⌃R⌃R", "search 'set': |set A 1"),
        // The search goes on from the line that was found.
        ("⌃Rs B", "not found 's B': |set ä 3"), ("⌃Rt B", "search 't B': se|t B 2"),
        ("⌃Rt B⌃R", "search 't B': ge|t B"),
        // At the end the last line stays, and the search goes on in the other direction.
        ("⌃Rge⌃R⌃R", "not found 'ge': |get A"), ("⌃Rge⌃R⌃S", "search 'ge': |get B"),
        ("⌃Rge⌃S", "not found 'ge': |get B"),
        // Backspace searches for the shorter text again.
        ("⌃Rsetx⌫", "search 'set': |set ä 3"), ("⌃Rx⌫", "search '': |"), ("⌃R⌫⌫", "search '': |"),
        // Escape and the arrows keep the line; Ctrl-G restores the one before.
        ("⌃RA 1␛", "set |A 1"), ("⌃RA 1␛!", "set !|A 1"), ("⌃RA 1←", "set| A 1"), ("⌃RA 1↑", "get A|"),
        ("draft←⌃Rset⌃G", "draf|t"), ("⌃Rset⌃G↑", "set ä 3|"), ("draft⌃RA 1␛⌃N⌃N⌃N⌃N", "draft|"),
        ("⌃Rä", "search 'ä': set |ä 3"),
    ])
    func keysSearchTheHistory(_ keys: String, _ line: String) { #expect(shown(Self.bytes(keys)) == line) }

    @Test func withoutAHistoryThereIsNothingToSearch() { #expect(shown("ab\u{12}c", []) == "abc|") }

    @Test func enterRunsTheLineAndControlCDiscardsIt() {
        var editor = LineEditor(history: Self.history)
        for key: tweakctl.Key in [.control("r"), "A", " ", "1"] { #expect(editor.handle(key) == .edited) }
        var other = editor
        #expect(editor.handle(.enter) == .submit && editor.text == "set A 1" && editor.search == nil)
        #expect(other.handle(.control("c")) == .discard)
    }

    @Test(arguments: 0..<20) func anyKeysKeepTheCursorInTheLine(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let keys: [tweakctl.Key] = [
            .control("r"), .control("s"), .control("g"), .backspace, .escape, .up, .down, .left, "s", "e", "A", " ",
            "ä",
        ]
        var editor = LineEditor(history: Self.history)
        for _ in 0..<500 {
            _ = editor.handle(keys.randomElement(using: &random) ?? .escape)
            #expect((0...editor.characters.count).contains(editor.cursor))
            #expect((0...Self.history.count).contains(editor.position))
        }
    }
}
