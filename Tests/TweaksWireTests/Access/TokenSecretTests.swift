// How tokens look, and that none is like another.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksWire

@Suite struct TokenSecretTests {
    @Test func looksLikeOne() {
        let tokens = (0..<1_000).map { _ in TokenSecret.make() }
        #expect(tokens.allSatisfy(TokenSecret.isWellFormed))
        #expect(tokens.allSatisfy { $0.utf8.count == 47 })
        #expect(Set(tokens).count == tokens.count)
    }

    /// Each of the 256 bits is a random one: seen as 0 and as 1.
    @Test func everyBitCounts() {
        var generator = SeededGenerator(seed: 7)
        let all = (0..<64).map { _ in Array(TokenSecret.make(using: &generator).utf8.dropFirst(4)) }
        for position in 0..<43 { #expect(Set(all.map { $0[position] }).count > (position == 42 ? 8 : 20)) }
    }

    @Test(arguments: [
        "", "twk_", "twk_short", "TWK_" + String(repeating: "A", count: 43), String(repeating: "A", count: 47),
        "twk_" + String(repeating: "A", count: 42), "twk_" + String(repeating: "A", count: 44),
        "twk_" + String(repeating: "A", count: 42) + "=", "twk_" + String(repeating: "A", count: 42) + "é",
    ])
    func isNone(_ text: String) { #expect(!TokenSecret.isWellFormed(text)) }

    @Test func digest() {
        let token = TokenSecret.make()
        #expect(TokenSecret.digest(of: token) == SHA256.digest(token.utf8))
        let table = TokenTable([
            TokenEntry(name: "a", verifier: .sha256(TokenSecret.digest(of: token)), scopes: [.read])
        ])
        #expect(table.entry(for: token)?.name == "a")
        #expect(table.entry(for: token + " ") == nil)
    }
}
