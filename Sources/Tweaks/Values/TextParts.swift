// Finds parts of texts, and reads their bytes.

// The standard library's search depends on its regular expression module, which would add a megabyte to every statically
// linked program.
extension String {
    /// The ranges where a text occurs, in order and without overlaps. An empty text never occurs.
    package func occurrences(of text: String) -> [Range<Index>] {
        if text.isEmpty { return [] }
        var (ranges, position): ([Range<Index>], Index) = ([], startIndex)
        while position < endIndex {
            if self[position...].starts(with: text),
                let end = index(position, offsetBy: text.count, limitedBy: endIndex)
            {
                ranges.append(position..<end)
                position = end
            } else {
                position = index(after: position)
            }
        }
        return ranges
    }

    /// The string with each occurrence of a text replaced.
    package func substituting(_ new: String, for old: String) -> String {
        var (result, done) = ("", startIndex)
        for range in occurrences(of: old) {
            result += self[done..<range.lowerBound] + new
            done = range.upperBound
        }
        return result + self[done...]
    }

    /// Calls `body` with the UTF-8 of this string; native strings are not copied.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        utf8.withContiguousStorageIfAvailable(body) ?? Array(utf8).withUnsafeBufferPointer(body)
    }
}

extension Substring {
    /// The text without blanks at both ends.
    var trimmedBlanks: String {
        var rest = self
        while rest.utf8.first == 0x20 { rest.removeFirst() }
        while rest.utf8.last == 0x20 { rest.removeLast() }
        return String(rest)
    }
}

extension UInt8 {
    /// Whether it is one of `0123456789`.
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
