// Recognizes what editors put in front of a text, and texts that are not UTF-8.

/// The encoding of a text that another program wrote. All files and bodies are UTF-8.
package enum TextEncoding {
    private static let mark: [UInt8] = [0xEF, 0xBB, 0xBF]

    /// The number of bytes of the byte order mark that some editors begin a file with.
    package static func markLength(_ bytes: some Collection<UInt8>) -> Int { bytes.starts(with: mark) ? mark.count : 0 }

    /// The reason why a text cannot be read, if it is UTF-16 or UTF-32.
    package static func objection(to bytes: some Collection<UInt8>) -> String? {
        wideName(bytes).map { "it is \($0); save it as UTF-8" }
    }

    /// The name of a text's encoding, if it is UTF-16 or UTF-32: with its byte order mark, or beginning with an ASCII
    /// character and its zero bytes.
    package static func wideName(_ bytes: some Collection<UInt8>) -> String? {
        let start = Array(bytes.prefix(4))
        // First of all, since the mark of UTF-32 begins with that of UTF-16.
        if start == [0xFF, 0xFE, 0, 0] || start == [0, 0, 0xFE, 0xFF] { return "UTF-32" }
        let zeros = start.map { $0 == 0 }
        if zeros == [false, true, true, true] || zeros == [true, true, true, false] { return "UTF-32" }
        guard start.count >= 2 else { return nil }
        let hasMark = start.starts(with: [0xFF, 0xFE]) || start.starts(with: [0xFE, 0xFF])
        return hasMark || zeros[0] != zeros[1] ? "UTF-16" : nil
    }
}
