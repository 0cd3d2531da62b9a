// Bytes of a keyboard to the editor's keys: whole, byte by byte, and with pauses.

import Testing

@testable import tweakctl

@Suite struct EditorKeyTests {
    private static let table: [(String, [Key])] = [
        ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OC\u{1B}OD", [.right, .left]),
        ("\u{1B}[1;2C\u{1B}[1;2D", [.shiftRight, .shiftLeft]), ("\u{1B}[c\u{1B}[d", [.shiftRight, .shiftLeft]),
        ("\u{1B}[1;3C\u{1B}[1;3D", [.wordRight, .wordLeft]), ("\u{1B}[1;5C", [.wordRight]),
        // Alt as some terminals send it.
        ("\u{1B}\u{1B}[C\u{1B}[C", [.wordRight, .right]), ("\u{1B}f\u{1B}b", [.wordRight, .wordLeft]),
        ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\u{1B}[5;2~", [.pageUp]), ("\u{1B}[Z\t", [.shiftTab, .tab]),
        ("\u{1B}[H\u{1B}[4~\u{1B}[1~", [.home, .end, .home]),
        ("\u{1B}[200~q\r\u{1B}[201~", [.pasteBegin, .character("q"), .enter, .pasteEnd]),
        // Function keys, and those of the Linux console, are no letters.
        ("\u{1B}[15~\u{1B}OP\u{1B}[[Ax", [.character("x")]), ("\u{3}\u{1A}", [.control("c"), .control("z")]),
        ("ä日", [.character("ä"), .character("日")]),
    ]

    @Test(arguments: table) func whole(_ bytes: String, _ keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(bytes.utf8) == keys)
        #expect(!decoder.isUndecided)
    }

    @Test(arguments: table) func byteByByte(_ bytes: String, _ keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(bytes.utf8.flatMap { decoder.decode([$0]) } == keys)
    }

    /// An escape alone is the Escape key, once nothing follows.
    @Test func escape() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]).isEmpty && decoder.isUndecided)
        #expect(decoder.decide() == .escape && !decoder.isUndecided)
        #expect(decoder.decode("x".utf8) == [.character("x")])
        #expect(decoder.decode([0x1B, 0x1B]).isEmpty)
        #expect(decoder.decide() == .escape)
        // Half a sequence that never goes on is nothing.
        #expect(decoder.decode("\u{1B}[1;".utf8).isEmpty && decoder.isUndecided)
        #expect(decoder.decide() == nil)
        #expect(decoder.decode("C".utf8) == [.character("C")])
        #expect(decoder.decide() == nil)
    }

    // MARK: The table

    /// No key may mean two things in one place, and each line says what it does.
    @Test(arguments: [KeyTable.browsing, KeyTable.coloring, KeyTable.presets, KeyTable.reading])
    func tableIsConsistent(_ table: [KeyBinding]) {
        let keys = table.flatMap(\.keys)
        #expect(Set(keys).count == keys.count)
        for binding in table {
            #expect(!binding.summary.isEmpty && !binding.shown.isEmpty)
            #expect(binding.keys.count % binding.deeds.count == 0)
        }
    }

    @Test func helpNamesEveryKey() {
        let help = Page.help
        for binding in KeyTable.sections.flatMap(\.bindings) {
            #expect(help.contains { $0.hasPrefix("  \(binding.shown) ") && $0.hasSuffix("  \(binding.summary)") })
        }
    }

    @Test(arguments: [
        ("Tab Shift-Tab", 20, ["Tab Shift-Tab"]), ("one two three", 8, ["one two", "three"]),
        ("日本語日本語", 4, ["日本", "語日", "本語"]), ("", 5, [""]), ("a verylongword b", 6, ["a", "verylo", "ngword", "b"]),
    ])
    func wrapping(_ text: String, _ columns: Int, _ lines: [String]) { #expect(text.wrapped(to: columns) == lines) }

    @Test(arguments: [
        ("short", 8, "short"), ("a long text", 6, "a lon…"), ("日本語", 4, "日…"),
        ("e\u{301}e\u{301}e\u{301}", 2, "e\u{301}…"),
        ("blank     ", 6, "blank"), ("x", 0, ""),
    ])
    func fitting(_ text: String, _ columns: Int, _ fitted: String) { #expect(text.fitted(to: columns) == fitted) }
}
