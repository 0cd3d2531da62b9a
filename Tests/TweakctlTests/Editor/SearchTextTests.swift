// Folding for the search, compared with what the server's find does.

import Foundation
import Testing
import Tweaks

@testable import tweakctl

@Suite struct SearchTextTests {
    private func foundation(_ text: String) -> String {
        text.folding(options: [.caseInsensitive, .diacriticInsensitive, .widthInsensitive], locale: nil)
    }

    /// Letters of Latin, Greek and Cyrillic, and wide ASCII.
    @Test(arguments: [
        0x20...0x17F, 0x218...0x21B, 0x1EA0...0x1EF9, 0x391...0x3A1, 0x3AC...0x3CE, 0x400...0x45F, 0xFF01...0xFF5E,
    ])
    func foldsAsTheServer(_ letters: ClosedRange<UInt32>) {
        for letter in letters.compactMap({ Unicode.Scalar($0) }).map({ String($0) }) where letter.isLetter {
            // A letter and an apostrophe in one, which nobody types.
            if letter == "ŉ" { continue }
            #expect(SearchText.folded(letter) == foundation(letter), "\(letter)")
        }
    }

    @Test(arguments: [
        ("Größe", "grosse"), ("GRÖẞE", "grosse"), ("Cafe\u{301}", "cafe"), ("Ｓｉｚｅ", "size"), ("Ångström", "angstrom"),
        ("Ёлка", "елка"), ("日本", "日本"), ("", ""), ("Tiến", "tien"),
    ])
    func folds(_ text: String, _ folded: String) {
        #expect(SearchText.folded(text) == folded)
    }

    private static let marked: [(String, String, Set<Int>)] = [
        ("grosse", "A/Größe", [2, 3, 4, 5, 6]), ("cafe", "Café/X/Y", [0, 1, 2, 3]), ("MÜT", "Mute", [0, 1, 2]),
        ("s", "ß", [0]),
        ("zzz", "Größe", []),
    ]

    /// What was found is marked where it stands, though it was typed without marks.
    @Test(arguments: marked)
    func marks(_ search: String, _ text: String, _ places: Set<Int>) {
        #expect(EditorScreen.matches(of: search, in: text) == places)
    }
}

extension String {
    fileprivate var isLetter: Bool { allSatisfy { $0.isLetter } }
}
