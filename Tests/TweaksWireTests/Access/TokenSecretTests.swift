// Tests the form of tokens, and their randomness.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksWire

@Suite struct TokenSecretTests {
    @Test func newTokensAreWellFormedAndUnique() {
        let tokens = (0..<1_000).map { _ in TokenSecret.make() }
        #expect(tokens.allSatisfy { TokenSecret.isWellFormed($0) && $0.utf8.count == 47 })
        #expect(Set(tokens).count == tokens.count)
    }

    @Test func all256BitsAreRandom() {
        var generator = SeededGenerator(seed: 7)
        let all = (0..<64).map { _ in Array(TokenSecret.make(using: &generator).utf8.dropFirst(4)) }
        for position in 0..<43 { #expect(Set(all.map { $0[position] }).count > (position == 42 ? 8 : 20)) }
    }

    @Test(arguments: [
        "", "twk_", "twk_short", "TWK_" + String(repeating: "A", count: 43), String(repeating: "A", count: 47),
        "twk_" + String(repeating: "A", count: 42), "twk_" + String(repeating: "A", count: 44),
        "twk_" + String(repeating: "A", count: 42) + "=", "twk_" + String(repeating: "A", count: 42) + "é",
    ])
    func otherTextsAreNotWellFormed(_ text: String) { #expect(!TokenSecret.isWellFormed(text)) }

    @Test func theDigestIsThatOfItsText() {
        let token = TokenSecret.make()
        #expect(TokenSecret.digest(of: token) == SHA256.digest(token.utf8))
        let entry = TokenEntry(name: "a", verifier: .sha256(TokenSecret.digest(of: token)), scopes: [.read])
        let table = TokenTable([entry])
        #expect(table.entry(for: token)?.name == "a")
        #expect(table.entry(for: token + " ") == nil)
    }
}
