// The page made small for its way to the browser: gzip by RFC 1952, with the fixed codes of RFC 1951.

/// Compresses what does not change, once. The toolchain has nothing for it that works without a dependency.
enum Gzip {
    /// The compressed form of some bytes.
    static func compress(_ bytes: [UInt8]) -> [UInt8] {
        // Deflate, no flags, no time, unknown system.
        var output = Output(bytes: [0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 255])
        // One block, the last, with fixed codes.
        output.append(bits: 0b011, count: 3)
        deflate(bytes, to: &output)
        output.appendSymbol(256)
        output.align()
        for word in [checksum(bytes), UInt32(truncatingIfNeeded: bytes.count)] {
            output.bytes += (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) }
        }
        return output.bytes
    }

    // MARK: Repetitions

    private static let window = 32_768
    private static let longest = 258
    private static let shortest = 3
    /// So many earlier places are looked at for each one.
    private static let patience = 64

    private static func deflate(_ bytes: [UInt8], to output: inout Output) {
        // Where the three bytes at a place last stood, and where they stood before each place.
        var (last, before) = ([UInt32: Int](), [Int](repeating: -1, count: bytes.count))
        func note(_ place: Int) {
            guard place + shortest <= bytes.count else { return }
            let key = key(bytes, place)
            before[place] = last[key] ?? -1
            last[key] = place
        }
        var place = 0
        while place < bytes.count {
            let (length, distance) = match(bytes, place, last, before)
            if length < shortest {
                output.appendSymbol(Int(bytes[place]))
                note(place)
                place += 1
            } else {
                output.append(length: length, distance: distance)
                for covered in place..<(place + length) { note(covered) }
                place += length
            }
        }
    }

    private static func key(_ bytes: [UInt8], _ place: Int) -> UInt32 {
        UInt32(bytes[place]) | UInt32(bytes[place + 1]) << 8 | UInt32(bytes[place + 2]) << 16
    }

    /// The longest earlier text that goes on in the same way.
    private static func match(
        _ bytes: [UInt8], _ place: Int, _ last: [UInt32: Int], _ before: [Int]
    ) -> (length: Int, distance: Int) {
        guard place + shortest <= bytes.count else { return (0, 0) }
        var best = (length: 0, distance: 0)
        var candidate = last[key(bytes, place)] ?? -1
        var tries = patience
        while candidate >= 0, place - candidate <= window, tries > 0 {
            var length = 0
            let most = min(longest, bytes.count - place)
            while length < most, bytes[candidate + length] == bytes[place + length] { length += 1 }
            if length > best.length { best = (length, place - candidate) }
            candidate = before[candidate]
            tries -= 1
        }
        return best
    }

    /// CRC-32 by RFC 1952, section 8.
    static func checksum(_ bytes: [UInt8]) -> UInt32 {
        var sum: UInt32 = ~0
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 1 ? sum >> 1 ^ 0xEDB8_8320 : sum >> 1 }
        }
        return ~sum
    }

    // MARK: Bits

    private struct Output {
        var bytes: [UInt8]
        private var pending: UInt64 = 0
        private var pendingCount = 0

        init(bytes: [UInt8]) { self.bytes = bytes }

        /// Numbers begin with their lowest bit.
        mutating func append(bits: UInt32, count: Int) {
            pending |= UInt64(bits) << UInt64(pendingCount)
            pendingCount += count
            while pendingCount >= 8 {
                bytes.append(UInt8(truncatingIfNeeded: pending))
                pending >>= 8
                pendingCount -= 8
            }
        }

        /// Codes begin with their highest bit.
        private mutating func append(code: UInt32, count: Int) {
            let mirrored = (0..<count).reduce(UInt32(0)) { $0 | (code >> UInt32($1) & 1) << UInt32(count - 1 - $1) }
            append(bits: mirrored, count: count)
        }

        mutating func align() { if pendingCount > 0 { append(bits: 0, count: 8 - pendingCount) } }

        /// RFC 1951, section 3.2.6.
        mutating func appendSymbol(_ symbol: Int) {
            switch symbol {
            case 0...143: append(code: UInt32(0x30 + symbol), count: 8)
            case 144...255: append(code: UInt32(0x190 + symbol - 144), count: 9)
            case 256...279: append(code: UInt32(symbol - 256), count: 7)
            default: append(code: UInt32(0xC0 + symbol - 280), count: 8)
            }
        }

        mutating func append(length: Int, distance: Int) {
            let (symbol, lengthBase, lengthBits) = Self.code(length, Gzip.lengths)
            appendSymbol(257 + symbol)
            append(bits: UInt32(length - lengthBase), count: lengthBits)
            let (place, distanceBase, distanceBits) = Self.code(distance, Gzip.distances)
            append(code: UInt32(place), count: 5)
            append(bits: UInt32(distance - distanceBase), count: distanceBits)
        }

        private static func code(_ value: Int, _ table: [(base: Int, bits: Int)]) -> (Int, base: Int, bits: Int) {
            let symbol = (table.firstIndex { $0.base > value } ?? table.count) - 1
            return (symbol, table[symbol].base, table[symbol].bits)
        }
    }

    /// RFC 1951, section 3.2.5: each code's first value, and how many bits tell which of its values it is.
    private static let lengths: [(base: Int, bits: Int)] = {
        var (base, table) = (3, [(base: Int, bits: Int)]())
        for bits in [0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5] {
            table.append((base, bits))
            base += 1 << bits
        }
        // The longest has a code of its own.
        return table + [(258, 0)]
    }()

    private static let distances: [(base: Int, bits: Int)] = {
        var (base, table) = (1, [(base: Int, bits: Int)]())
        for bits in [0, 0] + (0...13).flatMap({ [$0, $0] }) {
            table.append((base, bits))
            base += 1 << bits
        }
        return table
    }()
}
