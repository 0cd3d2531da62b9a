// Defines the conditions that abort a rollout: figures of its members against a limit, or against those of others.

package import Tweaks

/// A comparison of a figure, which aborts a rollout: `Service/Errors/Rate > 5`, or `Service/Errors/Rate > 2 × others for 3
/// samples`.
package struct MetricCondition: Hashable, Sendable {
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        case above = ">", atLeast = ">=", below = "<", atMost = "<="

        /// Whether it holds between a figure and a limit; never for one that is not a number.
        package func holds(_ figure: Double, _ limit: Double) -> Bool {
            switch self {
            case .above: figure > limit
            case .atLeast: figure >= limit
            case .below: figure < limit
            case .atMost: figure <= limit
            }
        }

        /// Whether higher figures are worse.
        var isHigherWorse: Bool { self == .above || self == .atLeast }
    }

    package var path: TweakPath
    package var comparison: Comparison
    /// The limit; if it is relative, the factor of the median of the processes that are not members.
    package var limit: Double
    package var isRelative = false
    /// The number of consecutive samples that must meet it.
    package var samples = 2

    package static let sampleCounts = 1...20

    package init(
        path: TweakPath, comparison: Comparison, limit: Double, isRelative: Bool = false, samples: Int = 2
    ) {
        self.path = path
        self.comparison = comparison
        self.limit = limit
        self.isRelative = isRelative
        self.samples = samples
    }

    /// Whether older processes and operators know its form.
    var isPlain: Bool { !isRelative && samples == 2 }
}

extension MetricCondition {
    /// Parses `Service/Errors/Rate > 5`; the path may contain spaces, and may be in quotes. A path with comparison
    /// signs must be quoted: `=>` is a typing error, not part of a name.
    package init?(parsing text: String) {
        guard let (subject, comparison, limit) = Self.parts(of: text), let path = Self.path(subject) else { return nil }
        self.init(
            path: path, comparison: comparison, limit: limit.number, isRelative: limit.isRelative,
            samples: limit.samples)
    }

    /// Splits a condition at its last comparison sign: a path or a query may contain one, a limit cannot.
    static func parts(of text: String) -> (subject: String, comparison: Comparison, limit: Limit)? {
        // Longer signs come first.
        let longest = Comparison.allCases.sorted { $0.rawValue.utf8.count > $1.rawValue.utf8.count }
        let bytes = Array(text.utf8)
        guard let last = bytes.lastIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }),
            let comparison = longest.first(where: { bytes[last...].starts(with: $0.rawValue.utf8) }),
            let limit = Limit(bytes[last...].dropFirst(comparison.rawValue.utf8.count))
        else { return nil }
        return (trimmed(String(decoding: bytes[..<last], as: UTF8.self)), comparison, limit)
    }

    /// `5`, `2 × others`, `5 for 3 samples`
    struct Limit {
        var number = 0.0
        var isRelative = false
        var samples = 2

        init?(_ bytes: ArraySlice<UInt8>) {
            var words = bytes.split(separator: UInt8(ascii: " ")).map { String(decoding: $0, as: UTF8.self) }
            if words.count > 3, words[words.count - 3] == "for", ["sample", "samples"].contains(words[words.count - 1])
            {
                guard let count = Int(words[words.count - 2]), MetricCondition.sampleCounts.contains(count) else {
                    return nil
                }
                samples = count
                words.removeLast(3)
            }
            if words.last == "others" {
                isRelative = true
                words.removeLast()
                guard Self.dropSign(&words) else { return nil }
            }
            guard words.count == 1, case .number(let number)? = TweakValue(parsing: words[0], as: .number) else {
                return nil
            }
            self.number = number
        }

        /// Removes the sign of multiplication, which may touch the number.
        private static func dropSign(_ words: inout [String]) -> Bool {
            guard let last = words.last, let sign = ["×", "x", "*"].first(where: last.hasSuffix) else { return false }
            let rest = String(last.dropLast(sign.count))
            words.removeLast()
            if !rest.isEmpty { words.append(rest) }
            return true
        }
    }

    // Compare bytes: in Swift, a space or quote followed by a combining mark is a different character.
    private static func trimmed(_ text: String) -> String {
        let isBlank = { (byte: UInt8) in byte == UInt8(ascii: " ") }
        let end = text.utf8.drop(while: isBlank).reversed().drop(while: isBlank)
        return String(decoding: end.reversed(), as: UTF8.self)
    }

    private static func path(_ text: String) -> TweakPath? {
        if text.utf8.first == UInt8(ascii: "\""), let path = JSON(text)?.string { return try? TweakPath(path) }
        return holdsSigns(text) ? nil : try? TweakPath(text)
    }

    private static func holdsSigns(_ text: String) -> Bool { text.utf8.contains { "<>=".utf8.contains($0) } }

    /// `Service/Errors/Rate > 5`
    package var text: String {
        let path = Self.holdsSigns(path.joined) ? Quoting.json(path.joined) : path.token
        return "\(path) \(comparison.rawValue) \(TweakValue.number(limit).text)\(isRelative ? " × others" : "")"
            + Self.text(samples: samples)
    }

    static func text(samples: Int) -> String {
        samples == 2 ? "" : " for \(samples) sample\(samples == 1 ? "" : "s")"
    }

    /// Whether a figure meets the condition.
    /// - Parameter others: The median of the others' figures; without one, a relative condition is not met.
    package func isMet(by metric: Double, others: Double? = nil) -> Bool {
        guard let limit = isRelative ? others.map({ $0 * limit }) : limit else { return false }
        return comparison.holds(metric, limit)
    }
}
