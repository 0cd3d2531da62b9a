// Matches one word of a search with a text: literally, with one typo, or by its letters in order.

import Tweaks

/// A folded word of a search.
struct FindWord {
    let bytes: [UInt8]
    /// Whether the search may assume a typo: in words of four and more letters.
    let mayHaveTypo: Bool
    private let mask: UInt64
    /// How many bytes of it a text may lack that has the word with a typo: those of one letter.
    private let mostMissing: Int

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
        mask = FoldedText.mask(bytes)
        let letters = bytes.count { !Self.isContinuation($0) }
        mayHaveTypo = letters >= 4 && !bytes.contains(where: FoldedText.isDigit)
        mostMissing = letters == bytes.count ? 1 : 4
    }

    /// Whether a text with these letters can contain it; false rules out most texts.
    func mayOccur(in mask: UInt64) -> Bool { self.mask & ~mask == 0 }

    func mayOccurWithTypo(in mask: UInt64) -> Bool {
        mayHaveTypo && (self.mask & ~mask).nonzeroBitCount <= mostMissing
    }

    /// Calls `body` with each position of the word in a text, until it returns false.
    func forEachPosition(in text: UnsafeBufferPointer<UInt8>, _ body: (Int) -> Bool) {
        guard text.count >= bytes.count else { return }
        bytes.withUnsafeBufferPointer { word in
            let first = word[0]
            for position in 0...(text.count - word.count) where text[position] == first {
                var length = 1
                while length < word.count, text[position + length] == word[length] { length += 1 }
                if length == word.count, !body(position) { return }
            }
        }
    }

    /// Whether its letters occur in this order, with or without others in between.
    func hasLettersInOrder(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var next = 0
        for byte in text where byte == bytes[next] {
            next += 1
            if next == bytes.count { return true }
        }
        return false
    }

    // MARK: Values

    /// Whether a value is the word, or a text, color or list has a word that begins with it.
    func occurs(in value: TweakValue) -> Bool {
        switch value {
        case .bool, .notSet: return bytes.elementsEqual(value.text.utf8)
        case .int, .unsigned, .number, .duration, .point:
            // Most words are no numbers, and the texts of these values take time.
            return (FoldedText.isDigit(bytes[0]) || bytes[0] == UInt8(ascii: "-"))
                && bytes.elementsEqual(value.text.utf8)
        default: break
        }
        let text = value.choiceName.utf8.prefix(Self.mostValueBytes)
        var occurs = false
        FoldedText.bytes(String(Substring(text))).withUnsafeBufferPointer { text in
            forEachPosition(in: text) { position in
                occurs = position == 0 || FoldedText.isWordStart(text[position - 1], text[position])
                return !occurs
            }
        }
        return occurs
    }

    /// Of a longer value the beginning is searched, so that a search among large texts stays fast.
    private static let mostValueBytes = 1_000

    // MARK: Typos

    /// The last position where a word of a text begins with this one, but for one typo.
    /// - Parameter begins: Whether a word begins at a position above 0.
    func misspelling(in text: UnsafeBufferPointer<UInt8>, where begins: (Int) -> Bool) -> Int? {
        bytes.withUnsafeBufferPointer { word in
            text.indices.last { position in
                (position == 0 || begins(position))
                    && Self.isMisspelled(word, as: UnsafeBufferPointer(rebasing: text[position...]))
            }
        }
    }

    /// Whether a text begins with a word, but for a wrong, an extra, a missing letter, or two letters in each other's
    /// place.
    private static func isMisspelled(
        _ word: UnsafeBufferPointer<UInt8>, as text: UnsafeBufferPointer<UInt8>
    ) -> Bool {
        var start = 0
        while start < word.count, start < text.count, word[start] == text[start] { start += 1 }
        if start == word.count { return true }
        while start > 0, isContinuation(word[start]) { start -= 1 }
        let (wordEnd, textEnd) = (letterEnd(start, in: word), letterEnd(start, in: text))
        if text[textEnd...].starts(with: word[wordEnd...]) { return true }
        if text[start...].starts(with: word[wordEnd...]) { return true }
        if text[textEnd...].starts(with: word[start...]) { return true }
        let (secondWordEnd, secondTextEnd) = (letterEnd(wordEnd, in: word), letterEnd(textEnd, in: text))
        return word[start..<wordEnd].elementsEqual(text[textEnd..<secondTextEnd])
            && word[wordEnd..<secondWordEnd].elementsEqual(text[start..<textEnd])
            && text[secondTextEnd...].starts(with: word[secondWordEnd...])
    }

    private static func letterEnd(_ start: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
        if start == text.count { return start }
        var end = start + 1
        while end < text.count, isContinuation(text[end]) { end += 1 }
        return end
    }

    /// Whether it is a byte of a letter after its first.
    private static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xC0 == 0x80 }
}
