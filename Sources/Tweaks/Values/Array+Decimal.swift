// Appends integers to byte arrays in decimal, without an intermediate string.

extension [UInt8] {
    /// Appends a whole number in decimal.
    package mutating func append(decimal number: Int64) {
        if number < 0 { append(UInt8(ascii: "-")) }
        append(decimal: number.magnitude)
    }

    /// Appends a whole number in decimal.
    package mutating func append(decimal number: UInt64) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { digits in
            var (position, rest) = (digits.count, number)
            repeat {
                position -= 1
                digits[position] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0
            append(contentsOf: UnsafeMutableBufferPointer(rebasing: digits[position...]))
        }
    }
}
