// Tests SHA-256 with published vectors, and against sha256sum.

import Foundation
import Testing
import TweaksTestSupport
import TweaksWire

@Suite(.blocking) struct SHA256Tests {
    /// The examples of FIPS 180-4.
    @Test(arguments: [
        ("", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
        ("abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"
        ),
        (
            "abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmnhijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu",
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1"
        ),
    ])
    func digestsEqualThePublishedOnes(_ message: String, _ digest: String) {
        #expect(TokenText.hexadecimal(SHA256.digest(message.utf8)) == digest)
    }

    @Test(.tags(.quantity), .enabled(if: isQuantityFull, "set TWEAKS_TEST_QUANTITY=full"))
    func theDigestOfAMillionLettersEqualsThePublishedOne() {
        let digest = SHA256.digest(repeatElement(UInt8(ascii: "a"), count: 1_000_000))
        #expect(TokenText.hexadecimal(digest) == "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0")
    }

    @Test(.enabled(if: Tool.sha256sum.exists, "there is no sha256sum here"))
    func digestsOfAllShortLengthsEqualThoseOfSHA256Sum() throws {
        let directory = try TemporaryDirectory()
        var generator = SeededGenerator(seed: 5)
        let messages = (Array(0...200) + [100_003]).map { length in
            (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        }
        for (number, message) in messages.enumerated() {
            try Data(message).write(to: URL(fileURLWithPath: directory.file(String(number))))
        }
        let names = messages.indices.map { directory.file(String($0)) }
        let lines = try Tool.sha256sum.run(names, input: "").split(separator: "\n")
        try #require(lines.count == messages.count)
        for (line, message) in zip(lines, messages) {
            #expect(line.prefix(64) == TokenText.hexadecimal(SHA256.digest(message)), "\(message.count) bytes")
        }
    }
}
