// Infers the kind of a value from the form of its text, for paths that nothing declares.

package import Tweaks

/// An assignment as the operator wrote it.
package struct TextAssignment: Hashable, Sendable {
    package var path: TweakPath
    /// The text without its quotes.
    package var text: String
    package var isQuoted: Bool

    package init(path: TweakPath, text: String, isQuoted: Bool = false) {
        (self.path, self.text, self.isQuoted) = (path, text, isQuoted)
    }
}

extension TweakValue {
    /// Kinds with unambiguous texts, in the order in which they are tried. `0` and `yes` are not booleans here.
    private static let unambiguousKinds: [TweakKind] = [.int, .number, .duration, .point]

    /// Infers `true`, `7`, `1.5`, `250ms`, `#FF8800`, `[1, 2]`; anything else is text.
    package init(inferring text: String, isQuoted: Bool = false) {
        let value = isQuoted ? nil : Self.unquoted(text)
        self = value ?? .string(text)
    }

    private static func unquoted(_ text: String) -> TweakValue? {
        if text.hasPrefix("[") {
            let bools: [TweakKind] = text.contains("true") || text.contains("false") ? [.bool] : []
            let elementKinds = unambiguousKinds + bools + [.string]
            return elementKinds.lazy.compactMap { TweakValue(parsing: text, as: .list, of: $0) }.first
        }
        // Color names are words, so they stay text.
        if text.hasPrefix("#") { return TweakValue(parsing: text, as: .color) }
        if text == "true" || text == "false" { return .bool(text == "true") }
        return unambiguousKinds.lazy.compactMap { TweakValue(parsing: text, as: $0) }.first
    }
}
