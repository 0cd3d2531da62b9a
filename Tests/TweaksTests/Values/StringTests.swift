// Tests which texts a String tweak accepts and refuses, and how they are printed.

import Testing

@testable import Tweaks
import TweaksTestSupport

struct StringTests {
    private let tweak = Tweak("Kind", "Of", "String", "-", registry: TweakRegistry())

    /// The text, and how it is printed: as a JSON string.
    @Test(arguments: [
        ("", #""""#), ("hello", #""hello""#), ("two words", #""two words""#), ("true", #""true""#), ("42", #""42""#),
        (#"say "hi""#, #""say \"hi\"""#), (#"back\slash"#, #""back\\slash""#), ("a/b", #""a/b""#),
        ("#F80", ##""#F80""##), ("\n", #""\n""#), ("\r", #""\r""#), ("\t", #""\t""#), ("\0", #""\u0000""#),
        ("\u{1B}[2J", #""\u001B[2J""#), ("\u{7F}", #""\u007F""#), ("\u{85}", #""\u0085""#), ("\u{2028}", #""\u2028""#),
        ("\u{2029}", #""\u2029""#), ("\u{202E}", #""\u202E""#), ("\u{2066}", #""\u2066""#), ("\u{61C}", #""\u061C""#),
        ("é", #""é""#), ("e\u{301}", "\"e\u{301}\""), ("\u{301}", "\"\u{301}\""), ("日本語", #""日本語""#),
        ("👩‍👩‍👧", #""👩‍👩‍👧""#),
    ])
    func acceptsTexts(_ text: String, _ printed: String) throws {
        try tweak.erased.set(text: text)
        #expect(tweak.value.utf8.elementsEqual(text.utf8))
        let shown = try #require(tweak.erased.value?.text)
        #expect(shown.utf8.elementsEqual(printed.utf8), "\(shown)")
        #expect(try unquoted(shown).utf8.elementsEqual(text.utf8))
    }

    /// Families and flags have several scalars, and count as one.
    @Test(arguments: [
        "hello", "👩🏽‍❤️‍💋‍👨🏿👩🏽‍❤️‍💋‍👨🏿👩🏽‍❤️‍💋‍👨🏿👩🏽‍❤️‍💋‍👨🏿👩🏽‍❤️‍💋‍👨🏿", "🏴󠁧󠁢󠁥󠁮󠁧󠁿🏴󠁧󠁢󠁳󠁣󠁴󠁿🇩🇪👨‍👩‍👧‍👦e", "e\u{301}e\u{301}e\u{301}e\u{301}e\u{301}",
        "a" + String(repeating: "\u{301}", count: 100),
    ])
    func aLimitOfCharactersCountsWhatReadersSee(_ text: String) throws {
        let short = Tweak("Kind", "Of", "Short", "", maxLength: 5, registry: TweakRegistry())
        try short.set(text)
        #expect(short.value == text)
    }

    @Test(arguments: [
        (String(repeating: "x", count: 6), "6 characters are too many; at most 5"),
        (String(repeating: "👨‍👩‍👧‍👦", count: 13), "13 characters are too many; at most 5"),
        ("a" + String(repeating: "\u{301}", count: 20_000), "40001 bytes are too many; at most 320, 64 for each of 5"),
    ])
    func aLimitOfCharactersIsALimitOfBytes(_ text: String, _ reason: String) throws {
        let short = Tweak("Kind", "Of", "Short", "", maxLength: 5, registry: TweakRegistry())
        let error = #expect(throws: TweakError.self) { try short.set(text) }
        #expect(error?.code == .outOfRange && error?.message.contains(reason) == true, "\(error?.message ?? "")")
        let huge = Tweak("Kind", "Of", "Huge", "", maxLength: .max, registry: TweakRegistry())
        try huge.set(text)
    }

    @Test func parsesWhatItPrints() throws {
        var random = SeededGenerator(seed: 5)
        for _ in 0..<500 { try expectRoundTrip(.string(random.text()), by: tweak.erased) }
    }

    @Test func unsafeCharactersAreEscaped() {
        var random = SeededGenerator(seed: 6)
        for _ in 0..<500 {
            let text = random.text()
            #expect(Quoting.isSafe(TweakValue.string(text).text) && Quoting.isSafe(Quoting.excerpt(text)))
        }
    }

    @Test(arguments: [
        TweakValue.number(1), .int(1), .bool(true), .choice("a"), .color(.black), .duration(.zero),
    ])
    func refusesValuesOfOtherKinds(_ value: TweakValue) { expectRefused(value, by: tweak.erased, .badValue) }

    @Test(arguments: [
        ("", nil), ("1234", nil), ("äöüß", nil), ("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧", nil),
        ("e\u{301}e\u{301}e\u{301}e\u{301}", nil), ("12345", TweakError.Code.outOfRange), ("     ", .outOfRange),
        ("👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧👩‍👩‍👧.", .outOfRange),
    ])
    func maxLengthCountsCharacters(_ text: String, _ code: TweakError.Code?) throws {
        let tweak = Tweak("Kind", "Of", "Short", "-", maxLength: 4, registry: TweakRegistry())
        #expect(refusal { try tweak.erased.set(text: text) }?.code == code && (tweak.value == text) == (code == nil))
    }

    @Test(arguments: [("even", nil), ("", nil), ("odd", TweakError.Code.badValue), ("longer than ten", .outOfRange)])
    func validateReturnsTheReason(_ text: String, _ code: TweakError.Code?) throws {
        let tweak = Tweak(
            "Kind", "Of", "Even", "", maxLength: 10,
            validate: { $0.count.isMultiple(of: 2) ? nil : "needs an even number\nof characters" },
            registry: TweakRegistry())
        let error = refusal { try tweak.erased.set(text: text) }
        #expect(error?.code == code && (tweak.value == text) == (code == nil))
        if code == .badValue { #expect(error?.message == "Kind/Of/Even: needs an even number\u{FFFD}of characters") }
    }

    /// Under the registry's lock this would not return.
    @Test func validateMayReadAndSetTweaks() throws {
        let registry = TweakRegistry()
        let limit = Tweak("Kind", "Of", "Limit", 3, registry: registry)
        let tweak = Tweak(
            "Kind", "Of", "Text", "",
            validate: { text in
                limit.value += 1
                return text.count <= limit.value ? nil : "too long"
            }, registry: registry)
        try tweak.set("1234")
        #expect(tweak.value == "1234")
    }
}
