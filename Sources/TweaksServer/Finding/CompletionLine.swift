// The beginning of a line that somebody wants completed.

/// A line that may end in the middle of a token, or of a quote.
struct CompletionLine: Equatable {
    struct Word: Equatable {
        var text: String
        var quote: Character?

        func isBare(_ keyword: String) -> Bool { quote == nil && text == keyword }
    }

    /// The tokens before the one that is being written.
    private(set) var before: [Word] = []
    /// What there is of that; empty behind a blank.
    private(set) var last = Word(text: "", quote: nil)

    init(_ text: String) {
        var current: Word?
        var isClosed = false
        var isEscaped = false
        for character in text {
            guard var word = current else {
                if character == " " || character == "\t" { continue }
                let isQuote = character == "\"" || character == "'"
                current = Word(text: isQuote ? "" : String(character), quote: isQuote ? character : nil)
                continue
            }
            let isBlank = character == " " || character == "\t"
            if isBlank, word.quote == nil || isClosed {
                before.append(word)
                (current, isClosed) = (nil, false)
                continue
            }
            if isEscaped || word.quote == nil {
                word.text.append(character)
                isEscaped = false
            } else if character == "\\", word.quote == "\"" {
                isEscaped = true
            } else if character == word.quote {
                isClosed = true
            } else {
                word.text.append(character)
            }
            current = word
        }
        if let current { last = current }
    }
}
