// The target of a request: from its bytes to a path and a query.

/// What stands between the method and the version (RFC 9112, section 3.2): `/path?query`, or the same behind
/// `http://authority`. The other forms, `*` and `host:port`, ask for nothing that is here.
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
            throw .malformed("the target of the request is no path; write one that begins with /")
        }
        if rest.contains(UInt8(ascii: "#")) {
            throw .malformed("the target holds a fragment; leave out # and what follows it, or write %23")
        }
        let mark = rest.firstIndex(of: UInt8(ascii: "?")) ?? rest.endIndex
        path = try Self.path(rest[..<mark])
        query = try Self.query(rest[mark...].dropFirst())
    }

    /// A path may not climb, nor have parts without a name: what it means must not depend on who tidies it up.
    private static func path(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> [String] {
        let rest = bytes.dropFirst()
        if rest.isEmpty { return [] }
        var parts: [String] = []
        for part in rest.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            if part.isEmpty {
                throw .malformed("the path has an empty part; write one / between parts, none at the end")
            }
            // A / that was written %2F is one of the part's characters: it is split no more.
            let name = try decode(part)
            if name == "." || name == ".." { throw .malformed("the path has the part \(name); write it without dots") }
            parts.append(name)
        }
        return parts
    }

    /// As forms are written: `name=value&name=value`.
    private static func query(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) -> [HTTPField] {
        var fields: [HTTPField] = []
        for pair in bytes.split(separator: UInt8(ascii: "&")) {
            let mark = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            let name = try decode(pair[..<mark], plusIsBlank: true)
            fields.append(HTTPField(name, try decode(pair[mark...].dropFirst(), plusIsBlank: true)))
        }
        return fields
    }

    // MARK: Percent-encoding

    /// A text of its own that is written so; nil where it cannot be read.
    static func decoded(_ text: String) -> String? { try? decode(Array(text.utf8)[...]) }

    private static func decode(_ bytes: ArraySlice<UInt8>, plusIsBlank: Bool = false) throws(HTTPFailure) -> String {
        var (result, rest) = ([UInt8](), bytes)
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    throw .malformed("the target holds a % without two hexadecimal digits; write %25 for a %")
                }
                result.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: result.append(HTTPSyntax.blank)
            default: result.append(byte)
            }
        }
        if result.contains(where: HTTPSyntax.isControl) {
            throw .malformed("the target holds an encoded control character; leave it out")
        }
        guard let text = String(validating: result, as: UTF8.self) else {
            throw .malformed("the target is not UTF-8 when decoded; encode the bytes of UTF-8")
        }
        return text
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.flatMap { UInt8(exactly: $0) }
    }
}

extension HTTPFailure {
    /// Nobody can say what the request means, nor where the next one begins.
    static func malformed(_ message: String) -> HTTPFailure {
        HTTPFailure(.badRequest, "bad-line", message, endsConnection: true)
    }
}
