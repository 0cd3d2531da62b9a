// Implements exact arithmetic on decimal numbers of any length, within the exponents of a double.

/// A decimal number, exactly as it is written.
package struct ExactDecimal: Equatable, Sendable {
    /// The largest power of ten of a first digit: beyond it are no finite doubles, and below it none but 0. It limits
    /// the digits of a sum, and with them its cost.
    private static let largestPower = 400

    package let isNegative: Bool
    /// 0…9 each, without zeros at both ends; empty for 0.
    package let digits: [UInt8]
    /// The power of ten of the last digit.
    package let exponent: Int

    /// A number such as `-12`, `.5` or `1.5e-3`; nil for other text, and far beyond the range of a double.
    package init?(_ text: some StringProtocol) {
        var rest = Substring(text).utf8
        let sign = rest.first
        if sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
        let parts = rest.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        let numbers = parts[0].split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        let digits = numbers.joined().map { $0 &- UInt8(ascii: "0") }
        guard !digits.isEmpty, digits.allSatisfy({ $0 < 10 }),
            let exponent = parts.count == 1 ? 0 : Self.exponent(parts[1])
        else { return nil }
        let decimals = numbers.count == 2 ? numbers[1].count : 0
        self.init(isNegative: sign == UInt8(ascii: "-"), digits[...], exponent: exponent - decimals)
        if !self.digits.isEmpty, (self.exponent + self.digits.count).magnitude > Self.largestPower { return nil }
    }

    /// An exponent; one beyond 2⁴⁰ is cut to that. A text has fewer digits, so no sum with their count overflows.
    private static func exponent(_ text: Substring.UTF8View) -> Int? {
        let limit = 1 << 40
        if let exponent = Int(Substring(text)) { return min(max(exponent, -limit), limit) }
        let isSigned = text.first == UInt8(ascii: "-") || text.first == UInt8(ascii: "+")
        let digits = text.dropFirst(isSigned ? 1 : 0)
        guard !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        return text.first == UInt8(ascii: "-") ? -limit : limit
    }

    /// A double, as its shortest text has it; nil for NaN and infinities.
    package init?(_ value: Double) { self.init(value.description) }

    private init(isNegative: Bool, _ digits: ArraySlice<UInt8>, exponent: Int) {
        let kept = digits.drop { $0 == 0 }
        let zeros = kept.reversed().prefix { $0 == 0 }.count
        self.digits = Array(kept.dropLast(zeros))
        self.exponent = self.digits.isEmpty ? 0 : exponent + zeros
        self.isNegative = isNegative && !self.digits.isEmpty
    }

    /// - Parameter amounts: Of each power of ten from an exponent on; their first one from above has the sign of all.
    private init(_ amounts: [Int], exponent: Int) {
        let isNegative = amounts.last { $0 != 0 } ?? 0 < 0
        var (digits, carry): ([UInt8], Int) = ([], 0)
        for amount in amounts {
            // An amount is a sum of products of digits, of which memory holds fewer than 2⁴⁰.
            let whole = (isNegative ? -amount : amount) + carry
            carry = whole >= 0 ? whole / 10 : (whole - 9) / 10
            digits.append(UInt8(truncatingIfNeeded: whole - carry * 10))
        }
        while carry > 0 {
            digits.append(UInt8(truncatingIfNeeded: carry % 10))
            carry /= 10
        }
        self.init(isNegative: isNegative, digits.reversed()[...], exponent: exponent)
    }

    package func plus(_ other: ExactDecimal) -> ExactDecimal {
        if digits.isEmpty { return other }
        if other.digits.isEmpty { return self }
        let low = min(exponent, other.exponent)
        let high = max(exponent + digits.count, other.exponent + other.digits.count)
        var amounts = [Int](repeating: 0, count: high - low)
        for number in [self, other] {
            for (position, digit) in number.digits.reversed().enumerated() {
                amounts[number.exponent - low + position] += number.isNegative ? -Int(digit) : Int(digit)
            }
        }
        return ExactDecimal(amounts, exponent: low)
    }

    package func times(_ other: ExactDecimal) -> ExactDecimal {
        var amounts = [Int](repeating: 0, count: digits.count + other.digits.count)
        for (left, digit) in digits.reversed().enumerated() {
            for (right, otherDigit) in other.digits.reversed().enumerated() {
                amounts[left + right] += Int(digit) * Int(otherDigit) * (isNegative == other.isNegative ? 1 : -1)
            }
        }
        return ExactDecimal(amounts, exponent: exponent + other.exponent)
    }

    package var negative: ExactDecimal {
        ExactDecimal(isNegative: !isNegative, digits[...], exponent: exponent)
    }

    /// The number without a fraction, `50e-1` as 5; nil if it has one, or beyond 128 bits.
    package var whole: Int128? {
        // The last digit is not 0.
        guard exponent >= 0, digits.count + exponent < 40 else { return nil }
        let text = (digits + Array(repeating: 0, count: exponent)).map { $0 + UInt8(ascii: "0") }
        return digits.isEmpty ? 0 : Int128((isNegative ? "-" : "") + String(decoding: text, as: UTF8.self))
    }

    /// The nearest double; infinite beyond its range.
    package var nearest: Double {
        if digits.isEmpty { return 0 }
        let text = String(decoding: digits.map { $0 + UInt8(ascii: "0") }, as: UTF8.self)
        return Double("\(isNegative ? "-" : "")\(text)e\(exponent)") ?? .nan
    }
}

/// Arithmetic on doubles as their shortest texts have them: the nearest double to the exact decimal result.
package enum Decimals {
    /// `origin + count × step`.
    package static func multiple(_ count: Double, of step: Double, from origin: Double) -> Double {
        guard let count = ExactDecimal(count), let step = ExactDecimal(step), let origin = ExactDecimal(origin) else {
            // NaN, or infinite.
            return origin + count * step
        }
        return origin.plus(count.times(step)).nearest
    }

    /// `left + right`: 0.1 + 0.2 is 0.3.
    package static func sum(_ left: Double, _ right: Double) -> Double {
        guard let first = ExactDecimal(left), let second = ExactDecimal(right) else { return left + right }
        return first.plus(second).nearest
    }

    /// `left × right`.
    package static func product(_ left: Double, _ right: Double) -> Double { multiple(left, of: right, from: 0) }
}
