// Reads whole numbers from JSON's texts of numbers, exactly.

/// JSON has one type of number: `5`, `5.0` and `50e-1` are the same.
enum JSONNumber {
    /// The whole number that a text stands for; nil if it has a fraction or does not fit in 64 bits.
    static func whole(_ text: String) -> TweakValue? {
        if let whole = Int64(text) { return .int(whole) }
        let parts = text.utf8.split(maxSplits: 1, omittingEmptySubsequences: false) { $0 | 0x20 == UInt8(ascii: "e") }
        let isNegative = text.utf8.first == UInt8(ascii: "-")
        guard let exponent = parts.count == 2 ? exponent(parts[1]) : 0,
            var (digits, places) = digits(parts[0].dropFirst(isNegative ? 1 : 0))
        else { return nil }
        if digits.isEmpty { return .int(0) }
        // Both are far from the limits of Int.
        places -= exponent
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            places -= 1
        }
        // Numbers of 64 bits have at most 20 digits.
        guard (-20...0).contains(places), digits.count <= 20 else { return nil }
        let plain = String(decoding: digits, as: UTF8.self) + String(repeating: "0", count: -places)
        return Int64((isNegative ? "-" : "") + plain).map(TweakValue.int)
            ?? (isNegative ? nil : UInt64(plain).flatMap { TweakValue(whole: $0) })
    }

    /// The digits without leading zeros, and how many of them follow the decimal point.
    private static func digits(_ text: Substring.UTF8View) -> (digits: [UInt8], places: Int)? {
        var digits: [UInt8] = []
        var (places, hasPoint, hasDigit) = (0, false, false)
        for byte in text {
            switch byte {
            case UInt8(ascii: ".") where !hasPoint: hasPoint = true
            case UInt8(ascii: "0")...UInt8(ascii: "9"):
                hasDigit = true
                if hasPoint { places += 1 }
                if byte != UInt8(ascii: "0") || !digits.isEmpty { digits.append(byte) }
            default: return nil
            }
        }
        return hasDigit ? (digits, places) : nil
    }

    /// An exponent; one beyond a billion is cut to that, since no text has as many digits.
    private static func exponent(_ text: Substring.UTF8View) -> Int? {
        let limit = 1_000_000_000
        if let exponent = Int(Substring(text)) { return min(max(exponent, -limit), limit) }
        let isNegative = text.first == UInt8(ascii: "-")
        let digits = isNegative || text.first == UInt8(ascii: "+") ? text.dropFirst() : text
        guard !digits.isEmpty, digits.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) else {
            return nil
        }
        return isNegative ? -limit : limit
    }
}
