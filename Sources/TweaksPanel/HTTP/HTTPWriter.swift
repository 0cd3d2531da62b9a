// Responses to bytes: heads with the headers that every response has, bodies, and streams in chunks.

/// What the framing of a response depends on.
package struct HTTPExchange: Equatable, Sendable {
    /// The headers alone are asked for.
    package var isHead = false
    package var version = HTTPVersion.http11
    /// The connection ends with the response.
    package var closes = false

    package init() {}

    /// What a request asks for.
    package init(_ request: HTTPRequest) {
        (isHead, version, closes) = (request.method == "HEAD", request.version, !request.keepsAlive)
    }

    /// The answer to what could not be read.
    package init(_ failure: HTTPFailure) { closes = failure.endsConnection }
}

/// Writes responses.
package struct HTTPWriter: Sendable {
    /// What says to go on with a body.
    package static let goOn = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private let security: [HTTPField]

    /// - Parameter contentSecurityPolicy: What the page may do.
    package init(contentSecurityPolicy: String) {
        security = [
            HTTPField("Content-Security-Policy", contentSecurityPolicy),
            HTTPField("X-Content-Type-Options", "nosniff"),
            HTTPField("Referrer-Policy", "no-referrer"),
            HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
            HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
        ]
    }

    /// What a response that says nothing about it is.
    private static let unkept = HTTPField("Cache-Control", "no-store")

    /// Adds a whole response.
    package func append(_ response: HTTPResponse, to exchange: HTTPExchange, into bytes: inout [UInt8]) {
        let hasBody = response.status != .noContent && response.status != .notModified
        let framing = hasBody ? [HTTPField("Content-Length", "\(response.body.count)")] : []
        appendHead(response.status, response.headers, framing, exchange, to: &bytes)
        if hasBody, !exchange.isHead { bytes += response.body }
    }

    /// Adds the head of a response that goes on until it ends.
    /// - Returns: What its parts are written with.
    package func appendStream(
        _ status: HTTPStatus, _ headers: [HTTPField], to exchange: HTTPExchange, into bytes: inout [UInt8]
    ) -> HTTPStream {
        var exchange = exchange
        let isChunked = exchange.version == .http11
        // HTTP/1.0 has no other end for what has no length.
        if !isChunked { exchange.closes = true }
        let framing = isChunked ? [HTTPField("Transfer-Encoding", "chunked")] : []
        appendHead(status, headers, framing, exchange, to: &bytes)
        return HTTPStream(isChunked: isChunked, isHead: exchange.isHead, closes: exchange.closes)
    }

    // MARK: Heads

    /// Headers that only the writer itself gives.
    private static let own = ["content-length", "transfer-encoding", "connection"]

    private func appendHead(
        _ status: HTTPStatus, _ headers: [HTTPField], _ framing: [HTTPField], _ exchange: HTTPExchange,
        to bytes: inout [UInt8]
    ) {
        bytes += "HTTP/1.1 \(status.rawValue) \(status.reason)\r\n".utf8
        let reserved = Self.own + security.map { HTTPSyntax.lowercased($0.name) }
        for header in headers where !reserved.contains(HTTPSyntax.lowercased(header.name)) {
            Self.append(header, to: &bytes)
        }
        let isKept = headers.contains { HTTPSyntax.lowercased($0.name) == "cache-control" }
        for header in framing + security + (isKept ? [] : [Self.unkept]) { Self.append(header, to: &bytes) }
        if exchange.closes {
            Self.append(HTTPField("Connection", "close"), to: &bytes)
        } else if exchange.version == .http10 {
            Self.append(HTTPField("Connection", "keep-alive"), to: &bytes)
        }
        bytes += "\r\n".utf8
    }

    /// A header is one line, whatever it holds; one without a name is none.
    private static func append(_ header: HTTPField, to bytes: inout [UInt8]) {
        guard HTTPSyntax.isToken(header.name.utf8) else { return }
        bytes += header.name.utf8
        bytes += ": ".utf8
        bytes += header.value.utf8.map { HTTPSyntax.isControl($0) ? HTTPSyntax.blank : $0 }
        bytes += "\r\n".utf8
    }
}

/// A response whose length is not known: chunks where the client knows them (RFC 9112, section 7.1), else bytes as they are.
package struct HTTPStream: Equatable, Sendable {
    let isChunked: Bool
    /// Only the head was asked for: there are no parts.
    let isHead: Bool
    /// The connection ends behind the stream.
    package let closes: Bool

    /// Adds the next part; an empty one is nothing.
    package func append(_ part: some Collection<UInt8>, to bytes: inout [UInt8]) {
        // An empty chunk would be the end.
        if part.isEmpty || isHead { return }
        if isChunked { bytes += "\(String(part.count, radix: 16))\r\n".utf8 }
        bytes += part
        if isChunked { bytes += "\r\n".utf8 }
    }

    /// Adds the end.
    package func appendEnd(to bytes: inout [UInt8]) {
        if isChunked, !isHead { bytes += "0\r\n\r\n".utf8 }
    }
}
