// Tests the JSON reader: the scalars it accepts, and the texts it refuses.

import Testing

@testable import Tweaks

struct JSONReaderTests {
    private static func scalar(_ text: String) throws(JSONReader.Problem) -> JSON {
        var reader = JSONReader(Array(text.utf8))
        try reader.check()
        let scalar = try reader.scalar()
        try reader.end()
        return scalar
    }

    @Test(
        arguments: [
            ("null", .null), ("true", .bool(true)), (" false\r\n\t", .bool(false)), ("0", .literal("0")),
            ("-0", .literal("-0")), ("-9223372036854775809", .literal("-9223372036854775809")),
            ("0.10", .literal("0.10")), ("1E+05", .literal("1E+05")), ("\"\"", .string("")),
            (#""\"\\\/\b\f\n\r\t""#, .string("\"\\/\u{8}\u{C}\n\r\t")), (#""\u00e9\ud83D\uDe00""#, .string("é😀")),
            ("\"é😀\u{7F}\"", .string("é😀\u{7F}")), (#""a\u0000b""#, .string("a\u{0}b")),
        ] as [(String, JSON)])
    func readsScalars(text: String, scalar: JSON) throws { #expect(try Self.scalar(text) == scalar) }

    @Test(arguments: [
        "", " ", "nul", "True", "truefalse", "1 2", "01", "-", "-01", "1.", ".5", "+1", "1e", "1e+", "0x2a", "NaN",
        "Infinity", "\"", "\"a", "\"\\\"", "\"\\", "\"\\u12\"", "\"\\u12g4\"", #""\ud800""#, #""\udc00""#,
        #""\ud800\u0041""#, #""\ud800\n""#, #""\x""#, "\"\n\"", "\"\u{0}\"", "'a'", "[]", "{}", "]", "\u{A0}1",
    ])
    func refusesOtherTexts(text: String) { #expect(throws: JSONReader.Problem.self) { try Self.scalar(text) } }

    @Test(arguments: [
        (String(repeating: "[", count: 1_000_000), "line 1: it is nested too deeply"),
        (String(repeating: "{\"a\":", count: 100_000), "line 1: it is nested too deeply"),
        ("[1,\n\n x]", "line 3: a value cannot begin like this"), ("{\"a\" 1}", "line 1: “:” is missing"),
        ("[1", "line 1: “]” is missing"),
    ])
    func theErrorNamesTheLine(text: String, problem: String) throws {
        var reader = JSONReader(Array(text.utf8))
        let found = #expect(throws: JSONReader.Problem.self) { try reader.skip() }
        #expect(found?.description == problem)
    }
}
