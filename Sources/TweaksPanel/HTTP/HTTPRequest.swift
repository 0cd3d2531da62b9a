// Defines a parsed HTTP request, and the lexical rules of HTTP: tokens, whitespace, letter case, lists, encoding.

/// A complete request (RFC 9112), independent of the routes.
package struct HTTPRequest: Equatable, Sendable {
    /// As sent; methods are case-sensitive.
    package var method: String
    /// The path's parts, percent-decoded: `/api/tweaks/A/B%20C` is `["api", "tweaks", "A", "B C"]`; `/` is none.
    package var path: [String]
    /// The query's names and values, percent-decoded, `+` as a space, in order.
    package var query: [HTTPField] = []
    /// Names are in lower case.
    package var headers: [HTTPField] = []
    package var body: [UInt8] = []
    /// Whether the connection stays open for another request.
    package var keepsAlive = true
    package var version = HTTPVersion.http11

    /// The value of a header that occurs once; nil if it is missing, or occurs several times.
    package subscript(header name: String) -> String? {
        let found = headers.filter { $0.name == name }
        return found.count == 1 ? found[0].value : nil
    }

    /// The values of a name in the query.
    package func values(_ name: String) -> [String] { query.filter { $0.name == name }.map(\.value) }

    /// All values of a header.
    func all(header name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }
}

/// The supported versions of HTTP.
package enum HTTPVersion: Sendable {
    /// Connections end after one request unless both sides send `keep-alive`; there is no chunked encoding.
    case http10
    case http11
}

/// A name and a value.
package struct HTTPField: Equatable, Sendable {
    package var name: String
    package var value: String

    package init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}

/// The lexical rules of HTTP (RFC 9110, section 5.6), for the parser, the guard and the credentials.
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
    static func isSame(_ left: String, _ right: String) -> Bool { Array(left.utf8) == Array(right.utf8) }

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

    // MARK: Percent-encoding

    /// Decodes a text outside a target; nil if its encoding is invalid.
    static func decoded(_ text: String) -> String? { try? decode(Array(text.utf8)[...]) }

    /// Decodes a part of a target.
    static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) throws(HTTPFailure) -> String {
        var result: [UInt8] = []
        var rest = bytes
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    throw .malformed("the target has a % without two hexadecimal digits; write %25 for a %")
                }
                result.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsSpace: result.append(HTTPSyntax.space)
            default: result.append(byte)
            }
        }
        if result.contains(where: HTTPSyntax.isControl) {
            throw .malformed("the target has an encoded control character; leave it out")
        }
        guard let text = String(validating: result, as: UTF8.self) else {
            throw .malformed("the decoded target is not UTF-8; percent-encode the bytes of UTF-8")
        }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.flatMap { UInt8(exactly: $0) }
    }
}
