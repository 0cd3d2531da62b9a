// Evaluates arithmetic that is typed in place of a number: 40*2, (1 + 2) / 3.

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
