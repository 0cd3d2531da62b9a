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

    /// A decimal number such as `12`, `0.5` or `1e-3`, without a sign.
    init?(decimal text: String) {
        guard text.utf8.first.map(Self.isDigit) == true, let decimal = ExactDecimal(text),
            (-38...38).contains(decimal.exponent),
            let digits = Int128(String(decoding: ([0] + decimal.digits).map { $0 + UInt8(ascii: "0") }, as: UTF8.self))
        else { return nil }
        let power = (0..<decimal.exponent.magnitude).reduce(Int128(1)) { power, _ in power * 10 }
        if decimal.exponent < 0 { self.init(digits, over: power) } else { self.init(product: digits, power) }
    }

    private init?(product left: Int128, _ right: Int128, over denominator: Int128 = 1) {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        if overflow { return nil }
        self.init(product, over: denominator)
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    /// The value as a whole number; nil if it is not one.
    var whole: Int128? { denominator == 1 ? numerator : nil }

    /// The nearest double.
    var nearest: Double {
        if numerator == 0 { return 0 }
        let (top, bottom) = (numerator.magnitude, denominator.magnitude)
        // Both parts are shifted to their full width, so that the quotient has at least 127 bits. Neither has the
        // highest bit, since they were signed, and the dividend's is left free: it is below the divisor.
        let (left, right) = (top.leadingZeroBitCount, bottom.leadingZeroBitCount)
        let (quotient, rest) = (bottom << right).dividingFullWidth((top << (left - 1), 0))
        // A last bit stands for the rest, so that the conversion rounds as the whole fraction would.
        let significand = Double(rest == 0 ? quotient : quotient | 1)
        return Double(sign: numerator < 0 ? .minus : .plus, exponent: right - left - 127, significand: significand)
    }

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
