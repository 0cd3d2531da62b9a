// Tests of the key decoder and of the editor's key bindings.

import Testing

@testable import tweakctl

@Suite struct KeyTests {
    private static let table: [(String, [Key])] = [
        ("\u{1B}[A\u{1B}[B", [.up, .down]), ("\u{1B}OC\u{1B}OD", [.right, .left]),
        ("\u{1B}[1;2C\u{1B}[1;2D", [.shiftRight, .shiftLeft]), ("\u{1B}[c\u{1B}[d", [.shiftRight, .shiftLeft]),
        ("\u{1B}[1;3C\u{1B}[1;3D", [.wordRight, .wordLeft]), ("\u{1B}[1;5C", [.wordRight]),
        // Alt as an escape before the key.
        ("\u{1B}\u{1B}[C\u{1B}[C", [.wordRight, .right]), ("\u{1B}f\u{1B}b", [.wordRight, .wordLeft]),
        ("\u{1B}[5~\u{1B}[6~", [.pageUp, .pageDown]), ("\u{1B}[5;2~", [.pageUp]), ("\u{1B}[Z\t", [.shiftTab, .tab]),
        ("\u{1B}[H\u{1B}[4~\u{1B}[1~", [.home, .end, .home]),
        ("\u{1B}[200~q\r\u{1B}[201~", [.pasteBegin, .character("q"), .enter, .pasteEnd]),
        // Function keys are ignored, and their bytes are not taken for letters.
        ("\u{1B}[15~\u{1B}OP\u{1B}[[Ax", [.character("x")]), ("\u{3}\u{1A}", [.control("c"), .control("z")]),
        ("ä日", [.character("ä"), .character("日")]),
    ]

    private static func mouse(_ parameters: String, isRelease: Bool = false) throws -> tweakctl.Key {
        .mouse(try #require(MouseReport(parameters, isRelease: isRelease)))
    }

    @Test func reportsOfTheMouseAreDecoded() throws {
        let bytes = "\u{1B}[<0;7;3M\u{1B}[<32;8;3M\u{1B}[<0;8;3m\u{1B}[<64;1;1M\u{1B}[<65;1;1Mx"
        var decoder = KeyDecoder()
        let keys = bytes.utf8.flatMap { decoder.decode([$0]) }
        let expected = try [
            Self.mouse("<0;7;3"), Self.mouse("<32;8;3"), Self.mouse("<0;8;3", isRelease: true), Self.mouse("<64;1;1"),
            Self.mouse("<65;1;1"), "x",
        ]
        #expect(keys == expected)
        let press = try #require(MouseReport("<0;7;3", isRelease: false))
        #expect(press.action == .press && press.column == 6 && press.row == 2)
        // Shift, Alt and Ctrl are ignored.
        #expect(MouseReport("<28;7;3", isRelease: false) == press)
    }

    /// Other buttons, malformed reports, and those of terminals without 1006, whose bytes are no letters.
    @Test(arguments: [
        "[<1;7;3M", "[<2;7;3M", "[<35;7;3M", "[<66;7;3M", "[<0;7M", "[<;;M", "[<0;0;1M", "[<0;1;0M", "[<0;7;3;4M",
        "[<0;99999999999999M", "[<0;7;3Z", "[M qq", "[M\u{7F}\u{7F}\u{7F}", "[<999999;1;1M",
    ])
    func otherReportsAreIgnored(_ sequence: String) {
        var decoder = KeyDecoder()
        let keys = decoder.decode(("\u{1B}" + sequence + "x").utf8)
        #expect(keys.last == "x" && keys.allSatisfy { if case .mouse = $0 { false } else { true } })
        if !sequence.utf8.starts(with: "[<0;9999".utf8) { #expect(keys == ["x"]) }
    }

    @Test(arguments: table) func bytesAreKeysInAnyPieces(_ bytes: String, _ keys: [Key]) {
        var decoder = KeyDecoder()
        #expect(decoder.decode(bytes.utf8) == keys && !decoder.isUndecided)
        decoder = KeyDecoder()
        #expect(bytes.utf8.flatMap { decoder.decode([$0]) } == keys)
    }

    @Test func anEscapeWithoutASequenceIsTheEscapeKey() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1B]).isEmpty && decoder.isUndecided)
        #expect(decoder.decide() == .escape && !decoder.isUndecided)
        #expect(decoder.decode("x".utf8) == [.character("x")])
        #expect(decoder.decode([0x1B, 0x1B]).isEmpty)
        #expect(decoder.decide() == .escape)
        // An incomplete sequence is no key.
        #expect(decoder.decode("\u{1B}[1;".utf8).isEmpty && decoder.isUndecided)
        #expect(decoder.decide() == nil)
        #expect(decoder.decode("C".utf8) == [.character("C")])
        #expect(decoder.decide() == nil)
    }

    @Test(arguments: [KeyTable.browsing, KeyTable.coloring, KeyTable.presets, KeyTable.reading])
    func eachKeyHasOneBindingWithASummary(_ table: [KeyBinding]) {
        let keys = table.flatMap(\.keys)
        #expect(Set(keys).count == keys.count)
        for binding in table {
            #expect(!binding.summary.isEmpty && !binding.shown.isEmpty)
            // The mouse has no keys.
            #expect(binding.commands.isEmpty ? binding.keys.isEmpty : binding.keys.count % binding.commands.count == 0)
        }
    }

    @Test func helpNamesEveryKey() {
        for binding in KeyTable.sections.flatMap(\.bindings) {
            #expect(Page.help.contains { $0.hasPrefix("  \(binding.shown) ") && $0.hasSuffix("  \(binding.summary)") })
        }
    }
}
