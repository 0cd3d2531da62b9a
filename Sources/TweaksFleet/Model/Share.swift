// Defines shares of a fleet, in hundredths of a percent.

import Tweaks

/// A share in hundredths of a percent, 0…10,000; `12.5` in JSON and on the command line.
package struct Share: Hashable, Comparable, Sendable {
    package let hundredths: Int

    /// Returns nil outside 0…10,000.
    package init?(hundredths: Int) {
        guard (0...10_000).contains(hundredths) else { return nil }
        self.hundredths = hundredths
    }

    private init(_ hundredths: Int) { self.hundredths = hundredths }

    package static let none = Share(0)
    package static let all = Share(10_000)

    package static func < (left: Share, right: Share) -> Bool { left.hundredths < right.hundredths }
}

extension Share {
    /// Parses a percentage with at most two decimal places: `1`, `12.5`, `0.01`; a percent sign may follow.
    package init?(percent text: String) {
        let parts = text.utf8.last == UInt8(ascii: "%") ? text.dropLast() : Substring(text)
        let numbers = parts.split(separator: ".", omittingEmptySubsequences: false)
        let isDigits = { (part: Substring) in
            (1...3).contains(part.utf8.count) && part.utf8.allSatisfy { $0 >= 0x30 && $0 <= 0x39 }
        }
        guard let first = numbers.first, isDigits(first), let whole = Int(first), numbers.count <= 2 else { return nil }
        var hundredths = whole * 100
        if numbers.count == 2 {
            guard isDigits(numbers[1]), numbers[1].count <= 2, let digits = Int(numbers[1]) else { return nil }
            hundredths += numbers[1].count == 1 ? digits * 10 : digits
        }
        self.init(hundredths: hundredths)
    }

    /// The percentage without a percent sign.
    package var number: String {
        let (whole, rest) = hundredths.quotientAndRemainder(dividingBy: 100)
        if rest == 0 { return "\(whole)" }
        return rest % 10 == 0 ? "\(whole).\(rest / 10)" : "\(whole).\(rest < 10 ? "0" : "")\(rest)"
    }

    /// `12.5 %`
    package var text: String { "\(number) %" }

    init(_ json: JSON?, _ name: String) throws(FleetProblem) {
        let text: String? =
            switch json {
            case .literal(let text)?, .string(let text)?: text
            default: nil
            }
        guard let share = text.flatMap({ Share(percent: $0) }) else {
            throw FleetProblem("“\(name)” is not a percentage of 0…100 with at most two digits behind the point")
        }
        self = share
    }

    var json: JSON { .literal(number) }
}
