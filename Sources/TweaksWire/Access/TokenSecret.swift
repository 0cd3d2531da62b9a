// Generates tokens, computes their digests, and checks their form.

/// The text of a token. Only its holder keeps it; servers keep a verifier.
package enum TokenSecret {
    /// The prefix by which readers and secret scanners recognize a token.
    package static let prefix = "twk_"
    /// The number of characters after the prefix: 256 bits in base64url, without padding.
    package static let count = 43

    /// Generates a token.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return make(using: &generator)
    }

    /// Generates a token with the given generator.
    package static func make(using generator: inout some RandomNumberGenerator) -> String {
        let bytes = (0..<SHA256.count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return prefix + Base64.encodeForURL(bytes)
    }

    /// Its SHA-256.
    package static func digest(of token: String) -> [UInt8] { SHA256.digest(token.utf8) }

    /// Whether a text has the form of a token; detects a truncated one without asking a server.
    package static func isWellFormed(_ text: String) -> Bool {
        let rest = text.utf8.dropFirst(prefix.utf8.count)
        return text.utf8.starts(with: prefix.utf8) && rest.count == count
            && Base64.isForURL(String(decoding: Array(rest), as: UTF8.self))
    }

    /// The characters of six bits each, by value.
    package static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
