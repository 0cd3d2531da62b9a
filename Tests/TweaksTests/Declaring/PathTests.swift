// Tests the rules of paths, which are compared byte by byte.

import Testing

@testable import Tweaks

struct PathTests {
    /// A path as a user types it and as the protocol writes it.
    @Test(arguments: [
        ("Content/Text/Size", "Content/Text/Size"), ("a/b/c", "a/b/c"), ("a/b/Font Name", #""a/b/Font Name""#),
        ("a/b/c\"d", #""a/b/c\"d""#), ("a/b/it's", #""a/b/it's""#), ("a/b/#1", ##""a/b/#1""##),
        ("a/b/x=y", #""a/b/x=y""#), ("a/b/*", #""a/b/*""#), ("a/b/what?", #""a/b/what?""#), ("ä/ö/ü", "ä/ö/ü"),
        ("日本/語/名", "日本/語/名"), (#"a/b/c\d"#, #"a/b/c\d"#), ("-/./..", "-/./.."), ("a/\u{301}b/c", "a/\u{301}b/c"),
        ("a/b/👩‍👩‍👧", "a/b/👩‍👩‍👧"),
    ])
    func accepts(_ joined: String, _ token: String) throws {
        let path = try TweakPath(joined)
        let parts = joined.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
        #expect(path.joined.utf8.elementsEqual(joined.utf8))
        #expect(path.token == token)
        #expect([path.category, path.collection, path.name].map { Array($0.utf8) } == parts.map { Array($0.utf8) })
        #expect(try TweakPath(parts[0], parts[1], parts[2]) == path)
    }

    @Test(arguments: [
        "", "a", "a/b", "a/b/c/d", "/b/c", "a//c", "a/b/", "//", "a/b/c/", "/a/b/c", "a/b/c\n", "a/b/\0", "a/b/\u{7F}",
        "a/b/\u{85}", "a/b/\u{2028}", "a/b/\u{2029}", "a/b/\u{202E}c", "a/b/\u{2066}", "a/b/\u{200F}", "a/b/\u{61C}",
        "a/\t/c", "\u{1B}[2J/b/c",
    ])
    func refuses(_ joined: String) {
        #expect(refusal { _ = try TweakPath(joined) }?.code == .usage)
    }

    @Test func aPartHoldsAtMost128Bytes() throws {
        let longest = String(repeating: "x", count: 128)
        let path = try TweakPath(longest, longest, longest)
        #expect(path.category == longest && path.collection == longest && path.name == longest)
        for part in [longest + "x", String(repeating: "é", count: 65), ""] {
            for parts in [[part, "b", "c"], ["a", part, "c"], ["a", "b", part]] {
                #expect(refusal { _ = try TweakPath(parts[0], parts[1], parts[2]) }?.code == .usage)
            }
        }
        #expect(try TweakPath(String(repeating: "é", count: 64), "b", "c").collection == "b")
    }

    @Test func anErrorNamesThePart() {
        #expect(refusal { _ = try TweakPath("a", "b/c", "d") }?.message.contains("the collection “b/c”") == true)
    }

    @Test func pathsAreComparedByteByByte() throws {
        let (composed, decomposed) = (try TweakPath("é", "b", "c"), try TweakPath("e\u{301}", "b", "c"))
        // Swift compares these strings as equal.
        #expect(composed.joined == decomposed.joined && composed != decomposed)
        #expect(Set([composed, decomposed]).count == 2)
        #expect(try composed == TweakPath("é/b/c"))
        #expect(try TweakPath("A", "b", "c") != TweakPath("a", "b", "c"))
    }

    @Test func noPartContainsASeparatorSoThatJoinedPathsDiffer() throws {
        let registry = TweakRegistry()
        for (category, collection, name) in [("a/b", "c", "d"), ("a", "b/c", "d"), ("a", "b", "c/d")] {
            #expect(refusal { _ = try registry.register(category, collection, name, 1) }?.code == .usage)
        }
        let paths = try [
            TweakPath("ab", "c", "d"), TweakPath("a", "bc", "d"), TweakPath("a", "b", "cd"), TweakPath("abc", "d", "-"),
        ]
        for (number, path) in paths.enumerated() {
            _ = try registry.register(path.category, path.collection, path.name, number)
        }
        #expect(registry.count == paths.count && registry.conflicts.isEmpty)
        for (number, path) in paths.enumerated() { #expect(registry[path]?.value == .int(Int64(number))) }
    }
}
