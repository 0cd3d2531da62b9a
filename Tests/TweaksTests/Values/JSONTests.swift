// Tests reading JSON into values and printing them.

import Testing

@testable import Tweaks

struct JSONTests {
    @Test(
        arguments: [
            ("{\"a\":[1,-2.5,true,null],\"b\":\"x\"}", "{\"a\":[1,-2.5,true,null],\"b\":\"x\"}"), (" [ ] ", "[]"),
            ("{ }", "{}"), ("\"\\u00e4\\n\\ud83d\\ude00\\/\"", "\"ä\\n😀/\""), ("1e3", "1e3"),
            ("\"日本\"", "\"日本\""), ("{", nil), ("[1,]", nil), ("{\"a\"}", nil), ("\"\\ud83d\"", nil),
            ("\"\\x\"", nil), ("\"open", nil), ("tru", nil), ("1 2", nil), ("", nil), ("+5", nil), ("007", nil),
            ("\"\u{1}\"", nil), (String(repeating: "[", count: 100_000), nil), ("\"\\u+123\"", nil),
        ] as [(String, String?)])
    func printsWhatItReads(_ text: String, _ value: String?) { #expect(JSON(text)?.text == value) }

    @Test func numbersKeepTheirDigits() {
        let values = JSON("[18446744073709551615,1e3,-1,1.5,0]")?.elements ?? []
        #expect(values.map(\.wholeNumber) == [.max, nil, nil, nil, 0])
        #expect(values.map(\.text) == ["18446744073709551615", "1e3", "-1", "1.5", "0"])
    }

    @Test func tooManyValuesAreRefusedWithTheLine() {
        #expect(throws: JSONReader.Problem(text: "there are more than 3 values", line: 2, isTooLarge: true)) {
            try JSON(Array("[1,2,\n3]".utf8), maxValues: 3)
        }
    }
}
