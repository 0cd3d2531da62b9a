// “Did you mean”: what is near, and what is not.

import Testing

@testable import Tweaks

struct SpellingTests {
    private static let words = ["Size", "Colour", "Alignment", "Speed", "set", "reset", "describe", "explain"]

    @Test(arguments: [
        ("Size", "Size"), ("size", "Size"), ("Szie", "Size"), ("Sice", "Size"), ("Sizee", "Size"), ("Siz", "Size"),
        ("Color", "Colour"), ("Clolour", "Colour"), ("Alinement", "Alignment"), ("Algnmnt", "Alignment"),
        ("sat", "set"), ("rest", "reset"), ("descibe", "describe"), ("DESCRIBE", "describe"), ("explane", "explain"),
    ])
    func finds(_ word: String, _ wanted: String) {
        #expect(Spelling.nearest(to: word, among: Self.words) == wanted)
    }

    @Test(arguments: ["", "x", "zz", "Temperature", "qqqq", "Sxxx", "xyzzyxyzzy", "set something else entirely"])
    func findsNothing(_ word: String) {
        #expect(Spelling.nearest(to: word, among: Self.words) == nil)
    }

    @Test func theNearestWins() {
        #expect(Spelling.nearest(to: "abcdef", among: ["abcxxf", "abcdxf", "abcdeff"]) == "abcdxf")
        #expect(Spelling.nearest(to: "abcdef", among: ["abcdxf", "ABCDEF"]) == "ABCDEF")
        #expect(Spelling.nearest(to: "abcdef", among: []) == nil)
    }

    @Test func aWordIsNeverReplacedWhole() {
        #expect(Spelling.nearest(to: "x", among: ["y"]) == nil)
        #expect(Spelling.nearest(to: "", among: ["y"]) == nil)
        #expect(Spelling.nearest(to: "xy", among: ["ab"]) == nil)
    }

    @Test func longWordsCostLittle() {
        // Quadratic in what is compared, so what is compared is bounded.
        let long = String(repeating: "a", count: 1_000_000)
        #expect(Spelling.nearest(to: long, among: ["a", String(repeating: "a", count: 200)])?.count == 200)
    }

    @Test(arguments: [
        ("Content/Text/Szie", "Content/Text/Size"), ("Contnet/Text/Size", "Content/Text/Size"),
        ("content/text/size", "Content/Text/Size"), ("Size", "Content/Text/Size"), ("Text/Size", "Content/Text/Size"),
        ("Motion/Ball/Sped", "Motion/Ball/Speed"),
    ])
    func unknownTweaksSuggestAPath(_ text: String, _ wanted: String) {
        let registry = TweakRegistry()
        _ = Tweak("Content", "Text", "Size", 1, registry: registry)
        _ = Tweak("Content", "Text", "Colour", 1, registry: registry)
        _ = Tweak("Motion", "Ball", "Speed", 1, registry: registry)
        let error = refusal { try registry.commit(origin: .code) { $0.set(text, .int(1)) } }
        #expect(error?.code == .unknownTweak)
        #expect(error?.message == "there is no tweak “\(text)”; did you mean \(wanted)?")
    }
}
