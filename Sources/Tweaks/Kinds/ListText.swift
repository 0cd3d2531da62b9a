// Takes the text of a list apart.

/// The grammar of a list: `[` values `]`, a comma between two of them. A value is a text in quotes – `"` with
/// JSON's escapes, or `'` – or whatever stands between two commas without the blanks around it.
package enum ListText {
    /// The values, without quotes; nil where the text is no list.
    package static func items(_ text: String) -> [String]? {
        let bytes = Array(text.utf8)
        guard bytes.count >= 2, bytes.first == UInt8(ascii: "["), end(bytes, from: 0) == bytes.count else { return nil }
        var reader = JSONReader(Array(bytes.dropLast()), at: 1)
        if reader.peek() == nil { return [] }
        var items: [String] = []
        repeat {
            guard let item = item(&reader) else { return nil }
            items.append(item)
        } while reader.passes(UInt8(ascii: ","))
        return reader.peek() == nil ? items : nil
    }

    private static func item(_ reader: inout JSONReader) -> String? {
        if reader.peek() == UInt8(ascii: "\"") { return try? reader.string() }
        if reader.passes(UInt8(ascii: "'")) {
            let text = reader.passBare(until: { $0 == UInt8(ascii: "'") }, nests: false)
            return reader.passes(UInt8(ascii: "'")) ? String(text) : nil
        }
        let bare = reader.passBare(until: { $0 == UInt8(ascii: ",") }).trimmedBlanks
        return bare.isEmpty ? nil : bare
    }

    /// Where a list ends that begins at a place, behind its bracket; nil where that is missing. Brackets in quotes do not
    /// count, those of `rgb(…)` neither.
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
