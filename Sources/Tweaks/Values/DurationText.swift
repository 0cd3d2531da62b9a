// Parses and prints durations such as 250ms, 1.5s and 1h30m, exact to the nanosecond.

/// Parses and prints durations, stored as signed 64-bit counts of nanoseconds.
package enum DurationText {
    private static let units: [(name: String, nanoseconds: UInt64)] = [
        ("h", 3_600_000_000_000), ("m", 60_000_000_000), ("s", 1_000_000_000),
        ("ms", 1_000_000), ("us", 1_000), ("ns", 1),
    ]

    /// The text for a count of nanoseconds: `1h30m`, `1m0.5s`, `1.5s`, `250ms`, `0s`.
    package static func print(_ nanoseconds: Int64) -> String {
        var rest = nanoseconds.magnitude
        var text = nanoseconds < 0 ? "-" : ""
        if rest == 0 { return "0s" }
        for unit in units.prefix(2) where rest >= unit.nanoseconds {
            text += "\(rest / unit.nanoseconds)\(unit.name)"
            rest %= unit.nanoseconds
        }
        if rest == 0 { return text }
        let isTail = nanoseconds.magnitude >= units[1].nanoseconds
        let unit = isTail ? units[2] : units.dropFirst(2).first { rest >= $0.nanoseconds } ?? units[5]
        return text + decimal(rest, per: unit.nanoseconds) + unit.name
    }

    private static func decimal(_ amount: UInt64, per unit: UInt64) -> String {
        var text = "\(amount / unit)"
        var rest = amount % unit
        if rest == 0 { return text }
        text += "."
        while rest > 0 {
            rest *= 10
            text += "\(rest / unit)"
            rest %= unit
        }
        return text
    }

    /// Nanoseconds from text such as `250ms` or `1h30m`; nil if it is malformed, finer than a nanosecond or too large.
    package static func parse(_ text: String) -> Int64? {
        var bytes = Array(text.utf8)[...]
        let negative = bytes.first == UInt8(ascii: "-")
        if negative { bytes.removeFirst() }
        guard !bytes.isEmpty else { return nil }
        var total: UInt64 = 0
        var largest = Int.max  // Units must descend, so that a typo such as 1m1m is an error.
        while !bytes.isEmpty {
            guard let (term, rank) = term(&bytes), rank < largest else { return nil }
            largest = rank
            let (sum, overflow) = total.addingReportingOverflow(term)
            if overflow { return nil }
            total = sum
        }
        if negative { return total <= Int64.min.magnitude ? Int64(truncatingIfNeeded: 0 &- total) : nil }
        return Int64(exactly: total)
    }

    /// The nanoseconds of the unit in which a duration is printed, such as 1,000,000 for `250ms`; nil if there are
    /// several.
    static func unit(of nanoseconds: Int64) -> Int128? {
        let name = print(nanoseconds).drop { !$0.isLetter }
        return units.first { $0.name == name }.map { Int128($0.nanoseconds) }
    }

    private static func term(_ bytes: inout ArraySlice<UInt8>) -> (UInt64, rank: Int)? {
        let number = bytes.prefix { $0.isDigit || $0 == UInt8(ascii: ".") }
        bytes.removeFirst(number.count)
        let letters = bytes.prefix { $0 >= UInt8(ascii: "a") && $0 <= UInt8(ascii: "z") }
        bytes.removeFirst(letters.count)
        let name = String(decoding: letters, as: UTF8.self)
        // A digit on both sides of a point.
        guard number.first?.isDigit == true, number.last?.isDigit == true,
            let index = units.firstIndex(where: { $0.name == name }),
            let count = ExactDecimal(String(decoding: number, as: UTF8.self)),
            let unit = ExactDecimal(String(units[index].nanoseconds)), let whole = count.times(unit).whole,
            let amount = UInt64(exactly: whole)
        else { return nil }
        return (amount, units.count - index)
    }
}

extension Duration {
    /// The whole number of nanoseconds; nil if it has a finer fraction or exceeds 64 bits.
    @inlinable
    package var exactNanoseconds: Int64? {
        let (seconds, attoseconds) = components
        guard attoseconds % 1_000_000_000 == 0 else { return nil }
        let (scaled, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        let (sum, carry) = scaled.addingReportingOverflow(attoseconds / 1_000_000_000)
        return overflow || carry ? nil : sum
    }
}
