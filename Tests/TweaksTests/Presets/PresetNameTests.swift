// Tests which names presets may have.

import Testing
import Tweaks

struct PresetNameTests {
    @Test(arguments: [
        "warm", "a", "A-1_b.c", "-", "_", "--only", "9", "warm.conf", "con..fusing", String(repeating: "x", count: 64),
    ])
    func validNamesAreAccepted(_ text: String) throws { #expect(try PresetName(text).text == text) }

    @Test(arguments: [
        "", ".", "..", ".hidden", "../up", "a/b", "/etc/passwd", "a\\b", "a b", "a\0", "\0", "a\n", "ü", "warm\u{301}",
        "“", "a:b", "~", "*", "a%2fb", String(repeating: "x", count: 65),
    ])
    func otherNamesAreRefusedWithTheRule(_ text: String) {
        let error = refusal { _ = try PresetName(text) }
        #expect(error?.code == .badValue)
        #expect(error?.message.contains("1–64 of A–Z a–z 0–9 . _ - and no . at the beginning") == true)
    }

    @Test func namesAreOrderedByBytes() throws {
        let names = try ["b", "B", "a-", "a", "_", "10", "9"].map { text throws(TweakError) in try PresetName(text) }
        #expect(names.sorted().map(\.text) == ["10", "9", "B", "_", "a", "a-", "b"])
    }
}
