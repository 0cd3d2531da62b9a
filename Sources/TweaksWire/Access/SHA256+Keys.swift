// Computes HMACs and SCRAM's salted password, and compares bytes in constant time.

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
