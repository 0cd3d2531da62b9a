// Tests which display names are valid and how an origin shows them.

import Testing
import Tweaks

@Suite struct PersonNameTests {
    @Test(arguments: [
        "Ada", "Ada Lovelace", "Zoë", "李", "O'Hara", "a/b", "#1", "\"x\"", String(repeating: "x", count: 40), "🙂",
    ]) func visibleCharactersAreAccepted(_ text: String) throws {
        let name = try DisplayName("  \(text) ")
        #expect(name.text == text)
        let origin = TweakOrigin.user(1000).named(name)
        #expect(origin.description == "uid 1000 (\(text))" && origin.name == text && origin.identity == "uid 1000")
    }

    @Test(arguments: [
        "", "   ", "a(b", "a)", "root) (uid 0", "a（b）", "[x]", "a\nb", "a\tb", "a\u{202E}b", "a\u{2066}b", "a\u{200B}b",
        "a\u{2028}b", "\u{E000}", String(repeating: "x", count: 41), "a\u{AD}b",
        "Ada\u{FE0F}", "A\u{34F}da", "\u{3164}", "\u{115F}",
        "\u{FFA0}", "\u{2800}", "Ada\u{E0041}", "Ada\u{E0100}", "A\u{200D}da", "A\u{200C}da",
        "Ada\u{FEFF}", "\u{2060}Ada", "A\u{180B}", "\u{301}", "\u{17B4}",
    ]) func otherNamesAreRefused(_ text: String) {
        #expect(throws: TweakError.self) { try DisplayName(text) }
    }

    @Test func anotherNameReplacesTheFirst() throws {
        let connection = TweakConnection(transport: "tcp", peer: "127.0.0.1:9")
        let plain = TweakOrigin("panel").through(connection)
        let ada = plain.named(try DisplayName("Ada"))
        #expect(ada != plain && ada.connection?.peer == "127.0.0.1:9")
        #expect(ada.named(try DisplayName("Bob")).description == "panel (Bob)")
        #expect(ada.named(nil) == plain && ada.named(nil).name == nil)
    }
}
