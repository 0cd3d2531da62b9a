// Evaluates arithmetic that is typed in place of a number or a duration, exactly: 40*2, (1 + 2) / 3, 2*250ms.

/// Evaluates `+ - * /` and parentheses, exactly.
struct Calculation {
    /// A number, or the nanoseconds of a duration.
    struct Quantity {
        let amount: Fraction
        var isDuration = false
    }

    /// In bytes; typed input is shorter.
    private static let maxLength = 256
    private static let maxDepth = 32

    private let scalars: [Unicode.Scalar]
    private let readsDurations: Bool
    private var position = 0
    private var depth = 0
    /// False for a single number, of which a kind may have a syntax of its own.
    private(set) var hasOperator = false
    /// Why durations cannot be combined in this way.
    private(set) var mistake: String?

    init(_ text: String, readsDurations: Bool = false) {
        scalars = text.utf8.count > Self.maxLength ? [] : Array(text.unicodeScalars)
        self.readsDurations = readsDurations
    }

    /// The result; nil for other text, a division by 0, and results beyond 128 bits. To be called once.
    mutating func result() -> Quantity? {
        guard let result = sum(), next == nil else { return nil }
        return result
    }

    /// The result of a text without durations.
    static func number(_ text: String) -> Fraction? {
        var calculation = Calculation(text)
        return calculation.result()?.amount
    }

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

    private mutating func sum() -> Quantity? {
        var total = product()
        while let sign = consume("+", "-", "\u{2212}") {
            hasOperator = true
            guard let left = total, let right = product() else { return nil }
            if left.isDuration != right.isDuration {
                mistake = "a number and a duration cannot be added; write the unit of each"
                return nil
            }
            let term = sign == "+" ? right.amount : right.amount.negative
            total = term.flatMap { left.amount.plus($0) }.map { Quantity(amount: $0, isDuration: left.isDuration) }
        }
        return total
    }

    private mutating func product() -> Quantity? {
        var total = factor()
        while let sign = consume("*", "/", "×", "÷") {
            hasOperator = true
            guard let left = total, let right = factor() else { return nil }
            let divides = sign == "/" || sign == "÷"
            if right.isDuration, left.isDuration || divides {
                mistake = "a duration can be multiplied and divided by a number only"
                return nil
            }
            let factor = divides ? right.amount.inverse : right.amount
            total = factor.flatMap { left.amount.times($0) }.map {
                Quantity(amount: $0, isDuration: left.isDuration || right.isDuration)
            }
        }
        return total
    }

    private mutating func factor() -> Quantity? {
        guard let sign = consume("+", "-", "\u{2212}") else { return operand() }
        guard let value = operand() else { return nil }
        if sign == "+" { return value }
        return value.amount.negative.map { Quantity(amount: $0, isDuration: value.isDuration) }
    }

    private mutating func operand() -> Quantity? {
        guard consume("(") != nil else { return literal() }
        if depth == Self.maxDepth { return nil }
        depth += 1
        defer { depth -= 1 }
        hasOperator = true
        let value = sum()
        return consume(")") == nil ? nil : value
    }

    private mutating func literal() -> Quantity? {
        guard next != nil else { return nil }
        let text = word()
        let whole = TweakValue(parsing: text, as: .int)?.whole
        if let number = whole.flatMap({ Fraction($0) }) ?? Fraction(decimal: text) { return Quantity(amount: number) }
        guard readsDurations, let nanoseconds = DurationText.parse(text.hasPrefix(".") ? "0" + text : text) else {
            return nil
        }
        return Fraction(Int128(nanoseconds)).map { Quantity(amount: $0, isDuration: true) }
    }

    /// The characters of a number; blanks may separate the parts of a duration, as in `1h 30 m`.
    private mutating func word() -> String {
        let start = position
        var text = String.UnicodeScalarView()
        while position < scalars.count {
            let scalar = scalars[position]
            if isPartOfNumber(scalar, after: start) {
                text.append(scalar)
                position += 1
                continue
            }
            // `1 2ms` is not 12ms.
            guard readsDurations, scalar == " ", let last = text.last, let next, isPartOfNumber(next, after: start),
                last.properties.isAlphabetic != next.properties.isAlphabetic
            else { break }
        }
        return String(text)
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

    /// A decimal number such as `12`, `.5` or `1e-3`, without a sign.
    init?(decimal text: String) {
        guard let first = text.utf8.first, first.isDigit || first == UInt8(ascii: "."),
            let decimal = ExactDecimal(text), decimal.exponent >= -38
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

    /// The nearest whole number; halves are rounded away from 0.
    var rounded: Int128 {
        let (quotient, rest) = numerator.quotientAndRemainder(dividingBy: denominator)
        return rest.magnitude < denominator.magnitude - rest.magnitude ? quotient : quotient + numerator.signum()
    }

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

extension TweakValue {
    /// The calculation that a typed change such as `*=2` or `-= 5ms` means for this value: `60*2`. Nil for other text,
    /// and for values that are not numbers or durations. The protocol has no `*=`, so clients send the calculation.
    package func calculation(changing text: String) -> String? {
        guard [.int, .number, .duration].contains(kind) else { return nil }
        let words = text[...].trimmedBlanks
        guard let sign = words.first, "*/+-".contains(sign), words.dropFirst().first == "=" else { return nil }
        let amount = words.dropFirst(2).trimmedBlanks
        if amount.isEmpty { return nil }
        let isPlain = amount.utf8.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
        return "\(self.text)\(sign)\(isPlain ? amount : "(\(amount))")"
    }
}
