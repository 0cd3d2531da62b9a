// Implements exact arithmetic on fractions of 128-bit integers.

/// A fraction in lowest terms, with a denominator above 0. Results beyond 128 bits are nil.
struct Fraction: Equatable {
    let numerator: Int128
    let denominator: Int128

    /// The fraction of two whole numbers; nil if the second is 0.
    init?(_ numerator: Int128, over denominator: Int128 = 1) {
        // Int128.min has no negative; typed arithmetic never reaches it.
        guard denominator != 0, numerator != .min, denominator != .min else { return nil }
        var (left, right) = (numerator.magnitude, denominator.magnitude)
        while right != 0 { (left, right) = (right, left % right) }
        let divisor = Int128(left) * denominator.signum()
        self.numerator = numerator / divisor
        self.denominator = denominator / divisor
    }

    /// A decimal number such as `12`, `0.5` or `1e-3`.
    init?(decimal text: String) {
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        let digits = parts[0].split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard var exponent = parts.count == 1 ? 0 : Int(Substring(parts[1])),
            let mantissa = Int128(digits.map { String(Substring($0)) }.joined()),
            text.utf8.first.map(Self.isDigit) == true
        else { return nil }
        if digits.count == 2 { exponent -= digits[1].count }
        guard (-38...38).contains(exponent) else { return nil }
        let power = (0..<exponent.magnitude).reduce(Int128(1)) { power, _ in power * 10 }
        if exponent < 0 { self.init(mantissa, over: power) } else { self.init(product: mantissa, power) }
    }

    private init?(product left: Int128, _ right: Int128, over denominator: Int128 = 1) {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        if overflow { return nil }
        self.init(product, over: denominator)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The value as a whole number; nil if it is not one.
    var whole: Int128? { denominator == 1 ? numerator : nil }

    /// The nearest double, or an adjacent one if both parts exceed a double's precision.
    var nearest: Double { Double(numerator) / Double(denominator) }

    func plus(_ other: Fraction) -> Fraction? {
        let (left, first) = numerator.multipliedReportingOverflow(by: other.denominator)
        let (right, second) = other.numerator.multipliedReportingOverflow(by: denominator)
        let (bottom, third) = denominator.multipliedReportingOverflow(by: other.denominator)
        let (top, fourth) = left.addingReportingOverflow(right)
        return first || second || third || fourth ? nil : Fraction(top, over: bottom)
    }

    func times(_ other: Fraction) -> Fraction? {
        // Cancels crosswise first, so that only the result can overflow.
        guard let left = Fraction(numerator, over: other.denominator),
            let right = Fraction(other.numerator, over: denominator)
        else { return nil }
        let (bottom, overflow) = left.denominator.multipliedReportingOverflow(by: right.denominator)
        return overflow ? nil : Fraction(product: left.numerator, right.numerator, over: bottom)
    }

    var negative: Fraction? { Fraction(-numerator, over: denominator) }
    var inverse: Fraction? { Fraction(denominator, over: numerator) }
}
