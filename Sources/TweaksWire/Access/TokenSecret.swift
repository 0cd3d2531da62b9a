// A token's text: how it is made, and what is kept of it.

/// What somebody shows to be let in. Nothing keeps it but the one it was given to.
package enum TokenSecret {
    /// What it begins with, so that people, and programs that look for leaked secrets, know it when they see it.
    package static let prefix = "twk_"
    /// How many characters follow: 256 bits in base64url, without filling.
    package static let count = 43

    /// Makes a token.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return make(using: &generator)
    }

    /// Makes one of another's random bits.
    package static func make(using generator: inout some RandomNumberGenerator) -> String {
        let bytes = (0..<SHA256.count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return prefix + Base64.encodeForURL(bytes)
    }

    /// Its SHA-256.
    package static func digest(of token: String) -> [UInt8] { SHA256.digest(token.utf8) }

    /// Whether text looks like a token: one that was cut, or is something else, shows before anybody is asked.
    package static func isWellFormed(_ text: String) -> Bool {
        let rest = text.utf8.dropFirst(prefix.utf8.count)
        return text.utf8.starts(with: prefix.utf8) && rest.count == count
            && Base64.isForURL(String(decoding: Array(rest), as: UTF8.self))
    }

    /// What stands for six bits each, by their value.
    package static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
}
