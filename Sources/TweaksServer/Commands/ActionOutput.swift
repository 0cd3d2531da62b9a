// Limits the text of an action to the length that clients accept.

/// The text of an action, truncated to a limit.
struct ActionOutput: Sendable {
    let text: String
    /// The lines for text mode; split here, off the I/O thread, because there may be many.
    let lines: [String]
    /// The full length in bytes; nil if the text is complete.
    let cutFrom: Int?

    init(_ text: String, _ limit: Int) {
        let count = text.utf8.count
        if count <= limit {
            (self.text, cutFrom) = (text, nil)
        } else {
            (self.text, cutFrom) = (String(text[..<Self.end(of: text, limit)]), count)
        }
        let parts = self.text.split(omittingEmptySubsequences: false) { $0.isNewline }
        lines = self.text.isEmpty ? [] : parts.map { String($0) }
    }

    /// A character boundary is searched within this many bytes; a longer character is cut between its scalars.
    private static let maxCharacterBytes = 256

    /// The last character boundary within the limit.
    private static func end(of text: String, _ limit: Int) -> String.Index {
        let most = text.utf8.index(text.startIndex, offsetBy: max(0, limit))
        var end = most
        for _ in 0..<maxCharacterBytes where end > text.startIndex {
            if end.samePosition(in: text) != nil { return end }
            end = text.utf8.index(before: end)
        }
        if end == text.startIndex { return end }
        end = most
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return end
    }
}
