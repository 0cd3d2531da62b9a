// Parses the target of a request into a path and a query.

/// A request target (RFC 9112, section 3.2): `/path?query`, or the same after `http://authority`. The other forms, `*`
/// and `host:port`, are not supported.
struct HTTPTarget: Equatable {
    /// The host and port of an absolute target, in lower case.
    private(set) var authority: String?
    private(set) var path: [String] = []
    private(set) var query: [HTTPField] = []

    private static let scheme = Array("http://".utf8)

    /// - Parameter bytes: Visible ASCII.
    init(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) {
        var rest = bytes
        if HTTPSyntax.lowercased(bytes.prefix(Self.scheme.count)) == Self.scheme {
            rest = bytes.dropFirst(Self.scheme.count)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            authority = String(decoding: HTTPSyntax.lowercased(rest[..<end]), as: UTF8.self)
            rest = rest[end...]
        } else if rest.first != UInt8(ascii: "/") {
            throw .malformed("the target of the request is not a path; write one that begins with /")
        }
        if rest.contains(UInt8(ascii: "#")) {
            throw .malformed("the target has a fragment; leave out # and the text after it, or write %23")
        }
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = try Self.path(rest[..<mark])
        query = try Self.query(rest[mark...].dropFirst())
    }

    /// Paths with `.`, `..` or empty parts are refused, since clients and proxies normalize them in different ways.
    private static func path(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> [String] {
        let rest = bytes.dropFirst()
        if rest.isEmpty { return [] }
        var parts: [String] = []
        for part in rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if part.isEmpty {
                throw .malformed("the path has an empty part; write one / between parts, none at the end")
            }
            // After the split: an encoded slash, %2F, belongs to the part.
            let name = try decode(part)
            if name == "." || name == ".." { throw .malformed("the path has the part \(name); write it without dots") }
            parts.append(name)
        }
        return parts
    }

    /// Parses the encoding of forms: `name=value&name=value`.
    private static func query(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> [HTTPField] {
        var fields: [HTTPField] = []
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = try decode(pair[..<mark], plusIsSpace: true)
            fields.append(HTTPField(name, try decode(pair[mark...].dropFirst(), plusIsSpace: true)))
        }
        return fields
    }

    // MARK: Percent-encoding

    /// Decodes a text outside a target; nil if its encoding is invalid.
    static func decoded(_ text: String) -> String? { try? decode(Array(text.utf8)[...]) }

    private static func decode(_ bytes: ArraySlice<UInt8>, plusIsSpace: Bool = false) throws(HTTPFailure) -> String {
        var (result, rest) = ([UInt8](), bytes)
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

extension HTTPFailure {
    /// A request that cannot be parsed, so that the start of the next one is unknown.
    static func malformed(_ message: String) -> HTTPFailure {
        HTTPFailure(.badRequest, "bad-line", message, endsConnection: true)
    }
}
