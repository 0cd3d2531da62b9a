// Tests which paths a pattern matches, and the tweaks that several patterns resolve to.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct PatternTests {
    @Test(
        arguments: [
            // Names match whole parts with everything below; * is any run within a part; ** alone in a part is any parts.
            (
                "Content/Text/Size",
                [
                    "Content", "Content/Text", "Content/Text/Size", "C*", "C*t", "*ent", "C*n*n*", "*/Text", "*/*/Size",
                    "Content/*/S*e", "**/Size", "**/Text/**", "**/Size/**", "**/Content/**", "Content/**",
                    "Content/**/Size", "Content/**/Text/Size", "Content/Text/**", "Content/Text/Size/**",
                    "**/Content/Text/Size", "**/S*", "**/**/Size",
                ],
                [
                    "Cont", "Content/Tex", "Content/Text/Siz", "content", "Text", "Text/Size", "C*x", "*/Size",
                    "C*Size",
                    "**/Text", "**/Nothing/**", "Content/**/Text",
                ]
            ),
            (
                "a/b/c",
                [
                    "*", "*/*", "*/*/*", "**", "?", "**/a/b/c/**", "**/a/**/b/**/c/**", "**/*", "*/**/c", "**/**",
                    "**/*/*/*",
                ], ["a/b/[c]", "a/b/."]
            ),
            ("aXXb/c/d", ["a**b/*"], []), ("xaxbx/c/d", ["*a*b*/*"], []), ("aaab/c/d", ["*aab"], []),
            ("abab/c/d", ["*ab*ab"], []), ("aba/c/d", [], ["*ab*ab"]), ("Content/Text/Sizes", [], ["**/Size"]),
            ("Size/b/c", [], ["**/Size"]), ("Contents/Text/Size", [], ["Content/**"]), ("a/b/cc", [], ["**/?"]),
            ("a/a/b", ["**/a/b"], ["**/a"]), ("a/a/a", ["**/a/a"], []), ("a/b/xyz", ["**/x**"], []),
            ("yx/b/c", ["**x/**"], []),
            // ? is one character of any number of bytes.
            ("ab/b/c", [], ["?"]), ("a/é/c", ["a/?/c"], ["a/??/c"]), ("a/日/c", ["a/?"], []), ("a/😀/c", ["a/?"], []),
            ("a/日本/c", ["a/*?/c", "a/*本/c", "a/*?本/c"], []), ("é1/b/c", ["??/b"], []),
            // Bytes are compared, so another normalization does not match; no other character is special.
            ("é/b/c", ["é"], []), ("e\u{301}/b/c", [], ["é"]), ("a/b/[c]", ["a/b/[c]"], []), ("a/b/*", [], ["a/b/\\*"]),
        ] as [(String, [String], [String])])
    func patternsMatchPaths(_ path: String, _ matching: [String], _ other: [String]) throws {
        let path = try TweakPath(path)
        for text in matching { #expect(TweakPattern(text)?.matches(path) == true, "\(text)") }
        for text in other { #expect(TweakPattern(text)?.matches(path) == false, "\(text)") }
    }

    @Test(arguments: [
        "", "/", "//", "a//c", "/a", "/a/", "a/b/c/d", "a/b/c/d/", "*/*/*/*", "/**", "**//a", "**/a/b/c/d",
        "a/b/**/c/d",
    ])
    func invalidPatternsAreRefused(_ text: String) { #expect(TweakPattern(text) == nil) }

    /// Completion leaves a slash at the end.
    @Test(arguments: [
        ("a/", "a"), ("a/b/", "a/b"), ("a/b/c/", "a/b/c"), ("a//", "a"), ("**/", "**"), ("*/", "*"), ("**/c/", "**/c"),
    ])
    func slashesAtTheEndAreSkipped(_ text: String, _ same: String) throws {
        let pattern = try #require(TweakPattern(text))
        #expect(try pattern == TweakPattern(same) && pattern.text == same && pattern.matches(TweakPath("a", "b", "c")))
        let registry = TweakRegistry()
        _ = try registry.register("a", "b", "c", 1)
        #expect(try TweakView(registry).resolve(text).map(\.path.joined) == ["a/b/c"])
        #expect(try TweakView(registry).resolve([text, "a/b/c"]).count == 1)
    }

    /// With such a scalar before it, the slash is one character with it.
    @Test(arguments: ["\u{0600}", "\u{0605}", "\u{06DD}", "\u{070F}"])
    func aSlashAfterAPrependedScalarIsSkippedAlone(_ scalar: String) throws {
        let pattern = try #require(TweakPattern("a" + scalar + "/"))
        #expect(Array(pattern.text.utf8) == Array(("a" + scalar).utf8))
        #expect(try !pattern.matches(TweakPath("a", "b", "c")))
    }

    /// An exponential matcher would not return.
    @Test func aPatternOfManyStarsIsMatchedQuickly() throws {
        let pattern = try #require(TweakPattern(String(repeating: "a*", count: 60) + "b"))
        #expect(try !pattern.matches(TweakPath(String(repeating: "a", count: 128), "b", "c")))
    }

    private static func registry() -> TweakRegistry {
        let registry = TweakRegistry()
        for path in [("B", "a", "x"), ("A", "b", "z"), ("A", "b", "y"), ("A", "a", "*"), ("A", "a", "w")] {
            _ = Tweak(path.0, path.1, path.2, 0, registry: registry)
        }
        return registry
    }

    @Test(arguments: [
        (["*"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y", "B/a/x"]), (["A"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y"]),
        (["A/b"], ["A/b/z", "A/b/y"]), (["*/a"], ["A/a/*", "A/a/w", "B/a/x"]), (["B/a/x"], ["B/a/x"]),
        (["A/a/?"], ["A/a/*", "A/a/w"]), (["B", "A/b", "A/b/y", "B"], ["A/b/z", "A/b/y", "B/a/x"]),
        // A registered path means that tweak alone.
        (["A/a/*"], ["A/a/*"]), (["A/a/*", "*/*/z"], ["A/a/*", "A/b/z"]), (["**/w"], ["A/a/w"]),
        (["**/a/**"], ["A/a/*", "A/a/w", "B/a/x"]), (["A/**"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y"]),
        (["**"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y", "B/a/x"]),
        (["**/y", "A/b", "**/x"], ["A/b/z", "A/b/y", "B/a/x"]),
        (["A", "A/a/w", "**/z"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y"]),
    ])
    func patternsResolveToEachTweakOnceInListingOrder(_ patterns: [String], _ paths: [String]) throws {
        #expect(try TweakView(Self.registry()).resolve(patterns).map(\.path.joined) == paths)
    }

    @Test(arguments: [
        ["C"], ["A", "C"], ["**/q"], ["**/w", "A/**/q"], ["A", "A/*/q"], ["*", "q"], ["a/b/c/d"], [""], ["A/c"], ["x*"],
    ])
    func aPatternWithoutMatchesIsAnUnknownTweak(_ patterns: [String]) {
        #expect(refusal { _ = try TweakView(Self.registry()).resolve(patterns) }?.code == .unknownTweak)
    }

    @Test(arguments: 1...20) func severalPatternsMatchTheUnionOfEach(_ seed: UInt64) throws {
        let registry = Self.registry()
        var random = SeededGenerator(seed: seed)
        let parts = ["A", "B", "a", "b", "w", "x", "*", "**", "?", "[a-z]"]
        let patterns = (0..<4).compactMap { _ in
            let count = Int.random(in: 1...4, using: &random)
            let path = (0..<count).compactMap { _ in parts.randomElement(using: &random) }
            return TweakPattern(path.joined(separator: "/"))
        }
        let (nodes, unmatched) = registry.listing().nodes(matching: patterns)
        let (paths, texts) = (registry.listing().nodes.map(\.path), patterns.map(\.text))
        #expect(nodes.map(\.path) == paths.filter { path in patterns.contains { $0.matches(path) } }, "\(texts)")
        #expect(unmatched == patterns.filter { pattern in !paths.contains { pattern.matches($0) } }, "\(texts)")
    }

    @Test func aStarMatchesNothingInAnEmptyRegistry() throws {
        let view = TweakView(TweakRegistry())
        #expect(try view.resolve("*").isEmpty && view.resolve(["*", "*"]).isEmpty)
    }
}
