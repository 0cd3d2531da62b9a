// Implements the lexical rules of HTTP (RFC 9110, section 5.6): tokens, whitespace, letter case and lists.

/// Lexical functions for the parser, the guard and the credentials.
enum HTTPSyntax {
    static let space = UInt8(ascii: " ")
    static let tab = UInt8(ascii: "\t")

    /// Whether bytes are a token: the name of a method or a header.
    static func isToken(_ bytes: some Collection<UInt8>) -> Bool { !bytes.isEmpty && bytes.allSatisfy(isTokenByte) }

    private static func isTokenByte(_ byte: UInt8) -> Bool { isAlphanumeric(byte) || tokenMarks.contains(byte) }

    private static let tokenMarks = Array("!#$%&'*+-.^_`|~".utf8)

    static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: isDigit(byte)
        }
    }

    static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

    static func isControl(_ byte: UInt8) -> Bool { byte < 0x20 || byte == 0x7F }

    /// Converts only ASCII letters to lower case: a letter of another script must not become one of ASCII.
    static func lowercased(_ bytes: some Sequence<UInt8>) -> [UInt8] {
        bytes.map { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) ? $0 | 0x20 : $0 }
    }

    static func lowercased(_ text: String) -> String { String(decoding: lowercased(text.utf8), as: UTF8.self) }

    /// Whether two texts are the same bytes. `==` of strings equates different encodings of a character.
    static func isSame(_ left: String, _ right: String) -> Bool { left.utf8.elementsEqual(right.utf8) }

    /// Bytes without spaces and tabs at both ends.
    static func trimmed(_ bytes: ArraySlice<UInt8>) -> ArraySlice<UInt8> {
        var rest = bytes
        while let first = rest.first, first == space || first == tab { rest = rest.dropFirst() }
        while let last = rest.last, last == space || last == tab { rest = rest.dropLast() }
        return rest
    }

    /// The parts between separators, in lower case, trimmed.
    static func parts(of value: String, separator: UInt8) -> [String] {
        Array(value.utf8).split(separator: separator, omittingEmptySubsequences: false)
            .map { String(decoding: lowercased(trimmed($0)), as: UTF8.self) }
    }

    /// The elements of a list (RFC 9110, section 5.6.1); empty ones are ignored.
    static func list(_ value: String) -> [String] {
        parts(of: value, separator: UInt8(ascii: ",")).filter { !$0.isEmpty }
    }
}
