// Parses the head of a request: its first line with the target, its headers, and the length of the body.

/// The head of a request (RFC 9112): `GET /path HTTP/1.1`, with one space between the words, and the headers after it.
struct HTTPHead {
    /// The request so far; its body is empty.
    private(set) var request: HTTPRequest
    /// The host and port of an absolute target, in lower case.
    private var authority: String?

    /// Parses the first line.
    /// - Parameter line: Visible ASCII and spaces.
    init(_ line: ArraySlice<UInt8>) throws(HTTPFailure) {
        let words = line.split(separator: HTTPSyntax.space, omittingEmptySubsequences: false)
        if words.contains(where: \.isEmpty) || !HTTPSyntax.isToken(words[0]) {
            throw .malformed("the first line is not a request; write METHOD /path HTTP/1.1, with single spaces")
        }
        if words.count == 2 { throw Self.otherVersion }
        if words.count != 3 {
            throw .malformed("the request line has \(words.count) words instead of 3; write METHOD /path HTTP/1.1")
        }
        let version = try Self.version(words[2])
        request = HTTPRequest(method: try Self.method(words[0]), path: [])
        request.version = version
        try parseTarget(words[1])
    }

    private static func version(_ word: ArraySlice<UInt8>) throws(HTTPFailure) -> HTTPVersion {
        let number = Array(word.dropFirst(5))
        guard word.prefix(5).elementsEqual("HTTP/".utf8), number.count == 3, number[1] == UInt8(ascii: "."),
            HTTPSyntax.isDigit(number[0]), HTTPSyntax.isDigit(number[2])
        else { throw .malformed("the request line does not end with a version; write HTTP/1.1") }
        switch String(decoding: number, as: UTF8.self) {
        case "1.1": return .http11
        case "1.0": return .http10
        default: throw otherVersion
        }
    }

    /// HTTP/2 begins with `PRI * HTTP/2.0`; a line without a version is HTTP/0.9.
    private static let otherVersion = HTTPFailure(
        .versionNotSupported, "usage", "this version of HTTP is not supported; use HTTP/1.1", endsConnection: true)

    /// The methods of RFC 9110 and `PATCH`; a path responds with 405 to those that it does not support. After an
    /// unknown method, or `CONNECT`, the framing of the following bytes is unknown.
    private static let methods = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"]

    private static func method(_ word: ArraySlice<UInt8>) throws(HTTPFailure) -> String {
        let method = String(decoding: word, as: UTF8.self)
        if methods.contains(method) { return method }
        let remedy = methods.prefix(6).joined(separator: " ")
        var failure = HTTPFailure(
            .methodNotAllowed, "unknown-command", "unknown method \(method.prefix(32)); use one of \(remedy)",
            endsConnection: true)
        failure.headers = [HTTPField("Allow", methods.prefix(6).joined(separator: ", "))]
        throw failure
    }

    // MARK: The target

