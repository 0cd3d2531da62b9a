// Makes a value of a text by its form alone, where nothing else says what kind it is.

package import Tweaks

/// An assignment as it was written.
package struct TextAssignment: Hashable, Sendable {
    package var path: TweakPath
    /// Without its quotes.
    package var text: String
    package var isQuoted: Bool

    package init(path: TweakPath, text: String, isQuoted: Bool = false) {
        (self.path, self.text, self.isQuoted) = (path, text, isQuoted)
    }
}

extension TweakValue {
    /// Kinds whose texts look like no other's, in the order in which they are tried. `0` and `yes` are no bools here.
    private static let forms: [TweakKind] = [.int, .number, .duration, .point]

    /// `true`, `7`, `1.5`, `250ms`, `#FF8800`, `[1, 2]`; all else is text.
    package init(form text: String, isQuoted: Bool = false) {
        let value = isQuoted ? nil : Self.unquoted(text)
        self = value ?? .string(text)
    }

    private static func unquoted(_ text: String) -> TweakValue? {
        if text.hasPrefix("[") {
            let bools: [TweakKind] = text.contains("true") || text.contains("false") ? [.bool] : []
            return (forms + bools + [.string]).lazy.compactMap { TweakValue(parsing: text, as: .list, of: $0) }.first
        }
        // A color's name is a word like others.
        if text.hasPrefix("#") { return TweakValue(parsing: text, as: .color) }
        if text == "true" || text == "false" { return .bool(text == "true") }
        return forms.lazy.compactMap { TweakValue(parsing: text, as: $0) }.first
    }
}
