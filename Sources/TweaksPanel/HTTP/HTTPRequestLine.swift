// Parses the first line of a request: its method, target and version.

/// `GET /path HTTP/1.1`, with one space between the words (RFC 9112, section 3).
struct HTTPRequestLine: Equatable {
    let method: String
    let target: HTTPTarget
    let version: HTTPVersion

    /// - Parameter bytes: Visible ASCII and spaces.
    init(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) {
        let words = bytes.split(separator: HTTPSyntax.space, omittingEmptySubsequences: false)
        if words.contains(where: \.isEmpty) || !HTTPSyntax.isToken(words[0]) {
            throw .malformed("the first line is not a request; write METHOD /path HTTP/1.1, with single spaces")
        }
        if words.count == 2 { throw Self.otherVersion }
        if words.count != 3 {
            throw .malformed("the request line has \(words.count) words instead of 3; write METHOD /path HTTP/1.1")
        }
        version = try Self.version(words[2])
        method = try Self.method(words[0])
        target = try HTTPTarget(words[1])
    }

    private static func version(_ word: ArraySlice<UInt8>) throws(HTTPFailure) -> HTTPVersion {
        let (name, number) = (word.prefix(5), Array(word.dropFirst(5)))
        guard name.elementsEqual("HTTP/".utf8), number.count == 3, number[1] == UInt8(ascii: "."),
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
}