    /// Parses a request target (RFC 9112, section 3.2): `/path?query`, or the same after `http://authority`. The other
    /// forms, `*` and `host:port`, are not supported.
    private mutating func parseTarget(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) {
        var rest = bytes
        let scheme = Array("http://".utf8)
        if HTTPSyntax.lowercased(bytes.prefix(scheme.count)) == scheme {
            rest = bytes.dropFirst(scheme.count)
            let end = rest.firstIndex { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "?") } ?? rest.endIndex
            authority = String(decoding: HTTPSyntax.lowercased(rest[..<end]), as: UTF8.self)
            rest = rest[end...]
        } else if rest.first != UInt8(ascii: "/") {
            throw .malformed("the target of the request is not a path; write one that begins with /")
        }
        (request.path, request.query) = try Self.parts(of: rest)
    }

    /// The path and the query of a target that begins with a slash.
    static func parts(of target: ArraySlice<UInt8>) throws(HTTPFailure) -> (path: [String], query: [HTTPField]) {
        if target.contains(UInt8(ascii: "#")) {
            throw .malformed("the target has a fragment; leave out # and the text after it, or write %23")
        }
        let mark = target.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
        return (try path(target[..<mark]), try query(target[mark...].dropFirst()))
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
            let name = try HTTPSyntax.decode(part)
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
            let name = try HTTPSyntax.decode(pair[..<mark], plusIsSpace: true)
            fields.append(HTTPField(name, try HTTPSyntax.decode(pair[mark...].dropFirst(), plusIsSpace: true)))
        }
        return fields
    }

    // MARK: Headers

    /// Parses a header line.
    mutating func append(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) {
        if bytes.first == HTTPSyntax.space || bytes.first == HTTPSyntax.tab {
            throw .malformed("a header line begins with a space; write each header on one line")
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            throw .malformed("a header line has no colon; write Name: value")
        }
        let name = bytes[..<colon]
        guard HTTPSyntax.isToken(name) else {
            throw .malformed("a header's name is empty, or has a space or another invalid character; write Name: value")
        }
        // Invalid UTF-8 is repaired, not refused: browsers send the cookies of other servers of this host, and no
        // header that is used here contains such characters.
        let value = String(decoding: HTTPSyntax.trimmed(bytes[(colon + 1)...]), as: UTF8.self)
        request.headers.append(HTTPField(String(decoding: HTTPSyntax.lowercased(name), as: UTF8.self), value))
    }

    /// Checks the headers as a whole, and returns the length of the body.
    mutating func finish() throws(HTTPFailure) -> Int {
        try checkHost()
        let options = request.all(header: "connection").flatMap(HTTPSyntax.list)
        request.keepsAlive =
            !options.contains("close") && (request.version == .http11 || options.contains("keep-alive"))
        return try bodyLength()
    }

    private func checkHost() throws(HTTPFailure) {
        let hosts = request.all(header: "host")
        if hosts.count > 1 { throw .malformed("there are \(hosts.count) headers Host; send one") }
        if hosts.isEmpty, request.version == .http11 {
            throw .malformed("there is no header Host; send Host: name:port")
        }
        guard let authority else { return }
        guard let host = hosts.first, HTTPSyntax.isSame(HTTPSyntax.lowercased(host), authority) else {
            throw .malformed("the target names another host than the header Host; send the path alone")
        }
    }

    /// The length of the body. Ambiguity is refused: a proxy might see other requests than this server does.
    private func bodyLength() throws(HTTPFailure) -> Int {
        let lengths = request.all(header: "content-length")
        if !request.all(header: "transfer-encoding").isEmpty {
            if !lengths.isEmpty {
                throw .malformed("Content-Length and Transfer-Encoding are both present; send Content-Length alone")
            }
            throw Self.lengthRequired("Transfer-Encoding is not supported; send the body with Content-Length")
        }
        if lengths.count > 1 { throw .malformed("there are \(lengths.count) headers Content-Length; send one") }
        guard let text = lengths.first else {
            if !["POST", "PUT", "PATCH"].contains(request.method) { return 0 }
            throw Self.lengthRequired("the length of the body is missing; send Content-Length")
        }
        // Int would also accept a sign.
        guard text.utf8.allSatisfy(HTTPSyntax.isDigit), let length = Int(text) else {
            throw .malformed("Content-Length is not a number of bytes; send decimal digits only")
        }
        return length
    }

    private static func lengthRequired(_ message: String) -> HTTPFailure {
        HTTPFailure(.lengthRequired, "usage", message, endsConnection: true)
    }

    /// Whether the client waits for `100 Continue` before it sends the body; never in HTTP/1.0.
    func expectsContinue() throws(HTTPFailure) -> Bool {
        let expectations = request.all(header: "expect").flatMap(HTTPSyntax.list)
        if request.version == .http10 || expectations.isEmpty { return false }
        if expectations == ["100-continue"] { return true }
        throw HTTPFailure(
            .expectationFailed, "usage", "this value of the header Expect is not supported; send Expect: 100-continue",
            endsConnection: true)
    }
}

extension HTTPFailure {
    /// A request that cannot be parsed, so that the start of the next one is unknown.
    static func malformed(_ message: String) -> HTTPFailure {
        HTTPFailure(.badRequest, "bad-line", message, endsConnection: true)
    }
}
