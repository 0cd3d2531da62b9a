// Splits the text of a list into its values.

/// The grammar of a list: `[` values `]`, separated by commas. A value is text in quotes – `"` with
/// JSON's escapes, or `'` – or the text between two commas without surrounding blanks.
package enum ListText {
    /// The values, without quotes; nil when the text is not a list.
    package static func items(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "["), end(bytes, from: 0) == bytes.count else { return nil }
        var reader = JSONReader(Array(bytes.dropLast()), at: 1)
        if reader.peek() == nil { return [] }
        var items: [String] = []
        repeat {
            guard let item = item(&reader) else { return nil }
            items.append(item)
        } while reader.consumeToken(UInt8(ascii: ","))
        return reader.peek() == nil ? items : nil
    }

    private static func item(_ reader: inout JSONReader) -> String? {
        if reader.peek() == UInt8(ascii: "\"") { return try? reader.string() }
        if reader.consumeToken(UInt8(ascii: "'")) {
            let text = reader.scanBare(until: { $0 == UInt8(ascii: "'") }, nests: false)
            return reader.consumeToken(UInt8(ascii: "'")) ? String(text) : nil
        }
        let bare = reader.scanBare(until: { $0 == UInt8(ascii: ",") }).trimmedBlanks
        return bare.isEmpty ? nil : bare
    }

    /// The position after the closing bracket of the list that begins at `start`; nil when it is missing. Brackets in
    /// quotes do not count, and neither do the parentheses of `rgb(…)`.
    package static func end(_ bytes: some RandomAccessCollection<UInt8>, from start: Int) -> Int? {
        var (quote, isEscaped): (UInt8?, Bool) = (nil, false)
        for (offset, byte) in bytes.dropFirst(start).enumerated() {
            if let open = quote {
                if byte == open, !isEscaped { quote = nil }
                isEscaped = byte == UInt8(ascii: "\\") && open == UInt8(ascii: "\"") && !isEscaped
            } else if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "'") {
                (quote, isEscaped) = (byte, false)
            } else if byte == UInt8(ascii: "]") {
                return start + offset + 1
            }
        }
        return nil
    }
}
