// Encodes and decodes base64, fast enough for hundreds of values of 64 KiB.

/// RFC 4648, section 4, with padding.
enum EtcdBase64 {
    private static let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The value of each letter; 255 for bytes that are not letters.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in letters.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    static func encode(_ bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count / 3 * 4 + 4)
        var (bits, pending) = (0, 0)
        for byte in bytes {
            pending = (pending << 8 | Int(byte)) & 0xFFFF
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(letters[pending >> bits & 63])
            }
        }
        if bits > 0 { text.append(letters[pending << (6 - bits) & 63]) }
        while text.count % 4 != 0 { text.append(padding) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Returns nil for invalid input: spaces, missing padding, leftover bits.
    static func decode(_ text: String) -> [UInt8]? {
        var text = Array(text.utf8)
        guard text.count % 4 == 0 else { return nil }
        for _ in 0..<2 where text.last == padding { text.removeLast() }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var (bits, pending) = (0, 0)
        for letter in text {
            let value = values[Int(letter)]
            if value == 255 { return nil }
            pending = (pending << 6 | Int(value)) & 0xFFFF
            bits += 6
            if bits >= 8 {
                bits -= 8
                bytes.append(UInt8(truncatingIfNeeded: pending >> bits))
            }
        }
        let isWhole = bits < 6 && pending & ((1 << bits) - 1) == 0
        return isWhole ? bytes : nil
    }
}
