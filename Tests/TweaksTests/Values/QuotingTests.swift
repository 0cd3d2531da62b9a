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
                let digits = String(scalar.value, radix: 16, uppercase: true)
                return "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
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
        for value in 0...0x3000 as ClosedRange<UInt32> {
            guard let scalar = Unicode.Scalar(value) else { continue }
            expectSame(String(Character(scalar)))
        }
        let others = "\u{80}\u{9F}\u{A0}\u{61B}\u{61C}\u{200D}\u{200E}\u{2028}\u{202F}\u{2069}😀"
        for scalar in ("\u{0}\u{1F} !\"#[\\]~\u{7F}" + others).unicodeScalars {
            for (before, after) in (0..<9).flatMap({ before in [0, 7, 8, 9].map { (before, $0) } }) {
                let (head, tail) = (String(repeating: "a", count: before), String(repeating: "é", count: after))
                expectSame(head + String(Character(scalar)) + tail)
            }
        }
    }

    @Test func randomTextsAreEscapedAlike() {
        var random = SeededGenerator(seed: 13)
        let pool = Array("ab\"\\\n\t\u{1}\u{7F}\u{85}é\u{61C}\u{200E}\u{2028}\u{202E}\u{2068}日😀".unicodeScalars)
        for _ in 0..<2_000 {
            var text = String.UnicodeScalarView()
            for _ in 0..<Int(random.next() % 40) { text.append(pool[Int(random.next() % UInt64(pool.count))]) }
            expectSame(String(text))
        }
    }
}
