// Defines conditions on figures: Service/Errors/Rate > 5.

package import Tweaks

/// What stops a rollout.
package struct FigureCondition: Hashable, Sendable {
    package enum Comparison: String, Hashable, Sendable, CaseIterable {
        case above = ">", atLeast = ">=", below = "<", atMost = "<="
    }

    package var path: TweakPath
    package var comparison: Comparison
    package var limit: Double

    package init(path: TweakPath, comparison: Comparison, limit: Double) {
        (self.path, self.comparison, self.limit) = (path, comparison, limit)
    }

    /// From `Service/Errors/Rate > 5`; the path may hold blanks, and may be in quotes.
    package init?(parsing text: String) {
        // The last sign of comparison: a path may hold one, and a number does not. The longer signs come first.
        let longest = Comparison.allCases.sorted { $0.rawValue.utf8.count > $1.rawValue.utf8.count }
        let bytes = Array(text.utf8)
        guard let last = bytes.lastIndex(where: { $0 == UInt8(ascii: ">") || $0 == UInt8(ascii: "<") }) else {
            return nil
        }
        let rest = String(decoding: bytes[last...], as: UTF8.self)
        guard let comparison = longest.first(where: { rest.hasPrefix($0.rawValue) }),
            case .number(let limit)? = TweakValue(
                parsing: Self.trimmed(rest.dropFirst(comparison.rawValue.count)), as: .number),
            let path = Self.path(Self.trimmed(Substring(decoding: bytes[..<last], as: UTF8.self)))
        else { return nil }
        self.init(path: path, comparison: comparison, limit: limit)
    }

    private static func trimmed(_ text: Substring) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    private static func path(_ text: String) -> TweakPath? {
        let text = text.hasPrefix("\"") ? JSON(text)?.string ?? text : text
        return try? TweakPath(text)
    }

    /// `Service/Errors/Rate > 5`
    package var text: String { "\(path.token) \(comparison.rawValue) \(TweakValue.number(limit).text)" }

    /// Whether a figure meets it.
    package func isMet(by figure: Double) -> Bool {
        switch comparison {
        case .above: figure > limit
        case .atLeast: figure >= limit
        case .below: figure < limit
        case .atMost: figure <= limit
        }
    }
}
