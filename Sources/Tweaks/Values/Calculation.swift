// Evaluates arithmetic that is typed in place of a number, exactly: 40*2, (1 + 2) / 3.

/// Evaluates `+ - * /` and parentheses, exactly.
struct Calculation {
    /// In bytes; typed input is shorter.
    private static let maxLength = 256
    private static let maxDepth = 32

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    /// False for a single number, which each kind parses itself.
    private var hasOperator = false

    /// The result; nil for other text, a single number, a division by 0, and results beyond 128 bits.
    static func result(of text: String) -> Fraction? {
        if text.utf8.count > maxLength { return nil }
        var reader = Calculation(scalars: Array(text.unicodeScalars))
        guard let result = reader.sum(), reader.next == nil, reader.hasOperator else { return nil }
        return result
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    /// The next scalar after blanks.
    private var next: Unicode.Scalar? {
        mutating get {
            while position < scalars.count, scalars[position] == " " { position += 1 }
            return position < scalars.count ? scalars[position] : nil
        }
    }

    private mutating func consume(_ wanted: Unicode.Scalar...) -> Unicode.Scalar? {
        guard let next, wanted.contains(next) else { return nil }
        position += 1
        return next
    }

    private mutating func sum() -> Fraction? {
        var total = product()
        while let sign = consume("+", "-", "\u{2212}") {
            hasOperator = true
            let term = product()
            total = (sign == "+" ? term : term?.negative).flatMap { total?.plus($0) }
            if total == nil { return nil }
        }
        return total
    }

    private mutating func product() -> Fraction? {
        var total = factor()
        while let sign = consume("*", "/", "×", "÷") {
            hasOperator = true
            let factor = self.factor()
            total = (sign == "*" || sign == "×" ? factor : factor?.inverse).flatMap { total?.times($0) }
            if total == nil { return nil }
        }
        return total
    }

    private mutating func factor() -> Fraction? {
        if let sign = consume("+", "-", "\u{2212}") {
            let value = operand()
            return sign == "+" ? value : value?.negative
        }
        return operand()
    }

    private mutating func operand() -> Fraction? {
        guard consume("(") != nil else { return number() }
        if depth == Self.maxDepth { return nil }
        depth += 1
        defer { depth -= 1 }
        hasOperator = true
        let value = sum()
        return consume(")") == nil ? nil : value
    }

    private mutating func number() -> Fraction? {
        guard next != nil else { return nil }
        let start = position
        while position < scalars.count, isPartOfNumber(scalars[position], after: start) { position += 1 }
        let text = String(String.UnicodeScalarView(scalars[start..<position]))
        if let whole = TweakValue(parsing: text, as: .int)?.whole { return Fraction(whole) }
        return Fraction(decimal: text)
    }

    private func isPartOfNumber(_ scalar: Unicode.Scalar, after start: Int) -> Bool {
        switch scalar {
        case "0"..."9", "a"..."z", "A"..."Z", ".", "_": return true
        case "+", "-":
            // The sign of an exponent, but not after the hexadecimal digit e.
            let isHexadecimal = start + 1 < scalars.count && scalars[start + 1].properties.lowercaseMapping == "x"
            return position > start && !isHexadecimal && "eE".unicodeScalars.contains(scalars[position - 1])
        default: return false
        }
    }
}

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
        guard text.utf8.first?.isDigit == true, let decimal = ExactDecimal(text),
            decimal.exponent >= -38
        else { return nil }
        let power = (0..<max(0, -decimal.exponent)).reduce(Int128(1)) { power, _ in power * 10 }
        guard let scaled = ExactDecimal("\(power)"), let whole = decimal.times(scaled).whole else { return nil }
        self.init(whole, over: power)
    }

    private init?(product left: Int128, _ right: Int128, over denominator: Int128 = 1) {
        let (product, overflow) = left.multipliedReportingOverflow(by: right)
        if overflow { return nil }
        self.init(product, over: denominator)
    }

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
