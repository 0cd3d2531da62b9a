// Tests “did you mean”: which words are suggested.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct SpellingTests {
    private static let words = ["Size", "Colour", "Alignment", "Speed", "set", "reset", "describe", "explain"]

    @Test(arguments: [
        ("Size", "Size"), ("size", "Size"), ("Szie", "Size"), ("Sice", "Size"), ("Sizee", "Size"), ("Siz", "Size"),
        ("Color", "Colour"), ("Clolour", "Colour"), ("Alinement", "Alignment"), ("Algnmnt", "Alignment"),
        ("sat", "set"), ("rest", "reset"), ("descibe", "describe"), ("DESCRIBE", "describe"), ("explane", "explain"),
    ])
    func aSimilarWordIsFound(_ word: String, _ wanted: String) {
        #expect(Spelling.nearest(to: word, among: Self.words) == wanted)
    }

    @Test(arguments: ["", "x", "zz", "Temperature", "qqqq", "Sxxx", "xyzzyxyzzy", "set something else entirely"])
    func noDifferentWordIsFound(_ word: String) {
        #expect(Spelling.nearest(to: word, among: Self.words) == nil)
    }

    @Test func theNearestWordIsFound() {
        #expect(Spelling.nearest(to: "abcdef", among: ["abcxxf", "abcdxf", "abcdeff"]) == "abcdxf")
        #expect(Spelling.nearest(to: "abcdef", among: ["abcdxf", "ABCDEF"]) == "ABCDEF")
        #expect(Spelling.nearest(to: "abcdef", among: []) == nil)
    }

    @Test(arguments: [("x", "y"), ("", "y"), ("xy", "ab")])
    func aWordWithoutACommonLetterIsNotFound(_ word: String, _ other: String) {
        #expect(Spelling.nearest(to: word, among: [other]) == nil)
    }

    /// The comparison is quadratic, so the compared length is bounded.
    @Test func longWordsAreComparedQuickly() {
        let long = String(repeating: "a", count: 1_000_000)
        #expect(Spelling.nearest(to: long, among: ["a", String(repeating: "a", count: 200)])?.count == 200)
    }

    @Test func theNumberOfComparedCandidatesIsBounded() {
        var count = 0
        let candidates = sequence(first: 0) { $0 + 1 }.lazy.map { number in
            count += 1
            return "Tweak \(number)"
        }
        #expect(Spelling.nearest(to: "Twaek", among: candidates.map { $0 + "!!!!!!!!" }) == nil)
        #expect(count == Spelling.mostCandidates)
        #expect(Spelling.nearest(to: "Twaek 17", among: candidates) == "Tweak 17")
    }

    /// Candidates that are skipped for their length or letters are not near enough.
    @Test(arguments: 1...50) func agreesWithComparingAllCandidates(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        func word() -> String {
            let count = Int.random(in: 1...9, using: &random)
            return String((0..<count).map { _ in "abCdeÄß é".randomElement(using: &random) ?? "a" })
        }
        let (wanted, candidates) = (word(), (0..<30).map { _ in word() })
        let near = candidates.map { Self.distance(wanted.lowercased(), $0.lowercased()) }
        let count = wanted.lowercased().unicodeScalars.count
        let limit = max(1, min(count / 3 + 1, count - 1, 4))
        let best = candidates.indices.filter { position in
            let longer = max(count, candidates[position].lowercased().unicodeScalars.count)
            return near[position] <= limit && near[position] < longer
        }
        .min { (near[$0], $0) < (near[$1], $1) }
        #expect(Spelling.nearest(to: wanted, among: candidates) == best.map { candidates[$0] })
    }

    /// The optimal string alignment distance by its definition.
    private static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left.unicodeScalars), Array(right.unicodeScalars))
        var table = Array(repeating: Array(repeating: 0, count: right.count + 1), count: left.count + 1)
        for row in 0...left.count {
            for column in 0...right.count {
                if row == 0 || column == 0 {
                    table[row][column] = row + column
                    continue
                }
                let cost = left[row - 1] == right[column - 1] ? 0 : 1
                table[row][column] = min(
                    table[row - 1][column] + 1, table[row][column - 1] + 1, table[row - 1][column - 1] + cost)
                if row > 1, column > 1, left[row - 1] == right[column - 2], left[row - 2] == right[column - 1] {
                    table[row][column] = min(table[row][column], table[row - 2][column - 2] + 1)
                }
            }
        }
        return table[left.count][right.count]
    }

    @Test(arguments: [
        ("Content/Text/Szie", "Content/Text/Size"), ("Contnet/Text/Size", "Content/Text/Size"),
        ("content/text/size", "Content/Text/Size"), ("Size", "Content/Text/Size"), ("Text/Size", "Content/Text/Size"),
        ("Motion/Ball/Sped", "Motion/Ball/Speed"),
    ])
    func unknownTweaksSuggestAPath(_ text: String, _ wanted: String) {
        let registry = TweakRegistry()
        for name in ["Size", "Colour"] { _ = Tweak("Content", "Text", name, 1, registry: registry) }
        _ = Tweak("Motion", "Ball", "Speed", 1, registry: registry)
        let error = refusal { try registry.commit(origin: .code) { $0.set(text, .int(1)) } }
        #expect(error?.code == .unknownTweak)
        #expect(error?.message == "there is no tweak “\(text)”; did you mean \(wanted)?")
    }
}
