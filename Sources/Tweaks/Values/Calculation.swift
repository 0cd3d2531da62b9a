// Sums as people type them where a number belongs: 40*2, (1 + 2) / 3.

/// Works out `+ - * /` and parentheses, exactly.
struct Calculation {
    /// Longer ones are not typed by hand.
    private static let longest = 256
    private static let deepest = 32

    private let scalars: [Unicode.Scalar]
    private var position = 0
    private var depth = 0
    /// A number alone is no sum: how that is written is each kind's own business.
    private var isSum = false

    /// The result; nil for anything that is no sum, for a division by 0, and where 128 bits are not enough.
    static func result(of text: String) -> Fraction? {
        if text.utf8.count > longest { return nil }
        var reader = Calculation(scalars: Array(text.unicodeScalars))
        guard let result = reader.sum(), reader.next == nil, reader.isSum else { return nil }
        return result
    }

    private init(scalars: [Unicode.Scalar]) { self.scalars = scalars }

    /// What stands behind blanks.
    private var next: Unicode.Scalar? {
        mutating get {
            while position < scalars.count, scalars[position] == " " { position += 1 }
            return position < scalars.count ? scalars[position] : nil
        }
    }

    private mutating func take(_ wanted: Unicode.Scalar...) -> Unicode.Scalar? {
        guard let next, wanted.contains(next) else { return nil }
        position += 1
        return next
    }

    private mutating func sum() -> Fraction? {
        var total = product()
        while let sign = take("+", "-", "\u{2212}") {
            isSum = true
            let term = product()
            total = (sign == "+" ? term : term?.negative).flatMap { total?.plus($0) }
            if total == nil { return nil }
        }
        return total
    }

    private mutating func product() -> Fraction? {
        var total = factor()
        while let sign = take("*", "/", "×", "÷") {
            isSum = true
            let factor = self.factor()
            total = (sign == "*" || sign == "×" ? factor : factor?.inverse).flatMap { total?.times($0) }
            if total == nil { return nil }
        }
        return total
    }

    private mutating func factor() -> Fraction? {
        if let sign = take("+", "-", "\u{2212}") {
            let value = operand()
            return sign == "+" ? value : value?.negative
        }
        return operand()
    }

    private mutating func operand() -> Fraction? {
        guard take("(") != nil else { return number() }
        if depth == Self.deepest { return nil }
        depth += 1
        defer { depth -= 1 }
        isSum = true
        let value = sum()
        return take(")") == nil ? nil : value
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
            // The sign of an exponent, though not behind the hexadecimal digit e.
            let isHexadecimal = start + 1 < scalars.count && scalars[start + 1].properties.lowercaseMapping == "x"
            return position > start && !isHexadecimal && "eE".unicodeScalars.contains(scalars[position - 1])
        default: return false
        }
    }
}
