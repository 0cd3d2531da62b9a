// Tests finding and replacing texts in texts.

import Testing

@testable import Tweaks

struct StringSearchTests {
    @Test(arguments: [
        ("aXbXc", "X", "-", "a-b-c"), ("XX", "X", "", ""), ("aaa", "aa", "b", "ba"), ("abc", "d", "-", "abc"),
        ("abc", "abc", "", ""), ("abc", "abcd", "-", "abc"), ("abc", "", "-", "abc"), ("", "a", "-", ""),
        ("caf\u{E9}!", "cafe\u{301}", "tea", "tea!"), ("e\u{301}", "e", "-", "e\u{301}"),
    ])
    func replacesAllOccurrences(_ text: String, _ old: String, _ new: String, _ expected: String) {
        #expect(text.substituting(new, for: old) == expected)
    }

    @Test func occurrencesDoNotOverlap() {
        let text = "ababab"
        #expect(text.occurrences(of: "abab").map { text.distance(from: text.startIndex, to: $0.lowerBound) } == [0])
        #expect(text.occurrences(of: "ab").map { text[$0] } == ["ab", "ab", "ab"])
    }
}
