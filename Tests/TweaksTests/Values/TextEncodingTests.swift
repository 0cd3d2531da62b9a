// Tests that a byte order mark is skipped, and UTF-16 and UTF-32 named.

import Testing

@testable import Tweaks

struct TextEncodingTests {
    @Test func jsonMayBeginWithAByteOrderMark() throws {
        #expect(try JSON([0xEF, 0xBB, 0xBF] + Array("{\"a\":5}".utf8)) == .object([("a", .literal("5"))]))
        // Within a text it is a character.
        #expect(throws: JSONReader.Problem.self) { try JSON(Array("{\u{FEFF}}".utf8)) }
        #expect(try JSON(Array("\"\u{FEFF}\"".utf8)) == .string("\u{FEFF}"))
    }

    @Test(
        arguments: [
            [0xFF, 0xFE, 0x7B, 0, 0x7D, 0], [0xFE, 0xFF, 0, 0x7B, 0, 0x7D], [0x7B, 0, 0x7D, 0], [0, 0x7B, 0, 0x7D],
        ] as [[UInt8]])
    func utf16IsNamed(_ bytes: [UInt8]) {
        let problem = #expect(throws: JSONReader.Problem.self) { try JSON(bytes) }
        #expect(problem?.description == "line 1: it is UTF-16; save it as UTF-8")
    }

    @Test(
        arguments: [
            [0xFF, 0xFE, 0, 0, 0x7B, 0, 0, 0], [0, 0, 0xFE, 0xFF, 0, 0, 0, 0x7B], [0x7B, 0, 0, 0, 0x7D, 0, 0, 0],
            [0, 0, 0, 0x7B, 0, 0, 0, 0x7D], [0xFF, 0xFE, 0, 0], [0, 0, 0xFE, 0xFF],
        ] as [[UInt8]])
    func utf32IsNamed(_ bytes: [UInt8]) {
        let problem = #expect(throws: JSONReader.Problem.self) { try JSON(bytes) }
        #expect(problem?.description == "line 1: it is UTF-32; save it as UTF-8")
    }

    /// What may be either is UTF-16, of which two bytes are a text.
    @Test(arguments: [[0xFF, 0xFE], [0xFE, 0xFF], [0x7B, 0], [0xFF, 0xFE, 0], [0x7B, 0, 0]] as [[UInt8]])
    func fewBytesAreUTF16(_ bytes: [UInt8]) {
        #expect(TextEncoding.objection(to: bytes) == "it is UTF-16; save it as UTF-8")
    }

    @Test(arguments: ["", "a", "{}", "é", "\u{FEFF}a", "\u{0}\u{0}"]) func otherTextsAreNot(_ text: String) {
        #expect(TextEncoding.objection(to: Array(text.utf8)) == nil)
    }
}
