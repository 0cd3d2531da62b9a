// Defines conditions that abort a rollout, such as Service/Errors/Rate > 5.

package import Tweaks

/// A comparison of a figure with a limit, which aborts a rollout.
package struct MetricCondition: Hashable, Sendable {
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        case above = ">", atLeast = ">=", below = "<", atMost = "<="
    }

    package var path: TweakPath
    package var comparison: Comparison
    package var limit: Double

    package init(path: TweakPath, comparison: Comparison, limit: Double) {
        (self.path, self.comparison, self.limit) = (path, comparison, limit)
    }

    /// Parses `Service/Errors/Rate > 5`; the path may contain spaces, and may be in quotes. A path with comparison
    /// signs must be quoted: `=>` is a typing error, not part of a name.
    package init?(parsing text: String) {
        // Use the last comparison sign: a path may contain one, a number cannot. Longer signs come first.
        let longest = Comparison.allCases.sorted { $0.rawValue.utf8.count > $1.rawValue.utf8.count }
        let bytes = Array(text.utf8)
        guard let last = bytes.lastIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }) else {
            return nil
        }
        guard let comparison = longest.first(where: { bytes[last...].starts(with: $0.rawValue.utf8) }),
            case .number(let limit)? = TweakValue(
                parsing: Self.trimmed(
                    String(decoding: bytes[last...].dropFirst(comparison.rawValue.utf8.count), as: UTF8.self)),
                as: .number),
            let path = Self.path(Self.trimmed(String(decoding: bytes[..<last], as: UTF8.self)))
        else { return nil }
        self.init(path: path, comparison: comparison, limit: limit)
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
        return "\(path) \(comparison.rawValue) \(TweakValue.number(limit).text)"
    }

    /// Whether a figure meets the condition.
    package func isMet(by metric: Double) -> Bool {
        switch comparison {
        case .above: metric > limit
        case .atLeast: metric >= limit
        case .below: metric < limit
        case .atMost: metric <= limit
        }
    }
}
