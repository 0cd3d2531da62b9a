// Tests ISO 8601 texts of times against known ones and Foundation.

import Foundation
import Testing
import TweaksTestSupport

@testable import Tweaks

struct TimeTextTests {
    @Test(
        arguments: [
            (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"), (1_795_253_400_123, "2026-11-21T09:30:00.123Z"),
            (-62_167_219_200_000, "0000-01-01T00:00:00.000Z"), (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
        ] as [(Int64, String)])
    func knownTimesArePrintedAndParsed(milliseconds: Int64, text: String) {
        #expect(TimeText.print(milliseconds) == text && TimeText.parse(text) == milliseconds)
    }

    @Test(arguments: UInt64(1)...10) func randomTimesAgreeWithFoundation(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<100 {
            let seconds = Int64.random(in: -3_000_000_000...30_000_000_000, using: &generator)
            let date = Date(timeIntervalSince1970: Double(seconds))
            #expect(TimeText.print(seconds * 1_000).prefix(19) == date.ISO8601Format().prefix(19))
            #expect(TimeText.parse(date.ISO8601Format()) == seconds * 1_000)
        }
    }

    @Test(arguments: [Int64.min, .max]) func yearsOfMoreThanFourDigitsAreLimited(milliseconds: Int64) {
        #expect(TimeText.parse(TimeText.print(milliseconds)) != nil)
    }

    @Test(arguments: [("", 0), (".5", 500), (".12", 120), (".123456789", 123)] as [(String, Int64)])
    func fractionsAreCutToMilliseconds(text: String, milliseconds: Int64) {
        #expect(TimeText.parse("1970-01-01T00:00:00\(text)Z") == milliseconds)
    }

    @Test(arguments: [
        "", "Z", "1970-01-01", "1970-01-01T00:00:00", "1970-01-01T00:00:00.Z", "1970-01-01T00:00:00+01:00",
        "1970-02-30T00:00:00Z", "1970-13-01T00:00:00Z", "1970-00-01T00:00:00Z", "1970-01-01T24:00:00Z",
        "1970-01-01T00:60:00Z", "1970-01-01 00:00:00Z", "197a-01-01T00:00:00Z", "2026-11-21T09:30:00.1x3Z",
    ])
    func malformedTextsAreRefused(text: String) { #expect(TimeText.parse(text) == nil) }

    @Test func fileNamesHaveCompactTimes() { #expect(TimeText.compact(1_795_253_400_123) == "20261121T093000Z") }
}
