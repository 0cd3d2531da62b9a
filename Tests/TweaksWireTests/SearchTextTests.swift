// Tests the folding of text for searches, compared with Foundation's.

import Foundation
import Testing
import TweaksWire

@Suite struct SearchTextTests {
    private func foundation(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }

    /// Latin, Greek, Cyrillic, wide ASCII, narrow Katakana, and letters and marks between them.
    @Test(arguments: [0x20...0x1CFF, 0x1D00...0x2000, 0x3040...0x30FF, 0xFF01...0xFF9D])
    func lettersAreFoldedAsByFoundation(_ letters: ClosedRange<UInt32>) {
        for letter in letters.compactMap({ Unicode.Scalar($0) }).map({ String($0) }) where letter.isLetter {
            // Ligatures, and a letter that is newer than the tables of some Foundations.
            if ["ŉ", "ẚ", "և", "\u{1C89}"].contains(letter) { continue }
            // A mark belongs to the letter before it; Foundation keeps some marks.
            if letter.unicodeScalars.contains(where: \.properties.isGraphemeExtend) {
                #expect(SearchText.folded("e" + letter) == "e" && SearchText.folded(letter) == "", "\(letter)")
                continue
            }
            #expect(SearchText.folded(letter) == foundation(letter), "\(letter)")
        }
    }

    @Test func newLettersAreLoweredAsByTheStandardLibrary() {
        #expect(SearchText.folded("\u{1C89}") == "\u{1C89}".lowercased())
        #expect(SearchText.folded("\u{1C89}") == SearchText.folded("\u{1C8A}") || "\u{1C89}".lowercased() == "\u{1C89}")
    }

    @Test(arguments: [
        ("Größe", "grosse"), ("GRÖẞE", "grosse"), ("Cafe\u{301}", "cafe"), ("Ｓｉｚｅ", "size"), ("Ångström", "angstrom"),
        ("Ёлка", "елка"), ("日本", "日本"), ("", ""), ("Tiến", "tien"),
    ])
    func wordsAreFolded(_ text: String, _ folded: String) { #expect(SearchText.folded(text) == folded) }
}

extension String {
    fileprivate var isLetter: Bool { allSatisfy { $0.isLetter } }
}
