// Tests SCRAM-SHA-256 with the vectors of the RFCs, and with tokens.

import Testing
import Tweaks
import TweaksTestSupport

@testable import TweaksWire

struct ScramTests {
    /// RFC 4648, section 10.
    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
        ("foobar", "Zm9vYmFy"), ("\u{3F}\u{3E}\u{7F}", "Pz5/"),
    ])
    func base64IsEncodedAndDecoded(_ text: String, _ encoded: String) {
        #expect(Base64.encode(text.utf8) == encoded)
        #expect(Base64.decode(encoded) == Array(text.utf8))
        let url = encoded.replacing("=", with: "").replacing("/", with: "_")
        #expect(Base64.encodeForURL(text.utf8) == url)
        #expect(Base64.isForURL(url))
    }

    @Test(arguments: [
        "Z", "Zg", "Zg=", "Zg===", "Z===", "Zh==", "Zm9=", "Z g=", "Zm 8", "Zm8-", "Zm8=Zm8=", "Zg==Zg==", "=", "==",
        "====", "Zm9v\n", "Pz5_", "Zm9é", "é==",
    ])
    func invalidBase64IsRefused(_ text: String) { #expect(Base64.decode(text) == nil) }

    @Test(arguments: 250...256) func eachByteIsDecodedAtEachPosition(_ count: Int) {
        let bytes = Array((0...255).map { UInt8($0) }.suffix(count))
        #expect(Base64.decode(Base64.encode(bytes)) == bytes)
    }

    /// Key, message, code: RFC 4231, sections 4.2 to 4.8; 4.6 is truncated to 128 bits there.
    @Test(arguments: [
        (
            Array(repeating: UInt8(0x0B), count: 20), Array("Hi There".utf8),
            "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"
        ),
        (
            Array("Jefe".utf8), Array("what do ya want for nothing?".utf8),
            "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        ),
        (
            Array(repeating: 0xAA, count: 20), Array(repeating: 0xDD, count: 50),
            "773ea91e36800e46854db8ebd09181a72959098b3ef8c122d9635514ced565fe"
        ),
        (
            Array(1...25), Array(repeating: 0xCD, count: 50),
            "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b"
        ),
        (Array(repeating: 0x0C, count: 20), Array("Test With Truncation".utf8), "a3b6167473100ee06e0c796c2955552b"),
        (
            Array(repeating: 0xAA, count: 131), Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8),
            "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"
        ),
        (
            Array(repeating: 0xAA, count: 131),
            Array(
                ("This is a test using a larger than block-size key and a larger than block-size data. The key needs to "
                    + "be hashed before being used by the HMAC algorithm.").utf8),
            "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2"
        ),
    ])
    func codesEqualThePublishedOnes(_ key: [UInt8], _ message: [UInt8], _ code: String) {
        #expect(TokenText.hexadecimal(SHA256.code(message, key: key)).hasPrefix(code))
    }

    // RFC 7677, section 3.
    private static let challenge =
        "r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,s=W22ZaJ0SNY7soEsUEjb6gQ==,i=4096"
    private static let last =
        "c=biws,r=rOprNGfwEbeRWgbNEkqO%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0,p=dHzbZapWIk4jUhN+Ute9ytag9zjfMHgsqmmiz7AndVQ="
    private static let signature = "v=6rriTRBi23WpRR/wtup+mMhUZUn/dB5nLTJRsjl95G4="

    @Test func theClientSendsTheMessagesOfTheRFC() {
        var client = Scram.Client(user: "user", password: "pencil", nonce: "rOprNGfwEbeRWgbNEkqO")
        #expect(client.first == "n,,n=user,r=rOprNGfwEbeRWgbNEkqO")
        #expect(client.answer(Self.challenge) == Self.last)
        #expect(client.accepts(Self.signature))
        #expect(!client.accepts(Self.signature.replacing("6rr", with: "6rs")))
    }

    @Test func theServerSendsTheMessagesOfTheRFC() throws {
        let salt = try #require(Base64.decode("W22ZaJ0SNY7soEsUEjb6gQ=="))
        let server = try Scram.Server(
            "n,,n=user,r=rOprNGfwEbeRWgbNEkqO", nonce: "%hvYDpWUa2RaTCAfuxFIlj)hNlF$k0", iterations: 4_096
        ) { _ in salt }
        #expect(server.challenge == Self.challenge)
        let keys = Scram.Keys("pencil", salt: salt, iterations: 4_096)
        let verifier = ScramVerifier(id: "", storedKey: SHA256.digest(keys.client), serverKey: keys.server)
        #expect(try server.accept(Self.last, verifier)?.last == Self.signature)
    }

    private func answer(_ client: inout Scram.Client, _ challenge: String) throws -> String {
        let answer = client.answer(challenge)
        return try #require(answer)
    }

    @Test func withTheSameTokenBothSidesAccept() throws {
        let token = TokenSecret.make()
        var client = Scram.Client(token: token)
        let server = try Scram.Server(client.first)
        #expect(server.user == ScramVerifier.id(of: token))
        let last = try answer(&client, server.challenge)
        let acceptance = try #require(try server.accept(last, ScramVerifier(token: token)))
        #expect(client.accepts(acceptance.last))
        #expect(client.sessionKey == acceptance.sessionKey && client.sessionKey.count == 32)
        // Neither messages nor verifier contain the token.
        let messages = [client.first, server.challenge, last, acceptance.last, ScramVerifier(token: token).text]
        #expect(!messages.contains { $0.contains(token) || $0.contains(token.dropFirst(4)) })
        // Each message is one bare word of the protocol.
        for message in messages {
            let line = Array("auth \(Scram.mechanism) \(message)".utf8)
            let tokens = try line.withUnsafeBufferPointer { try Tokenizer.tokens($0) }
            #expect(tokens == [Token("auth"), Token(Scram.mechanism), Token(message)])
        }
    }

    @Test func withDifferentTokensNeitherSideAccepts() throws {
        let (right, wrong) = (TokenSecret.make(), TokenSecret.make())
        var client = Scram.Client(token: wrong)
        let server = try Scram.Server(client.first)
        let last = try answer(&client, server.challenge)
        #expect(try server.accept(last, ScramVerifier(token: right)) == nil)
        #expect(try server.accept(last, .decoy) == nil)
        // Claims of a server that does not know the token.
        for claim in ["", "v=", "v=\(Base64.encode(Array(repeating: 0, count: 32)))", "e=other-error", last] {
            #expect(!client.accepts(claim))
        }
        var early = Scram.Client(token: right)
        #expect(!early.accepts("v=\(Base64.encode(Array(repeating: 0, count: 32)))"))
        #expect(early.answer(server.challenge) == nil)
    }

    @Test func proofsOfOtherExchangesAndStoredKeysAreRefused() throws {
        let token = TokenSecret.make()
        let verifier = ScramVerifier(token: token)
        var client = Scram.Client(token: token)
        let server = try Scram.Server(client.first)
        let last = try answer(&client, server.challenge)
        let again = try Scram.Server(client.first)
        #expect(throws: TweakError.self) { try again.accept(last, verifier) }
        let replayed = last.replacing(server.nonce, with: again.nonce)
        #expect(try again.accept(replayed, verifier) == nil)
        let forged = "c=biws,r=\(again.nonce),p=\(Base64.encode(verifier.storedKey))"
        #expect(try again.accept(forged, verifier) == nil)
    }

    @Test func theChallengeDoesNotRevealWhetherAKeyIDExists() throws {
        let first = "n,,n=\(ScramVerifier.id(of: "twk_unknown")),r=abc"
        let challenges = try (0..<2).map { _ in try Scram.Server(first, nonce: "N").challenge }
        #expect(challenges[0] == challenges[1] && challenges[0].hasSuffix(",i=1"))
    }

    @Test(arguments: [
        "", "n", "n,,", "n,,n=,r=x", "n,,n=a", "n,,n=a,r=", "n,,r=x,n=a", "n,,m=x,n=a,r=x", "y,,n=a,r=x",
        "n,a=b,n=a,r=x",
        "p=tls-unique,,n=a,r=x", "n,,n=a,r=x y", "n,,n=a,r=é", "n,,n=a,r=" + String(repeating: "x", count: 512),
    ])
    func badBeginningsAreRefused(_ message: String) { #expect(throws: TweakError.self) { try Scram.Server(message) } }

    @Test(arguments: [
        "", "r=aN", "r=aN,s=", "r=aN,s=YQ==", "r=aN,s=YQ==,i=", "r=aN,s=YQ==,i=0", "r=aN,s=YQ==,i=-1", "r=aN,s=YQ,i=1",
        "r=aN,s=YQ==,i=4097", "r=a,s=YQ==,i=1", "r=N,s=YQ==,i=1", "s=YQ==,r=aN,i=1", "e=other-error",
        "m=x,r=aN,s=YQ==,i=1",
    ])
    func invalidChallengesAreRefused(_ message: String) {
        var client = Scram.Client(user: "u", password: "p", nonce: "a")
        #expect(client.answer(message) == nil && client.sessionKey.isEmpty)
    }

    @Test(arguments: [
        "c=biws", "c=biws,r=aN", "c=biws,r=aN,p=", "c=eSws,r=aN,p=AAAA", "c=biws,r=a,p=AAAA", "c=biws,r=aN,p=AAAA",
        "r=aN,c=biws,p=AAAA", "c=biws,r=aN,p=!",
    ])
    func invalidLastMessagesAreRefused(_ message: String) throws {
        let server = try Scram.Server("n,,n=u,r=a", nonce: "N")
        #expect(throws: TweakError.self) { try server.accept(message, .decoy) }
    }
}
