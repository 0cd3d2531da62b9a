// Which tweaks a pattern means.

import Testing
import TweaksTestSupport

@testable import Tweaks

struct PatternTests {
    @Test(arguments: [
        // Whole parts: everything beneath.
        ("Content", "Content/Text/Size", true), ("Content/Text", "Content/Text/Size", true),
        ("Content/Text/Size", "Content/Text/Size", true), ("Cont", "Content/Text/Size", false),
        ("Content/Tex", "Content/Text/Size", false), ("Content/Text/Siz", "Content/Text/Size", false),
        ("content", "Content/Text/Size", false), ("Text", "Content/Text/Size", false),
        ("Text/Size", "Content/Text/Size", false),
        // A star is any run within a part.
        ("*", "a/b/c", true), ("*/*", "a/b/c", true), ("*/*/*", "a/b/c", true), ("C*", "Content/Text/Size", true),
        ("C*t", "Content/Text/Size", true), ("*ent", "Content/Text/Size", true), ("C*n*n*", "Content/Text/Size", true),
        ("C*x", "Content/Text/Size", false), ("*/Text", "Content/Text/Size", true),
        ("*/*/Size", "Content/Text/Size", true), ("*/Size", "Content/Text/Size", false),
        ("C*Size", "Content/Text/Size", false), ("**", "a/b/c", true), ("a**b/*", "aXXb/c/d", true),
        ("*a*b*/*", "xaxbx/c/d", true), ("Content/*/S*e", "Content/Text/Size", true), ("*aab", "aaab/c/d", true),
        ("*ab*ab", "abab/c/d", true), ("*ab*ab", "aba/c/d", false),
        // A question mark is one character, however many bytes it has.
        ("?", "a/b/c", true), ("?", "ab/b/c", false), ("a/?/c", "a/é/c", true), ("a/??/c", "a/é/c", false),
        ("a/?", "a/日/c", true), ("a/*?/c", "a/日本/c", true), ("a/*本/c", "a/日本/c", true), ("a/*?本/c", "a/日本/c", true),
        ("a/?", "a/😀/c", true), ("??/b", "é1/b/c", true),
        // Two stars alone in a part are any parts, also none; then the pattern says where a path ends.
        ("**/Size", "Content/Text/Size", true), ("**/Size", "Content/Text/Sizes", false),
        ("**/Size", "Size/b/c", false),
        ("**/Text", "Content/Text/Size", false), ("**/Text/**", "Content/Text/Size", true),
        ("**/Size/**", "Content/Text/Size", true), ("**/Content/**", "Content/Text/Size", true),
        ("**/Nothing/**", "Content/Text/Size", false), ("Content/**", "Content/Text/Size", true),
        ("Content/**", "Contents/Text/Size", false), ("Content/**/Size", "Content/Text/Size", true),
        ("Content/**/Text/Size", "Content/Text/Size", true), ("Content/**/Text", "Content/Text/Size", false),
        ("Content/Text/**", "Content/Text/Size", true), ("Content/Text/Size/**", "Content/Text/Size", true),
        ("**/Content/Text/Size", "Content/Text/Size", true), ("**/a/b/c/**", "a/b/c", true),
        ("**/a/**/b/**/c/**", "a/b/c", true), ("**/*", "a/b/c", true), ("**/?", "a/b/cc", false),
        ("**/S*", "Content/Text/Size", true), ("*/**/c", "a/b/c", true), ("**/**", "a/b/c", true),
        ("**/**/Size", "Content/Text/Size", true), ("**/*/*/*", "a/b/c", true), ("**/a", "a/a/b", false),
        ("**/a/a", "a/a/a", true), ("**/a/b", "a/a/b", true), ("**/x**", "a/b/xyz", true), ("**x/**", "yx/b/c", true),
        // Bytes, so other spellings of the same letters do not match.
        ("é", "é/b/c", true), ("é", "e\u{301}/b/c", false),
        // What else could be special is not.
        ("a/b/[c]", "a/b/c", false), ("a/b/[c]", "a/b/[c]", true), ("a/b/.", "a/b/c", false),
        ("a/b/\\*", "a/b/*", false),
    ])
    func matches(_ pattern: String, _ path: String, _ isMatch: Bool) throws {
        let pattern = try #require(TweakPattern(pattern))
        #expect(try pattern.matches(TweakPath(path)) == isMatch)
    }

