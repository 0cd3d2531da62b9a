// Tests that a search marks its matches in the text.

import Testing

@testable import tweakctl

@Suite struct SearchMarkTests {
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
