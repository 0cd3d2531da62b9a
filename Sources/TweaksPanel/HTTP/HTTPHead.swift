// The head of a request: its headers, and what they say of the body and the connection.

/// A request line and the headers behind it.
struct HTTPHead {
    let line: HTTPRequestLine
    private(set) var headers: [HTTPField] = []

    init(_ line: HTTPRequestLine) { self.line = line }

    /// Takes a header line.
    mutating func append(_ bytes: ArraySlice<UInt8>) throws(HTTPFailure) {
        if bytes.first == HTTPSyntax.blank || bytes.first == HTTPSyntax.tab {
            throw .malformed("a header line begins with a blank; write each header on one line")
        }
        guard let colon = bytes.firstIndex(of: UInt8(ascii: ":")) else {
            throw .malformed("a header line has no colon; write Name: value")
        }
        let name = bytes[..<colon]
        guard HTTPSyntax.isToken(name) else {
            throw .malformed("a header's name is empty, or holds a blank or another bad character; write Name: value")
        }
        // Values that are no UTF-8 are let in, repaired: browsers send what other sites of this host have set as cookies,
        // and nothing here gives such characters a meaning.
        let value = String(decoding: HTTPSyntax.trimmed(bytes[(colon + 1)...]), as: UTF8.self)
        headers.append(HTTPField(String(decoding: HTTPSyntax.lowercased(name), as: UTF8.self), value))
    }

    /// The request, its body still empty.
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

    /// How long the body is. Where there is any doubt, somebody in between might see another request than we do.
    func bodyLength() throws(HTTPFailure) -> Int {
        let lengths = values("content-length")
        if !values("transfer-encoding").isEmpty {
            if !lengths.isEmpty {
                throw .malformed("there are Content-Length and Transfer-Encoding; send Content-Length alone")
            }
            throw Self.lengthRequired("a body with Transfer-Encoding is not taken; send it whole, with Content-Length")
        }
        if lengths.count > 1 { throw .malformed("there are \(lengths.count) headers Content-Length; send one") }
        if let length = lengths.first { return try Self.length(length) }
        if ["POST", "PUT", "PATCH"].contains(line.method) {
            throw Self.lengthRequired("the request does not say how long its body is; send Content-Length")
        }
        return 0
    }

    private static func lengthRequired(_ message: String) -> HTTPFailure {
        HTTPFailure(.lengthRequired, "usage", message, endsConnection: true)
    }

    private static func length(_ text: String) throws(HTTPFailure) -> Int {
        // Int reads signs, too, but no other digits than ASCII's.
        guard text.utf8.allSatisfy(HTTPSyntax.isDigit), let length = Int(text) else {
            throw .malformed("Content-Length is no number of bytes; send its decimal digits alone")
        }
        return length
    }

    /// Whether the client waits for leave to send the body; HTTP/1.0 does not know how to.
    func expectsContinue() throws(HTTPFailure) -> Bool {
        let expectations = values("expect").flatMap(HTTPSyntax.list)
        if line.version == .http10 || expectations.isEmpty { return false }
        if expectations == ["100-continue"] { return true }
        throw HTTPFailure(
            .expectationFailed, "usage", "the header Expect asks for more than is there; send Expect: 100-continue",
            endsConnection: true)
    }
}
