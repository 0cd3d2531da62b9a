// Validates the display name that a user chooses, which is shown after a session's identity and never trusted.

/// A display name that a user chooses, such as `Ada`. It is not authenticated, so it is shown in parentheses after the
/// authenticated identity: `uid 1000 (Ada)`. It contains no parentheses, so that it cannot imitate an identity.
package struct DisplayName: Hashable, Sendable {
    package let text: String

    /// The limit in Unicode scalars.
    package static let maxLength = 40

    /// - Parameter text: The name; surrounding blanks are removed.
    /// - Throws: `bad-value` if it is empty or too long, or contains invisible characters or brackets.
    package init(_ text: String) throws(TweakError) {
        var scalars = text.unicodeScalars[...]
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        guard (1...Self.maxLength).contains(scalars.count) else {
            throw TweakError(
                .badValue,
                "a name has 1 to \(Self.maxLength) characters, and this one has \(scalars.count); shorten it")
        }
        guard scalars.allSatisfy(Self.isAllowed), scalars.first?.isMark == false else {
            throw TweakError(
                .badValue, "a name holds no parentheses and no invisible characters; write it plainly, such as Ada")
        }
        self.text = String(scalars)
    }

    /// Stricter than other text: also selectors and joiners of emoji, which would not all be seen.
    private static func isAllowed(_ scalar: Unicode.Scalar) -> Bool {
        if Quoting.isUnsafe(scalar) { return false }
        switch scalar.properties.generalCategory {
        // The first two categories are the parentheses and brackets of all scripts.
        case .openPunctuation, .closePunctuation, .control, .format, .lineSeparator, .paragraphSeparator, .surrogate,
            .privateUse, .unassigned:
            return false
        default: return true
        }
    }
}

extension Unicode.Scalar {
    /// Whether it changes the character before it, which would be the parenthesis around the name.
    fileprivate var isMark: Bool {
        switch properties.generalCategory {
        case .nonspacingMark, .spacingMark, .enclosingMark: true
        default: false
        }
    }
}
