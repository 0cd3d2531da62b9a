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
        return prefix + base64url(bytes)
    }

    /// What a server keeps of it.
    package static func digest(of token: String) -> [UInt8] { SHA256.digest(token.utf8) }

    /// Whether text looks like a token: one that was cut, or is something else, shows before anybody is asked.
    package static func isWellFormed(_ text: String) -> Bool {
        let rest = text.utf8.dropFirst(prefix.utf8.count)
        return text.utf8.starts(with: prefix.utf8) && rest.count == count && rest.allSatisfy(alphabet.contains)
    }

    /// What stands for six bits each, by their value.
    package static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)

    /// RFC 4648, section 5.
    static func base64url(_ bytes: [UInt8]) -> String {
        var (result, bits, pending) = ([UInt8](), 0, UInt32(0))
        for byte in bytes {
            pending = pending << 8 | UInt32(byte)
            bits += 8
            while bits >= 6 {
                bits -= 6
                result.append(alphabet[Int(pending >> UInt32(bits) & 63)])
            }
        }
        if bits > 0 { result.append(alphabet[Int(pending << UInt32(6 - bits) & 63)]) }
        return String(decoding: result, as: UTF8.self)
    }
}
