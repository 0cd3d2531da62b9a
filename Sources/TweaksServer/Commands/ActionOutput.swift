// What an action answers, no longer than a client has to take.

/// The text of an action, cut where there is too much of it.
struct ActionOutput: Sendable {
    let text: String
    /// For people; divided here, beside the I/O thread, because there may be many.
    let lines: [String]
    /// How many bytes there were; nil when it is whole.
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

    /// So far back the end of a character is looked for; one that is longer is cut between its scalars.
    private static let longest = 256

    /// The last end of a character within the limit.
    private static func end(of text: String, _ limit: Int) -> String.Index {
        let most = text.utf8.index(text.startIndex, offsetBy: max(0, limit))
        var end = most
        for _ in 0..<longest where end > text.startIndex {
            if end.samePosition(in: text) != nil { return end }
            end = text.utf8.index(before: end)
        }
        if end == text.startIndex { return end }
        end = most
        while end.samePosition(in: text.unicodeScalars) == nil { end = text.utf8.index(before: end) }
        return end
    }
}
