// Tests names that look the same: in another normalization, with invisible characters, or in another alphabet.

import Testing

@testable import Tweaks

struct LookAlikeTests {
    private let registry = TweakRegistry()

    @Test(arguments: [("Caf\u{E9}", "Cafe\u{301}"), ("Cafe\u{301}", "Caf\u{E9}")])
    func oneNameInTwoNormalizationsIsOneTweak(_ first: String, _ second: String) throws {
        let one = try registry.register("Menu", first, "Size", 1)
        let other = try registry.register("Menu", second, "Size", 1)
        other.value = 7
        #expect(one.value == 7)
        #expect(registry.categories.flatMap(\.collections).flatMap(\.tweaks).map(\.path) == [one.path])
        #expect(registry.conflicts.map(\.differences) == ["the name, in another Unicode normalization"])
        // Also a terminal's or a file name's text, which may be normalized, finds it.
        for text in [first, second] { #expect(registry["Menu/\(text)/Size"]?.path == one.path) }
        #expect(registry["Menu/Cafe/Size"] == nil && registry.remove(other.path))
        #expect(registry["Menu/\(first)/Size"] == nil)
    }

    @Test(arguments: [
        ("Si\u{200B}ze", "U+200B"), ("Size\u{FEFF}", "U+FEFF"), ("\u{2060}Size", "U+2060"), ("Si\u{AD}ze", "U+00AD"),
        ("Si\u{200D}ze", "U+200D"), ("Size\u{FE0F}", "U+FE0F"), ("\u{3164}", "U+3164"), ("a\u{E0041}", "U+E0041"),
        ("é\u{200D}", "U+200D"), ("é\u{E0041}", "U+E0041"), ("Si\u{202E}ze", "U+202E"), ("\u{2800}", "U+2800"),
    ])
    func invisibleCharactersAreRefused(_ name: String, _ codePoint: String) {
        let error = refusal { _ = try registry.register("Label", "Text", name, 1) }
        #expect(error?.code == .usage)
        #expect(error?.message.contains("contains \(codePoint), which is invisible; remove it") == true)
        #expect(registry.categories.isEmpty)
    }

    /// Persian uses ZWNJ, Hindi ZWJ, and emoji consist of several scalars.
    @Test(arguments: [
        ["می\u{200C}خواهم"], ["क्\u{200D}ष"], ["❤\u{FE0F} Rate"], ["👩\u{200D}💻"], ["1\u{FE0F}\u{20E3}"],
        ["Größe", "Grosse", "размер", "Размер", "size", "Size", "尺寸"],
    ])
    func joinersThatScriptsNeedAndNamesThatLookDifferentAreAccepted(_ names: [String]) throws {
        for name in names { _ = try registry.register("Label", "Text", name, 1) }
        #expect(registry.conflicts.isEmpty)
    }

    @Test(arguments: [
        ("Size", "\u{405}ize", "U+0405 for U+0053 at character 12"),
        ("Rate", "R\u{430}te", "U+0430 for U+0061 at character 13"),
        ("Top Left", "Top\u{A0}Left", "U+00A0 for U+0020 at character 15"),
        ("A-B", "A\u{2013}B", "U+2013 for U+002D at character 13"),
        ("Ν\u{3BF}", "Ν\u{43E}", "U+043E for U+03BF at character 13"),
        ("ABC", "\u{FF21}BC", "U+FF21 for U+0041 at character 12"),
    ])
    func lookAlikesAreListedOnceAndStayTwoTweaks(_ first: String, _ second: String, _ differences: String) throws {
        let one = try registry.register("Label", "Text", first, 1)
        let other = try registry.register("Label", "Text", second, 1)
        other.value = 7
        #expect(one.value == 1)
        let conflict = try #require(registry.conflicts.first)
        #expect(conflict.lookAlike == one.path && conflict.path == other.path && conflict.differences == differences)
        #expect("\(conflict)".contains("looks like") && "\(conflict)".contains("rename one of them"))
        for name in [first, second] { _ = try registry.register("Label", "Text", name, 1) }
        #expect(registry.conflicts.count == 1)
    }
}
