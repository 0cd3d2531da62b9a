// Tests that escaping, which handles eight bytes at a time, agrees with escaping scalar by scalar.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct QuotingTests {
    /// Escapes scalar by scalar, as in RFC 8259.
    private func plainJSON(_ text: String) -> String {
        let parts = text.unicodeScalars.map { scalar -> String in
            switch scalar {
            case "\"", "\\": return "\\\(scalar)"
            case "\n": return "\\n"
            case "\r": return "\\r"
            case "\t": return "\\t"
            default:
                if !Quoting.isUnsafe(scalar) { return String(scalar) }
                return String(scalar).utf16.map { unit in
                    let digits = String(unit, radix: 16, uppercase: true)
                    return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
                }.joined()
            }
        }
        return "\"\(parts.joined())\""
    }

    private func expectSame(_ text: String, at location: SourceLocation = #_sourceLocation) {
        #expect(Quoting.json(text).utf8.elementsEqual(plainJSON(text).utf8), "\(text)", sourceLocation: location)
        let isSafe = !text.unicodeScalars.contains(where: Quoting.isUnsafe)
        #expect(Quoting.isSafe(text) == isSafe, "\(text)", sourceLocation: location)
    }

    /// Alone, and at each position within eight bytes.
    @Test func everyScalarIsEscapedAlike() {
        for value in Array(0...0x31FF) + Array(0xFB00...0xFFFF) + Array(0xE0000...0xE1000) as [UInt32] {
            guard let scalar = Unicode.Scalar(value) else { continue }
            expectSame(String(Character(scalar)))
        }
        let invisible = "\u{AD}\u{34F}\u{3164}\u{FEFF}\u{FFA0}\u{1D173}\u{E0041}"
        let others = invisible + "\u{80}\u{9F}\u{A0}\u{61B}\u{61C}\u{200D}\u{200E}\u{2028}\u{202F}\u{2069}😀"
        for scalar in ("\u{0}\u{1F} !\"#[\\]~\u{7F}" + others).unicodeScalars {
            for (before, after) in (0..<9).flatMap({ before in [0, 7, 8, 9].map { (before, $0) } }) {
                let (head, tail) = (String(repeating: "a", count: before), String(repeating: "é", count: after))
                expectSame(head + String(Character(scalar)) + tail)
            }
        }
    }

    @Test func randomTextsAreEscapedAlike() {
        var random = SeededGenerator(seed: 13)
        let unsafe = "\t\u{1}\u{7F}\u{85}\u{61C}\u{200B}\u{200E}\u{2028}\u{202E}\u{2068}\u{E0041}"
        let pool = Array("ab\"\\\né日😀\(unsafe)".unicodeScalars)
        for _ in 0..<2_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int(random.next() % 40) { text.append(pool[Int(random.next() % UInt64(pool.count))]) }
            expectSame(String(text))
        }
    }

    /// Every scalar that Unicode calls ignorable by default, and every format character that has no form of its own.
    @Test func theListHasAllInvisibleScalars() {
        let visible: Set<UInt32> = Set([0x6DD, 0x70F, 0x890, 0x891, 0x8E2, 0x110BD, 0x110CD])
            .union(0x600...0x605).union(0x13430...0x1343F)
        for value in 0...0x10FFFF as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            let isFormat = scalar.properties.generalCategory == .format && !visible.contains(value)
            if !scalar.properties.isDefaultIgnorableCodePoint, !isFormat { continue }
            #expect(Quoting.isUnsafe(scalar), "\(String(value, radix: 16))")
        }
    }

    /// The characters that a script, an ideograph, an emoji or a flag consists of stay as they are.
    @Test(arguments: [
        "می\u{200C}خواهم", "क्\u{200D}ष", "❤\u{FE0F}", "👩\u{200D}💻", "❤\u{FE0F}\u{200D}🔥", "1\u{FE0F}\u{20E3}",
        "👩🏽\u{200D}🚀", "葛\u{E0100}", "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "ᠠ\u{180B}ᠠ",
    ])
    func neededJoinersAreVisible(_ text: String) {
        #expect(Quoting.isSafe(text) && Quoting.json(text) == "\"\(text)\"" && Quoting.sanitized(text) == text)
    }

    /// The same characters elsewhere are escaped, and read back the same.
    @Test(arguments: [
        "a\u{200C}b", "क\u{200D}", "\u{200D}क", "क\u{200D}\u{200D}ष", "a\u{FE0F}", "1\u{FE0F}", "❤\u{FE0F}\u{FE0F}",
        "👩\u{200D}", "\u{200D}👩", "a\u{200D}👩", "é\u{200D}é", "é\u{FE0F}", "a\u{E0100}", "🏴\u{E0067}", "👩\u{E0041}",
        "🏴\u{E0061}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}", "a\u{E0041}\u{E007F}", "\u{2800}", "ab\u{3164}",
        "🏴\u{E0067}\u{E0062}\u{E0065}\u{E006E}\u{E0067}\u{E007F}\u{E007F}", "a\u{180B}",
    ])
    func otherInvisibleCharactersAreEscaped(_ text: String) {
        #expect(!Quoting.isSafe(text))
        let (json, sanitized) = (Quoting.json(text), Quoting.sanitized(text))
        #expect(Quoting.isSafe(json) && json.contains("\\u") && Quoting.isSafe(sanitized))
        #expect(JSON(json)?.string?.unicodeScalars.elementsEqual(text.unicodeScalars) == true)
    }
}
