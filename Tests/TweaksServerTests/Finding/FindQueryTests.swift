// Tests the results of `find` among 10,000 tweaks, and their order.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksServer
@testable import TweaksWire

struct FindQueryTests {
    private static let listing = ManyTweaks.registry.listing()
    private static let index = FindIndex(listing)

    private func find(_ words: [String], limit: Int = 100) -> (paths: [String], count: Int) {
        let result = FindQuery(words).run(Self.index, limit: limit) { Self.listing.nodes[$0].path.joined }
        return (result.best.map { Self.listing.nodes[$0].path.joined }, result.count)
    }

    /// All results in order: these words have letters that only known tweaks have.
    @Test(arguments: [
        (
            ["size"],
            [
                "Label/Font/Size", "Label/Font/Size Limit", "Label/Sizes/Height", "Sizes/All/Width",
                "Label/Font/fontSize", "Label/Font/Tall", "Label/Font/Resized", "Label/Font/Oversize",
                "Label/Font/Shrink", "Label/Font/Sliding Zone",
            ]
        ),
        // All words must match; their ranks are added.
        (
            ["font", "size"],
            [
                "Label/Font/Size", "Label/Font/Size Limit", "Label/Font/fontSize", "Label/Font/Tall",
                "Label/Font/Resized", "Label/Font/Oversize", "Label/Font/Shrink", "Label/Font/Sliding Zone",
            ]
        ),
        (["size", "limit"], ["Label/Font/Size Limit"]), (["limit", "size"], ["Label/Font/Size Limit"]),
        (["sizes"], ["Label/Sizes/Height", "Sizes/All/Width"]), (["size", "zorro"], []),
        // Help, unit, names and labels of choices.
        (["downsized"], ["Label/Font/Shrink"]), (["px"], ["Label/Sizes/Height", "HTTP2Server/keepAlive/maxWait"]),
        (["zig"], ["Label/Font/Style", "Label/Sizes/Height"]),
        (["zorro"], ["Label/Font/Style"]), (["style", "zag"], ["Label/Font/Style"]),
        // Case, diacritics and width are ignored.
        (["SIZE", "Limit"], ["Label/Font/Size Limit"]), (["wide"], ["Label/Ｗｉｄｅ/Ångström"]),
        (["WIDE", "angstrom"], ["Label/Ｗｉｄｅ/Ångström"]), (["hohe", "uberschrift"], ["Größe/Überschrift/Höhe"]),
        (["ho\u{308}he", "GRÖSSE"], ["Größe/Überschrift/Höhe"]), (["größe", "HÖHE"], ["Größe/Überschrift/Höhe"]),
        // Parts with a slash, from any place in a part.
        (
            ["font/size"],
            [
                "Label/Font/Size Limit", "Label/Font/Size", "Label/Font/Resized", "Label/Font/Oversize",
                "Label/Font/fontSize", "Label/Font/Sliding Zone",
            ]
        ), (["l/font/wink"], ["Label/Font/Wink"]),
        // Letters in order, across parts; never in help.
        (["hkmw"], ["HTTP2Server/keepAlive/maxWait"]), (["kdo"], []),
        ([""], []), (["\u{301}"], []), ([String(repeating: "z", count: 60_000)], []),
    ])
    func theBestMatchesComeFirst(_ words: [String], _ paths: [String]) {
        if words.allSatisfy({ FoldedText.bytes($0).isEmpty }) {
            #expect(find(words).count == ManyTweaks.count)
        } else {
            #expect(find(words) == (paths, paths.count))
        }
    }

    @Test func theResultIsTheBestHundredAndTheCountOfAll() {
        let (all, best) = (find(["ocean"], limit: .max), find(["ocean"]))
        #expect(all.count == all.paths.count && all.count > 1_000)
        #expect(best.count == all.count)
        #expect(best.paths == Array(all.paths.prefix(100)))
    }

    /// With the words of a seeded generator.
    @Test(.tags(.quantity), arguments: 1...UInt64(quantity(12, few: 1)))
    func theOrderMatchesTheReference(_ seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        let texts = [
            "ocean", "oce", "cean", "ver 1", "silver", "amber 3", "rvr", "of the", "4/ga", "7", "delta", "ndl",
        ]
        let words = (0..<Int.random(in: 1...3, using: &random)).compactMap { _ in texts.randomElement(using: &random) }
        let ranked = Self.listing.nodes.enumerated().compactMap { position, node in
            ReferenceRank.rank(node, words).map { (rank: $0, position: position) }
        }
        let expected = ranked.sorted { ($0.rank, $0.position) < ($1.rank, $1.position) }
        let found = find(words)
        #expect(found.count == expected.count, "\(words)")
        #expect(found.paths == expected.prefix(100).map { Self.listing.nodes[$0.position].path.joined }, "\(words)")
    }
}

/// A simple implementation of the ranks of `find`, for ASCII words that do not contain each other.
private enum ReferenceRank {
    static func rank(_ node: TweakNode, _ words: [String]) -> Int? {
        var total = 0
        for word in words {
            guard let rank = rank(node, word) else { return nil }
            total += rank
        }
        return total
    }

    private static func rank(_ node: TweakNode, _ word: String) -> Int? {
        let path = node.path.joined.lowercased()
        if path.hasSuffix("/" + word), !word.contains("/") { return 0 }
        let parts = [node.path.category, node.path.collection, node.path.name].map { $0.lowercased() }
        let starts = [0, parts[0].count + 1, parts[0].count + parts[1].count + 2]
        var ranks: [Int] = []
        for offset in places(of: word, in: path) {
            let part = 2 - (starts.lastIndex { $0 <= offset } ?? 0)
            ranks.append((starts.contains(offset) ? 1 : beginsWord(path, offset) ? 4 : 8) + part)
        }
        let help = node.definition.help?.lowercased() ?? ""
        for offset in places(of: word, in: help) { ranks.append(beginsWord(help, offset) ? 7 : 11) }
        if let best = ranks.min() { return best }
        var rest = word[...]
        for letter in path where letter == rest.first { rest = rest.dropFirst() }
        return rest.isEmpty ? 12 : nil
    }

    private static func places(of word: String, in text: String) -> [Int] {
        let (word, text) = (Array(word), Array(text))
        if text.count < word.count { return [] }
        return (0...(text.count - word.count)).filter { Array(text[$0..<($0 + word.count)]) == word }
    }

    private static func beginsWord(_ text: String, _ offset: Int) -> Bool {
        let text = Array(text)
        if offset == 0 { return true }
        let (before, letter) = (text[offset - 1], text[offset])
        return letter.isLetter ? !before.isLetter : letter.isNumber && !before.isNumber
    }
}
