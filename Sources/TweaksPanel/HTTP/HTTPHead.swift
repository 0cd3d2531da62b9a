// Parses the head of a request: its headers, the length of the body, and whether the connection persists.

/// A request line and the headers after it.
struct HTTPHead {
    let line: HTTPRequestLine
    private(set) var headers: [HTTPField] = []

    init(_ line: HTTPRequestLine) { self.line = line }

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
        headers.append(HTTPField(String(decoding: HTTPSyntax.lowercased(name), as: UTF8.self), value))
    }

    /// The request, with an empty body.
    func request() throws(HTTPFailure) -> HTTPRequest {
        try checkHost()
        var request = HTTPRequest(method: line.method, path: line.target.path)
        request.query = line.target.query
        request.headers = headers
        request.version = line.version
        request.keepsAlive = keepsAlive
        return request
    }

    private func values(_ name: String) -> [String] { headers.filter { $0.name == name }.map(\.value) }

    // MARK: Host and connection

    private func checkHost() throws(HTTPFailure) {
        let hosts = values("host")
        if hosts.count > 1 { throw .malformed("there are \(hosts.count) headers Host; send one") }
        if hosts.isEmpty, line.version == .http11 { throw .malformed("there is no header Host; send Host: name:port") }
        guard let authority = line.target.authority else { return }
        guard let host = hosts.first, HTTPSyntax.isSame(HTTPSyntax.lowercased(host), authority) else {
            throw .malformed("the target names another host than the header Host; send the path alone")
        }
    }

    private var keepsAlive: Bool {
        let options = values("connection").flatMap(HTTPSyntax.list)
        if options.contains("close") { return false }
        return line.version == .http11 || options.contains("keep-alive")
    }

    // MARK: The body

    /// The length of the body. Ambiguity is refused: a proxy might see other requests than this server does.
    func bodyLength() throws(HTTPFailure) -> Int {
        let lengths = values("content-length")
        if !values("transfer-encoding").isEmpty {
            if !lengths.isEmpty {
                throw .malformed("Content-Length and Transfer-Encoding are both present; send Content-Length alone")
            }
            throw Self.lengthRequired("Transfer-Encoding is not supported; send the body with Content-Length")
        }
        if lengths.count > 1 { throw .malformed("there are \(lengths.count) headers Content-Length; send one") }
        if let length = lengths.first { return try Self.length(length) }
        if ["POST", "PUT", "PATCH"].contains(line.method) {
            throw Self.lengthRequired("the length of the body is missing; send Content-Length")
        }
        return 0
    }

    private static func lengthRequired(_ message: String) -> HTTPFailure {
        HTTPFailure(.lengthRequired, "usage", message, endsConnection: true)
    }

    private static func length(_ text: String) throws(HTTPFailure) -> Int {
        // Int would also accept a sign.
        guard text.utf8.allSatisfy(HTTPSyntax.isDigit), let length = Int(text) else {
            throw .malformed("Content-Length is not a number of bytes; send decimal digits only")
        }
        return length
    }

    /// Whether the client waits for `100 Continue` before it sends the body; never in HTTP/1.0.
    func expectsContinue() throws(HTTPFailure) -> Bool {
        let expectations = values("expect").flatMap(HTTPSyntax.list)
        if line.version == .http10 || expectations.isEmpty { return false }
        if expectations == ["100-continue"] { return true }
        throw HTTPFailure(
            .expectationFailed, "usage", "this value of the header Expect is not supported; send Expect: 100-continue",
            endsConnection: true)
    }
}
