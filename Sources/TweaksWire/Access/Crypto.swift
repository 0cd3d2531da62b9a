// Computes SHA-256, HMACs and Base64; the toolchain has no implementations without a dependency.

/// SHA-256.
package enum SHA256 {
    /// The number of bytes of a digest.
    package static let count = 32

    /// The digest of some bytes.
    package static func digest(_ message: some Sequence<UInt8>) -> [UInt8] {
        var bytes = Array(message)
        let bits = UInt64(bytes.count) * 8
        bytes.append(0x80)
        bytes += repeatElement(0, count: (120 - bytes.count % 64) % 64)
        withUnsafeBytes(of: bits.bigEndian) { bytes += $0 }
        var state = initial
        // Allocated once: the audit computes a digest for each line.
        var schedule = [UInt32](repeating: 0, count: 64)
        for start in stride(from: 0, to: bytes.count, by: 64) { compress(&state, &schedule, constants, bytes, start) }
        return state.map { $0.bigEndian }.withUnsafeBytes { Array($0) }
    }

    /// The first 32 bits of the fractional parts of the square roots of the first 8 primes.
    private static let initial: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    /// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]

    // Pointers, `while` and `&>>` call no generic code where a build is not optimized, which makes this five times as
    // fast there.
    private static func compress(
        _ state: UnsafeMutablePointer<UInt32>, _ schedule: UnsafeMutablePointer<UInt32>,
        _ constants: UnsafePointer<UInt32>, _ bytes: UnsafePointer<UInt8>, _ start: Int
    ) {
        expand(schedule, bytes + start)
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        var index = 0
        while index < 64 {
            let choice = e & f ^ ~e & g
            let majority = a & b ^ a & c ^ b & c
            let first = h &+ (rotate(e, 6) ^ rotate(e, 11) ^ rotate(e, 25)) &+ choice &+ constants[index]
            let step = first &+ schedule[index]
            let second = (rotate(a, 2) ^ rotate(a, 13) ^ rotate(a, 22)) &+ majority
            h = g
            g = f
            f = e
            e = d &+ step
            d = c
            c = b
            b = a
            a = step &+ second
            index += 1
        }
        (state[0], state[1], state[2], state[3]) = (state[0] &+ a, state[1] &+ b, state[2] &+ c, state[3] &+ d)
        (state[4], state[5], state[6], state[7]) = (state[4] &+ e, state[5] &+ f, state[6] &+ g, state[7] &+ h)
    }

    /// Makes the 64 words of the schedule from the 64 bytes of a block.
    private static func expand(_ schedule: UnsafeMutablePointer<UInt32>, _ block: UnsafePointer<UInt8>) {
        var index = 0
        while index < 16 {
            let at = block + 4 * index
            schedule[index] = UInt32(at[0]) &<< 24 | UInt32(at[1]) &<< 16 | UInt32(at[2]) &<< 8 | UInt32(at[3])
            index += 1
        }
        while index < 64 {
            let (old, recent) = (schedule[index - 15], schedule[index - 2])
            let first = rotate(old, 7) ^ rotate(old, 18) ^ old &>> 3
            let second = rotate(recent, 17) ^ rotate(recent, 19) ^ recent &>> 10
            schedule[index] = schedule[index - 16] &+ first &+ schedule[index - 7] &+ second
            index += 1
        }
    }

    private static func rotate(_ word: UInt32, _ count: UInt32) -> UInt32 { word &>> count | word &<< (32 &- count) }
}

extension SHA256 {
    private static let blockCount = 64

    /// HMAC-SHA-256, by RFC 2104.
    package static func code(_ message: some Sequence<UInt8>, key: [UInt8]) -> [UInt8] {
        var block = key.count > blockCount ? digest(key) : key
        block += repeatElement(0, count: blockCount - block.count)
        let inner = digest(block.map { $0 ^ 0x36 } + message)
        return digest(block.map { $0 ^ 0x5C } + inner)
    }

    /// `Hi` of RFC 5802, which is PBKDF2 for one block.
    static func stretched(_ password: [UInt8], salt: [UInt8], iterations: Int) -> [UInt8] {
        var last = code(salt + [0, 0, 0, 1], key: password)
        var result = last
        for _ in 1..<max(iterations, 1) {
            last = code(last, key: password)
            result = xor(result, last)
        }
        return result
    }

    /// XORs byte by byte.
    package static func xor(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] { zip(left, right).map { $0 ^ $1 } }

    /// Whether both are equal, in a time that does not depend on how many bytes match.
    package static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}

/// Base64 (RFC 4648), fast enough for hundreds of values of 64 KiB. Foundation has it, too, but this module does not
/// import Foundation.
package enum Base64 {
    private static let common = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
    private static let standard = Array("\(common)+/".utf8)
    private static let url = Array("\(common)-_".utf8)
    private static let padding = UInt8(ascii: "=")

    /// The value of each letter of section 4; 255 for bytes that are not letters.
    private static let values: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in standard.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// Encodes by section 4, with padding.
    package static func encode(_ bytes: some Sequence<UInt8>) -> String {
        var text = letters(of: bytes, standard)
        while text.count % 4 != 0 { text.append(padding) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Encodes by section 5, without padding: safe in URLs, cookies and names.
    package static func encodeForURL(_ bytes: some Sequence<UInt8>) -> String {
        String(decoding: letters(of: bytes, url), as: UTF8.self)
    }

    private static func letters(of bytes: some Sequence<UInt8>, _ alphabet: [UInt8]) -> [UInt8] {
        var text: [UInt8] = []
        text.reserveCapacity(bytes.underestimatedCount / 3 * 4 + 4)
        var bits = 0
        var pending = 0
        for byte in bytes {
            pending = (pending << 8 | Int(byte)) & 0xFFFF
            bits += 8
            while bits >= 6 {
                bits -= 6
                text.append(alphabet[pending >> bits & 63])
            }
        }
        if bits > 0 { text.append(alphabet[pending << (6 - bits) & 63]) }
        return text
    }

    /// Decodes only the output of `encode`: no blanks, no missing padding, no leftover bits.
    package static func decode(_ text: some StringProtocol) -> [UInt8]? {
        var text = Array(text.utf8)
        guard text.count % 4 == 0 else { return nil }
        for _ in 0..<2 where text.last == padding { text.removeLast() }
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count / 4 * 3 + 2)
        var bits = 0
        var pending = 0
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

    /// Whether all characters of a text are of the URL alphabet.
    package static func isForURL(_ text: some StringProtocol) -> Bool { text.utf8.allSatisfy(url.contains) }
}