    @Test(arguments: [
        "", "/", "a//c", "/a", "a/", "a/b/c/d", "a/b/c/", "*/*/*/*", "**/", "/**", "**//a", "**/a/b/c/d", "a/b/**/c/d",
    ])
    func isNoPattern(_ text: String) { #expect(TweakPattern(text) == nil) }

    @Test func manyStarsCostLittle() throws {
        // An exponential matcher would not come back from this one.
        let pattern = try #require(TweakPattern(String(repeating: "a*", count: 60) + "b"))
        #expect(try !pattern.matches(TweakPath(String(repeating: "a", count: 128), "b", "c")))
    }

    // MARK: Resolving

    private static func registry() -> TweakRegistry {
        let registry = TweakRegistry()
        for (number, path) in [("B", "a", "x"), ("A", "b", "z"), ("A", "b", "y"), ("A", "a", "*"), ("A", "a", "w")]
            .enumerated()
        {
            _ = Tweak(path.0, path.1, path.2, number, registry: registry)
        }
        return registry
    }

    @Test(arguments: [
        (["*"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y", "B/a/x"]), (["A"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y"]),
        (["A/b"], ["A/b/z", "A/b/y"]), (["*/a"], ["A/a/*", "A/a/w", "B/a/x"]), (["B/a/x"], ["B/a/x"]),
        (["A/a/?"], ["A/a/*", "A/a/w"]), (["B", "A/b", "A/b/y", "B"], ["A/b/z", "A/b/y", "B/a/x"]),
        // A registered path means that tweak alone.
        (["A/a/*"], ["A/a/*"]),
        (["**/w"], ["A/a/w"]), (["**/a/**"], ["A/a/*", "A/a/w", "B/a/x"]),
        (["A/**"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y"]),
        (["**"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y", "B/a/x"]),
        (["**/y", "A/b", "**/x"], ["A/b/z", "A/b/y", "B/a/x"]),
        (["A/a/*", "*/*/z"], ["A/a/*", "A/b/z"]), (["A", "A/a/w", "**/z"], ["A/a/*", "A/a/w", "A/b/z", "A/b/y"]),
    ])
    func resolvesInListingOrderEachOnce(_ patterns: [String], _ paths: [String]) throws {
        #expect(try TweakView(Self.registry()).resolve(patterns).map(\.path.joined) == paths)
    }

    @Test(arguments: [
        ["C"], ["A", "C"], ["**/q"], ["**/w", "A/**/q"], ["A", "A/*/q"], ["*", "q"], ["a/b/c/d"], [""], ["A/c"], ["x*"],
    ])
    func noMatchIsAnUnknownTweak(_ patterns: [String]) {
        #expect(refusal { _ = try TweakView(Self.registry()).resolve(patterns) }?.code == .unknownTweak)
    }

    /// Group by group or tweak by tweak: the same.
    @Test(arguments: 1...20) func manyAtOnceAreTheUnionOfEach(_ seed: UInt64) throws {
        let registry = Self.registry()
        var random = SeededGenerator(seed: seed)
        let parts = ["A", "B", "a", "b", "w", "x", "*", "**", "?", "[a-z]"]
        let texts = (0..<4).map { _ in
            (0..<Int.random(in: 1...4, using: &random)).compactMap { _ in parts.randomElement(using: &random) }
                .joined(separator: "/")
        }
        let patterns = texts.compactMap { TweakPattern($0) }
        let (nodes, unmatched) = registry.listing().nodes(matching: patterns)
        let expected = registry.listing().nodes.filter { node in patterns.contains { $0.matches(node.path) } }
        #expect(nodes.map(\.path) == expected.map(\.path), "\(texts)")
        let matchless = patterns.filter { pattern in !registry.listing().nodes.contains { pattern.matches($0.path) } }
        #expect(unmatched == matchless, "\(texts)")
    }

    @Test func everythingMayBeNothing() throws {
        #expect(try TweakView(TweakRegistry()).resolve("*").isEmpty)
        #expect(try TweakView(TweakRegistry()).resolve(["*", "*"]).isEmpty)
    }
}
