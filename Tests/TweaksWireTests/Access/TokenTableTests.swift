// Tests the lookup of tokens.

import Testing
import Tweaks
import TweaksTestSupport
import TweaksWire

struct TokenTableTests {
    private func entry(_ name: String, _ digest: [UInt8]) -> TokenEntry {
        TokenEntry(name: name, verifier: .sha256(digest), scopes: [.read])
    }

    @Test(arguments: 0..<SHA256.count) func eachBitOfTheDigestIsCompared(_ position: Int) {
        let digest = SHA256.digest("twk_right".utf8)
        for bit in 0..<8 {
            var other = digest
            other[position] ^= 1 << UInt8(bit)
            #expect(TokenTable([entry("a", other)]).entry(for: "twk_right") == nil)
        }
        #expect(TokenTable([entry("a", digest)]).entry(for: "twk_right")?.name == "a")
    }

    @Test func aTokenIsFoundAmongMany() {
        let table = TokenTable((0..<50).map { entry("t\($0)", SHA256.digest("twk_\($0)".utf8)) })
        for number in 0..<50 { #expect(table.entry(for: "twk_\(number)")?.name == "t\(number)") }
        for number in 50..<quantity(20_000, few: 500) { #expect(table.entry(for: "twk_\(number)") == nil) }
    }

    @Test func shortDigestsMatchNoToken() {
        let entries = [entry("a", []), entry("b", Array(SHA256.digest("x".utf8).prefix(31)))]
        #expect(TokenTable(entries).entry(for: "x") == nil)
    }

    @Test func aTokenIsFoundByVerifierDigestAndKeyID() {
        let tokens = (0..<20).map { "twk_\($0)" }
        let old = entry("old", SHA256.digest("twk_0".utf8))
        let table = TokenTable([old] + tokens.dropFirst().map { TokenEntry(name: $0, token: $0, scopes: [.read]) })
        #expect(table.entry(for: "twk_0")?.name == "old")
        for token in tokens.dropFirst() {
            #expect(table.entry(for: token)?.name == token)
            #expect(table.entry(id: ScramVerifier.id(of: token))?.name == token)
            #expect(table.entry(for: ScramVerifier.id(of: token)) == nil)
        }
        #expect(table.entry(id: ScramVerifier.id(of: "twk_0")) == nil)
        #expect(table.entry(id: "") == nil && table.entry(id: "old") == nil)
    }
}
