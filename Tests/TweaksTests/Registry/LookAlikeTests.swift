// Names that cannot be told apart: one in two normalizations, with what does not show, or in another alphabet.

import Testing

@testable import Tweaks

struct LookAlikeTests {
    private let registry = TweakRegistry()

    private static let composed = "Caf\u{E9}"
    private static let decomposed = "Cafe\u{301}"

    @Test(arguments: [(composed, decomposed), (decomposed, composed)])
    func oneNameInTwoNormalizationsIsOneTweak(_ first: String, _ second: String) throws {
        let one = try registry.register("Menu", first, "Size", 1)
        let other = try registry.register("Menu", second, "Size", 1)
        other.value = 7
        #expect(one.value == 7)
        #expect(registry.categories.flatMap(\.collections).flatMap(\.tweaks).map(\.path) == [one.path])
        #expect(registry.conflicts.map(\.differences) == ["the name, in another Unicode normalization"])
        // Asked for by text, of a terminal or a file name that normalizes, it is the same one, too.
        for text in [first, second] { #expect(registry["Menu/\(text)/Size"]?.path == one.path) }
        #expect(registry["Menu/Cafe/Size"] == nil)
        #expect(registry.remove(other.path))
        #expect(registry["Menu/\(first)/Size"] == nil)
    }

    @Test(arguments: [
        ("Si\u{200B}ze", "U+200B"), ("Size\u{FEFF}", "U+FEFF"), ("\u{2060}Size", "U+2060"), ("Si\u{AD}ze", "U+00AD"),
        ("Si\u{200D}ze", "U+200D"), ("Size\u{FE0F}", "U+FE0F"), ("\u{3164}", "U+3164"), ("a\u{E0041}", "U+E0041"),
    ])
    func whatDoesNotShowIsRefused(_ name: String, _ codePoint: String) {
        let error = refusal { _ = try registry.register("Label", "Text", name, 1) }
        #expect(error?.code == .usage)
        #expect(error?.message.contains("holds \(codePoint), which does not show; take it out") == true)
        #expect(registry.categories.isEmpty)
    }

    /// Persian joins with ZWNJ, Hindi with ZWJ, and emoji are made of several scalars.
    @Test(arguments: ["می\u{200C}خواهم", "क्\u{200D}ष", "❤\u{FE0F} Rate", "👩\u{200D}💻", "1\u{FE0F}\u{20E3}", "Größe"])
    func whatScriptsNeedIsTaken(_ name: String) throws {
        _ = try registry.register("Label", "Text", name, 1)
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
    func lookAlikesAreListed(_ first: String, _ second: String, _ differences: String) throws {
        let one = try registry.register("Label", "Text", first, 1)
        let other = try registry.register("Label", "Text", second, 1)
        other.value = 7
        #expect(one.value == 1)
        let conflict = try #require(registry.conflicts.first)
        #expect(conflict.lookAlike == one.path && conflict.path == other.path && conflict.differences == differences)
        #expect("\(conflict)".contains("looks like") && "\(conflict)".contains("rename one of them"))
        // Asked once more they are no news.
        _ = try registry.register("Label", "Text", first, 1)
        _ = try registry.register("Label", "Text", second, 1)
        #expect(registry.conflicts.count == 1)
    }

    @Test func differentNamesAreNoLookAlikes() throws {
        for name in ["Größe", "Grosse", "размер", "Размер", "size", "Size", "尺寸"] {
            _ = try registry.register("Label", "Text", name, 1)
        }
        #expect(registry.conflicts.isEmpty)
    }
}
