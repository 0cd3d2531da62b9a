// The name that a person gives: shown behind the identity of a session, and never trusted.

/// A name that a person gives, such as `Ada`. It proves nothing, so it is shown in parentheses behind what is known:
/// `uid 1000 (Ada)`. It holds no parentheses itself, or it could look like another identity.
package struct PersonName: Hashable, Sendable {
    package let text: String

    /// So many Unicode scalars at most.
    package static let longest = 40

    /// - Parameter text: Blanks at both ends do not count.
    /// - Throws: `bad-value` for one that is empty, too long, or could be taken for something else.
    package init(_ text: String) throws(TweakError) {
        var scalars = text.unicodeScalars[...]
        while scalars.first?.properties.isWhitespace == true { scalars.removeFirst() }
        while scalars.last?.properties.isWhitespace == true { scalars.removeLast() }
        guard (1...Self.longest).contains(scalars.count) else {
            throw TweakError(
                .badValue, "a name has 1 to \(Self.longest) characters, and this one has \(scalars.count); shorten it")
        }
        guard scalars.allSatisfy(Self.mayHold) else {
            throw TweakError(
                .badValue, "a name holds no parentheses and no invisible characters; write it plainly, such as Ada")
        }
        self.text = String(scalars)
    }

    private static func mayHold(_ scalar: Unicode.Scalar) -> Bool {
        if Quoting.isUnsafe(scalar) { return false }
        switch scalar.properties.generalCategory {
        // The first two are parentheses and brackets in all scripts.
        case .openPunctuation, .closePunctuation, .control, .format, .lineSeparator, .paragraphSeparator, .surrogate,
            .privateUse, .unassigned:
            return false
        default: return true
        }
    }
}
