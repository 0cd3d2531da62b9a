// Parses and prints timestamps such as 2026-11-21T09:30:00.123Z (RFC 3339, in UTC).

/// Parses and prints timestamps, stored as milliseconds since 1970.
package enum TimeText {
    /// The timestamp to the millisecond.
    package static func print(_ milliseconds: Int64) -> String {
        let parts = Parts(milliseconds)
        return "\(padded(parts.year, 4))-\(padded(parts.month))-\(padded(parts.day))T\(padded(parts.hour)):"
            + "\(padded(parts.minute)):\(padded(parts.second)).\(padded(parts.millisecond, 3))Z"
    }

    /// The timestamp to the second.
    package static func seconds(_ milliseconds: Int64) -> String { print(milliseconds).prefix(19) + "Z" }

    /// The timestamp to the second, without separators, for file names: `20261121T093000Z`.
    package static func compact(_ milliseconds: Int64) -> String {
        let parts = Parts(milliseconds)
        return "\(padded(parts.year, 4))\(padded(parts.month))\(padded(parts.day))T\(padded(parts.hour))"
            + "\(padded(parts.minute))\(padded(parts.second))Z"
    }

    /// A timestamp from `2026-11-21T09:30:00Z`, with or without a fraction; nil for other text.
    package static func parse(_ text: String) -> Int64? {
        let bytes = Array(text.utf8)
        let pattern = Array("0000-00-00T00:00:00".utf8)
        guard bytes.count > pattern.count, bytes.last == UInt8(ascii: "Z") else { return nil }
        for (byte, wanted) in zip(bytes, pattern) where wanted == UInt8(ascii: "0") ? !byte.isDigit : byte != wanted {
            return nil
        }
        guard let millisecond = fraction(bytes[pattern.count..<(bytes.count - 1)]) else { return nil }
        func number(_ range: Range<Int>) -> Int64 { bytes[range].reduce(0) { $0 * 10 + Int64($1 & 15) } }
        let parts = Parts(
            year: number(0..<4), month: number(5..<7), day: number(8..<10), hour: number(11..<13),
            minute: number(14..<16), second: number(17..<19), millisecond: millisecond)
        // An invalid date converts to a different one.
        return Parts(parts.milliseconds) == parts ? parts.milliseconds : nil
    }

    /// The optional fraction: a point and digits, truncated to milliseconds.
    private static func fraction(_ bytes: ArraySlice<UInt8>) -> Int64? {
        if bytes.isEmpty { return 0 }
        let digits = bytes.dropFirst()
        guard bytes.first == UInt8(ascii: "."), !digits.isEmpty, digits.allSatisfy(\.isDigit) else { return nil }
        let three = Array(digits.prefix(3)) + Array(repeating: UInt8(ascii: "0"), count: max(0, 3 - digits.count))
        return three.reduce(0) { $0 * 10 + Int64($1 & 15) }
    }

    private static func padded(_ number: Int64, _ width: Int = 2) -> String {
        let digits = String(number)
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}

/// A timestamp split into date and time of day.
private struct Parts: Equatable {
    let year: Int64
    let month: Int64
    let day: Int64
    let hour: Int64
    let minute: Int64
    let second: Int64
    let millisecond: Int64

    fileprivate static let millisecondsOfDay: Int64 = 86_400_000
    /// The timestamps of the years 0000 to 9999.
    fileprivate static let limits: ClosedRange<Int64> = -62_167_219_200_000...253_402_300_799_999
}

extension Parts {
    /// Howard Hinnant's civil_from_days: years begin in March, so that the leap day is the last one.
    init(_ milliseconds: Int64) {
        let time = min(max(milliseconds, Self.limits.lowerBound), Self.limits.upperBound)
        let days = (time - (time >= 0 ? 0 : Self.millisecondsOfDay - 1)) / Self.millisecondsOfDay
        let rest = time - days * Self.millisecondsOfDay
        let shifted = days + 719_468
        let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let march = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * march + 2) / 5 + 1
        month = march < 10 ? march + 3 : march - 9
        year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
        hour = rest / 3_600_000
        minute = rest / 60_000 % 60
        second = rest / 1_000 % 60
        millisecond = rest % 1_000
    }

    /// The inverse, Howard Hinnant's days_from_civil.
    var milliseconds: Int64 {
        let year = month <= 2 ? year - 1 : year
        let era = (year >= 0 ? year : year - 399) / 400
        let yearOfEra = year - era * 400
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        let days = era * 146_097 + dayOfEra - 719_468
        return days * Self.millisecondsOfDay + hour * 3_600_000 + minute * 60_000 + second * 1_000 + millisecond
    }
}
