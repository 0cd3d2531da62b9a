// Tests scopes and the rights that they grant.

import Testing
import Tweaks

@Suite struct RightsTests {
    private func rights(_ given: String, without dropped: String = "") throws -> Rights {
        func scopes(_ text: String) throws -> [TweakScope] { try text.split(separator: " ").map { try .init("\($0)") } }
        return try Rights(scopes(given), without: scopes(dropped))
    }

    @Test(arguments: ["read", "write:Label", "run:Cache/Maintenance", "admin:A/B/C", "read:*/Text", "write:**/Size"])
    func aScopeIsPrintedAsItIsWritten(_ text: String) throws {
        #expect(try TweakScope(text).description == text)
        #expect(TweakScope("write:*") == .write)
    }

    /// A scope that is printed as another one has the same rights.
    @Test(arguments: [
        ("admin:*/", "admin"), ("write:*//", "write"), ("read:Label/", "read:Label"),
        ("write:Label\u{0600}/", "write:Label\u{0600}"), ("run:A/\u{06DD}//", "run:A/\u{06DD}"),
        ("read:\u{070F}/", "read:\u{070F}"),
    ])
    func aSlashAtTheEndIsSkipped(_ text: String, _ printed: String) throws {
        let scope = try TweakScope(text)
        #expect(Array(scope.description.utf8) == Array(printed.utf8))
        #expect(try scope == TweakScope(printed))
    }

    @Test(arguments: ["", "READ", "reads", "read:", ":Label", "read:a//b", "read:a/b/c/d", "read:a\u{7}", "read label"])
    func anInvalidScopeIsRefused(_ text: String) {
        #expect(throws: TweakError.self) { _ = try TweakScope(text) }
    }

    /// Scopes, dropped scopes, kind of access, path, whether it is allowed.
    @Test(arguments: [
        ("read", "", "read", "A/B/C", true), ("read", "", "write", "A/B/C", false),
        ("write", "", "read", "A/B/C", true), ("run", "", "read", "A/B/C", false),
        ("admin", "", "run", "A/B/C", true), ("admin", "", "admin", "A/B/C", true),
        ("write:A", "", "write", "A/B/C", true), ("write:A", "", "write", "B/B/C", false),
        ("write:A", "", "read", "B/B/C", false), ("read write:A", "", "read", "B/B/C", true),
        ("admin", "write", "write", "A/B/C", false), ("admin", "write", "read", "A/B/C", true),
        ("admin", "write", "admin", "A/B/C", false), ("admin", "admin", "write", "A/B/C", true),
        ("write", "write:A", "write", "A/B/C", false), ("write", "write:A", "read", "A/B/C", true),
        ("write", "write:A", "write", "B/B/C", true), ("admin", "read:A", "write", "A/B/C", false),
        ("admin", "read:A", "write", "B/B/C", true), ("admin", "read:A", "run", "A/B/C", true),
        ("run:A/B", "", "run", "A/B/C", true), ("run:A/B", "", "run", "A/C/C", false),
    ])
    func grants(_ given: String, _ dropped: String, _ kind: String, _ path: String, _ isAllowed: Bool) throws {
        let kind = try #require(TweakScope.Kind(rawValue: kind))
        #expect(try rights(given, without: dropped).allows(kind, TweakPath(path)) == isAllowed)
    }

    @Test(arguments: [
        ("admin", "", "admin"), ("admin", "write", "read run"), ("admin", "admin", "write run"),
        ("write", "write:A", "read write -write:A"), ("read write:A", "", "read write:A"),
        ("read:A write:A", "", "write:A"), ("read", "read", ""),
    ])
    func wordsAreTheShortestScopes(_ given: String, _ dropped: String, _ words: String) throws {
        #expect(try rights(given, without: dropped).words.joined(separator: " ") == words)
    }

    @Test func aUnionGrantsWhatEitherGrants() throws {
        let rights = try rights("write:A", without: "write:A/B").union(rights("write:A/B/C"))
        #expect(rights.allows(.write, try TweakPath("A/B/C")))
        #expect(!rights.allows(.write, try TweakPath("A/B/D")))
        #expect(rights.union(Rights([.write])).isWhole(.write))
    }
}
