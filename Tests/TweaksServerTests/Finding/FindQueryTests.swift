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
                "Label/Font/Size", "Label/Font/fontSize", "Label/Font/Size Limit", "Label/Sizes/Height",
                "Sizes/All/Width", "Label/Font/Tall", "Label/Font/Resized", "Label/Font/Oversize",
                "Label/Font/Shrink", "Label/Font/Sliding Zone",
            ]
        ),
        // All words must match; their ranks are added.
        (
            ["font", "size"],
            [
                "Label/Font/fontSize", "Label/Font/Size", "Label/Font/Size Limit", "Label/Font/Tall",
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
        // One typo a word, of a wrong, extra or missing letter, or two swapped ones, where nothing has the words as typed.
        (["strle"], ["Label/Font/Style"]), (["sttyle"], ["Label/Font/Style"]),
        (["kepalive"], ["HTTP2Server/keepAlive/maxWait"]),
        (["maxwiat"], ["HTTP2Server/keepAlive/maxWait"]), (["wlked"], ["Label/Status/Walked"]),
        (["zorrp"], ["Label/Font/Style"]), (["größ", "hähe"], ["Größe/Überschrift/Höhe"]),
        (["fint", "shink"], ["Label/Font/Shrink"]), (["wqlkxd"], []), (["wnk"], ["Label/Font/Wink"]),
        (["wqnk"], ["Label/Font/Wink"]),
        (["wxk"], []),
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

    /// Many screens have the same names in them, and the number says which one is meant.
    @Test func wholeWordsComeFirst() {
        let registry = TweakRegistry()
        for screen in [1, 13, 30, 3] {
            for name in ["Toast Duration", "Toast"] {
                _ = Tweak("App", "Screen \(screen)", name, 0, registry: registry)
            }
        }
        let listing = registry.listing()
        let result = FindQuery(["screen", "3", "toast"]).run(FindIndex(listing)) { listing.nodes[$0].path.joined }
        #expect(
            result.best.map { listing.nodes[$0].path.joined }.prefix(4) == [
                "App/Screen 3/Toast", "App/Screen 3/Toast Duration", "App/Screen 30/Toast",
                "App/Screen 30/Toast Duration",
            ])
    }

    /// Numbers are found as a whole, and texts by their words, after all that is found by its name.
    @Test(
        arguments: [
            ("72", ["A/B/72 Things", "A/B/Size"]), ("7", ["A/B/72 Things"]), ("250ms", ["A/B/Fade"]),
            ("ff8800", ["A/B/Color"]),
            ("#ff8800", ["A/B/Color"]), ("avenir", ["A/B/Font"]), ("next", ["A/B/Font"]), ("enir", []),
            ("3,4", ["A/B/Point"]), ("true", ["A/B/Flag"]), ("berlin", ["A/B/Cities"]), ("s3cret", []),
            ("none", ["A/B/Limit"]),
        ] as [(String, [String])])
    func valuesAreFoundLast(_ word: String, _ paths: [String]) {
        let registry = TweakRegistry()
        _ = Tweak("A", "B", "Size", 72.0, registry: registry)
        _ = Tweak("A", "B", "Wide", 720, registry: registry)
        _ = Tweak("A", "B", "Fade", .milliseconds(250), registry: registry)
        _ = Tweak("A", "B", "Color", TweakColor(0xFF8800), registry: registry)
        _ = Tweak("A", "B", "Font", "Avenir Next", registry: registry)
        _ = Tweak("A", "B", "Point", TweakPoint(x: 3, y: 4), registry: registry)
        _ = Tweak("A", "B", "Flag", true, registry: registry)
        _ = Tweak("A", "B", "Cities", ["Oslo", "Berlin"], registry: registry)
        _ = Tweak("A", "B", "Limit", Int?.none, registry: registry)
        _ = Tweak("A", "B", "Token", "s3cret", flags: .secret, registry: registry)
        _ = Tweak("A", "B", "72 Things", 1, registry: registry)
        tweakAction("A", "B", "Act", registry: registry) { _ in "" }
        let found = Finder().find([word], TweakView(registry))
        #expect(found.nodes.map(\.path.joined) == paths)
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
            "ocean", "oce", "cea", "ver 1", "silver", "amber 3", "rvr", "of the", "4/ga", "7", "delta", "ndl",
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
            let isPart = starts.contains(offset)
            let isWhole = (isPart || beginsWord(path, offset)) && endsWord(path, offset + word.count)
            ranks.append((isWhole ? 1 : isPart ? 4 : beginsWord(path, offset) ? 7 : 11) + part)
        }
        let help = node.definition.help?.lowercased() ?? ""
        for offset in places(of: word, in: help) { ranks.append(beginsWord(help, offset) ? 10 : 14) }
        if let best = ranks.min() { return best }
        var rest = word[...]
        for letter in path where letter == rest.first { rest = rest.dropFirst() }
        return rest.isEmpty ? 20 : nil
    }

    private static func endsWord(_ text: String, _ offset: Int) -> Bool {
        let text = Array(text)
        if offset == text.count { return true }
        return !text[offset].isLetter && !text[offset].isNumber || beginsWord(String(text), offset)
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
