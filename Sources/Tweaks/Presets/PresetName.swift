// Validates the names of presets.

/// A preset's name: `[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}`. So it cannot be a path or the name of a hidden file.
package struct PresetName: Hashable, Sendable, Comparable, CustomStringConvertible {
    package let text: String

    /// - Throws: `bad-value` with the allowed characters.
    package init(_ text: String) throws(TweakError) {
        guard Self.isName(text) else {
            throw TweakError(
                .badValue,
                "\(Quoting.excerpt(text)) is not a preset name; "
                    + "use 1–64 of A–Z a–z 0–9 . _ - and no . at the beginning")
        }
        self.text = text
    }

    /// Whether a text is a valid name; the rule also applies to the names of tokens.
    package static func isName(_ text: String) -> Bool {
        (1...64).contains(text.utf8.count) && !text.utf8.starts(with: ".".utf8) && Quoting.isBareWord(text)
    }

    package var description: String { text }

    /// Orders by bytes.
    package static func < (left: PresetName, right: PresetName) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
