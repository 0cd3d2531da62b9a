// Encodes and decodes Base64 (RFC 4648) for SCRAM, tokens and cookies.

/// Base64. Foundation has it, too, but this module does not import Foundation.
package enum Base64 {
    private static let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standard = Array("\(common)+/".utf8)
    private static let url = Array("\(common)-_".utf8)

    /// Encodes by section 4, with padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        let text = encode(bytes, standard)
        return text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4)
    }

    /// Encodes by section 5, without padding: safe in URLs, cookies and names.
    package static func encodeForURL(_ bytes: some Sequence<UInt8>) -> String { encode(bytes, url) }

    private static func encode(_ bytes: some Sequence<UInt8>, _ alphabet: [UInt8]) -> String {
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

    /// Decodes only the output of `encode`: no blanks, no missing padding, no leftover bits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        guard text.utf8.count % 4 == 0 else { return nil }
        var (result, bits, pending) = ([UInt8](), 0, UInt32(0))
        for letter in text.utf8 {
            if letter == UInt8(ascii: "=") { break }
            guard let value = standard.firstIndex(of: letter) else { return nil }
            pending = pending << 6 | UInt32(value)
            bits += 6
            if bits >= 8 {
                bits -= 8
                result.append(UInt8(truncatingIfNeeded: pending >> UInt32(bits)))
            }
        }
        return encode(result) == text ? result : nil
    }

    /// Whether all characters of a text are of the URL alphabet.
    package static func isForURL(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy(url.contains) }
}
