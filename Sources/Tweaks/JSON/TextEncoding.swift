// Recognizes what editors put in front of a text, and texts that are not UTF-8.

/// The encoding of a text that another program wrote. All files and bodies are UTF-8.
package enum TextEncoding {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The number of bytes of the byte order mark that some editors begin a file with.
    package static func markLength(_ bytes: some Collection<UInt8>) -> Int { bytes.starts(with: mark) ? mark.count : 0 }

    /// The reason why a text cannot be read, if it is UTF-16: with its byte order mark, or beginning with an ASCII
    /// character and its zero byte.
    package static func objection(to bytes: some Collection<UInt8>) -> String? {
        let start = Array(bytes.prefix(2))
        guard start.count == 2 else { return nil }
        let hasMark = start == [0xFF, 0xFE] || start == [0xFE, 0xFF]
        return hasMark || (start[0] == 0) != (start[1] == 0) ? "it is UTF-16; save it as UTF-8" : nil
    }
}
