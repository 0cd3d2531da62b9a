// Defines responses, their status and failures, and writes them: heads with the common headers, bodies, and streams.

import Tweaks
import TweaksWire

/// A status, headers and a body.
package struct HTTPResponse: Equatable, Sendable {
    package var status: HTTPStatus
    package var headers: [HTTPField] = []
    package var body: [UInt8] = []

    package init(_ status: HTTPStatus, _ headers: [HTTPField] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }
}

/// The status codes that this server sends, each with its reason phrase for readers (RFC 9110, section 15).
package enum HTTPStatus: String, CaseIterable, Sendable {
    case ok = "200 OK"
    case noContent = "204 No Content"
    case notModified = "304 Not Modified"
    case permanentRedirect = "308 Permanent Redirect"
    case badRequest = "400 Bad Request"
    case unauthorized = "401 Unauthorized"
    case forbidden = "403 Forbidden"
    case notFound = "404 Not Found"
    case methodNotAllowed = "405 Method Not Allowed"
    case requestTimeout = "408 Request Timeout"
    case conflict = "409 Conflict"
    case lengthRequired = "411 Length Required"
    case contentTooLarge = "413 Content Too Large"
    case uriTooLong = "414 URI Too Long"
    case unsupportedMediaType = "415 Unsupported Media Type"
    case expectationFailed = "417 Expectation Failed"
    case misdirectedRequest = "421 Misdirected Request"
    case unprocessableContent = "422 Unprocessable Content"
    case tooManyRequests = "429 Too Many Requests"
    case headersTooLarge = "431 Request Header Fields Too Large"
    case internalServerError = "500 Internal Server Error"
    case serviceUnavailable = "503 Service Unavailable"
    case gatewayTimeout = "504 Gateway Timeout"
    case versionNotSupported = "505 HTTP Version Not Supported"
    case insufficientStorage = "507 Insufficient Storage"

    /// The status of an error of the protocol.
    init(_ error: TweakError) { self = error.isMissing ? .notFound : HTTPStatus(error.code) }

    /// The status of an error code of the protocol.
    init(_ code: TweakError.Code) {
        self =
            switch code {
            case .usage, .badLine, .badQuoting, .badValue: .badRequest
            case .authRequired: .unauthorized
            case .denied, .readOnly: .forbidden
            case .unknownTweak, .unknownCommand: .notFound
            case .conflict, .ambiguous: .conflict
            case .tooLong: .contentTooLarge
            case .outOfRange, .notAChoice, .notAnAction, .actionFailed: .unprocessableContent
            case .tooMany, .busy: .tooManyRequests
            case .internal: .internalServerError
            case .closing: .serviceUnavailable
            case .timeout: .gatewayTimeout
            case .io: .insufficientStorage
            }
    }
}

/// A refused request: the status, and a sentence with the problem and its remedy.
package struct HTTPFailure: Error, Equatable {
    package var status: HTTPStatus
    /// An error code of the protocol.
    package var code: String
    package var message: String
    /// More headers, such as `Allow`.
    package var headers: [HTTPField] = []
    /// Whether the connection must end, because the end of the request is unknown.
    package var endsConnection = false

    package init(_ status: HTTPStatus, _ code: String, _ message: String, endsConnection: Bool = false) {
        self.status = status
        self.code = code
        self.message = message
        self.endsConnection = endsConnection
    }

    /// An error of the protocol.
    init(_ error: TweakError) { self.init(HTTPStatus(error), error.code.rawValue, error.message) }

    /// An error with a code of the protocol that is found while the request is parsed.
    init(_ code: TweakError.Code, _ message: String) { self.init(TweakError(code, message)) }

    /// `{"ok":false,"error":{"code":"usage","message":"…"}}`, and a line break as after every reply.
    var body: [UInt8] {
        var bytes: [UInt8] = []
        JSON.object([
            ("ok", .bool(false)), ("error", .object([("code", .string(code)), ("message", .string(message))])),
        ]).append(to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// The response to a request with this failure.
    var response: HTTPResponse {
        HTTPResponse(status, [HTTPField("Content-Type", "application/json")] + headers, body: body)
    }
}

/// The properties of a request that determine the framing of its response.
package struct ResponseFraming: Equatable, Sendable {
    /// Only the head is sent.
    package var isHead = false
    package var version = HTTPVersion.http11
    /// The connection ends after the response.
    package var closes = false

    package init() {}

    /// The framing of the response to a request.
    package init(_ request: HTTPRequest) {
        isHead = request.method == "HEAD"
        version = request.version
        closes = !request.keepsAlive
    }

    /// The framing of the response to a request that could not be parsed.
    package init(_ failure: HTTPFailure) { closes = failure.endsConnection }

    // MARK: Bodies of unknown length

    /// Whether a body of unknown length has chunks (RFC 9112, section 7.1). In HTTP/1.0 only the end of the connection
    /// can end it.
    fileprivate var isChunked: Bool { version == .http11 }

    /// Appends the next part of a body of unknown length; an empty part is ignored.
    package func append(_ part: some Collection<UInt8>, to bytes: inout [UInt8]) {
        // An empty chunk would end the body.
        if part.isEmpty || isHead { return }
        if isChunked { bytes += "\(String(part.count, radix: 16))\r\n".utf8 }
        bytes += part
        if isChunked { bytes += "\r\n".utf8 }
    }

    /// Appends the end of a body of unknown length.
    package func appendEnd(to bytes: inout [UInt8]) {
        if isChunked, !isHead { bytes += "0\r\n\r\n".utf8 }
    }
}

/// Writes responses.
package struct HTTPWriter: Sendable {
    /// The response that lets a client send its body.
    package static let continueResponse = Array("HTTP/1.1 100 Continue\r\n\r\n".utf8)

    private let security: [HTTPField]

    /// - Parameter contentSecurityPolicy: The value of the header Content-Security-Policy.
    package init(contentSecurityPolicy: String) {
        security = [
            HTTPField("Content-Security-Policy", contentSecurityPolicy),
            HTTPField("X-Content-Type-Options", "nosniff"),
            HTTPField("Referrer-Policy", "no-referrer"),
            HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
            HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
        ]
    }

    /// The default of responses without a header Cache-Control.
    private static let noStore = HTTPField("Cache-Control", "no-store")

    /// The challenge that status 401 requires (RFC 9110, section 15.5.2).
    private static let challenge = HTTPField("WWW-Authenticate", "Bearer realm=\"tweaks\"")

    /// Appends a complete response.
    package func append(_ response: HTTPResponse, to framing: ResponseFraming, into bytes: inout [UInt8]) {
        let challenge = response.status == .unauthorized ? [Self.challenge] : []
        let hasBody = response.status != .noContent && response.status != .notModified
        let length = hasBody ? [HTTPField("Content-Length", "\(response.body.count)")] : []
        appendHead(response.status, response.headers + challenge, length: length, framing, to: &bytes)
        if hasBody, !framing.isHead { bytes += response.body }
    }

    /// Appends the head of a response of unknown length.
    /// - Returns: The framing of the body.
    package func appendStream(
        _ status: HTTPStatus, _ headers: [HTTPField], to framing: ResponseFraming, into bytes: inout [UInt8]
    ) -> ResponseFraming {
        var framing = framing
        if !framing.isChunked { framing.closes = true }
        let encoding = framing.isChunked ? [HTTPField("Transfer-Encoding", "chunked")] : []
        appendHead(status, headers, length: encoding, framing, to: &bytes)
        return framing
    }

    // MARK: Heads

    /// Headers that only the writer sets.
    private static let framingNames = ["content-length", "transfer-encoding", "connection"]

    private func appendHead(
        _ status: HTTPStatus, _ headers: [HTTPField], length: [HTTPField], _ framing: ResponseFraming,
        to bytes: inout [UInt8]
    ) {
        bytes += "HTTP/1.1 \(status.rawValue)\r\n".utf8
        let reserved = Self.framingNames + security.map { HTTPSyntax.lowercased($0.name) }
        for header in headers where !reserved.contains(HTTPSyntax.lowercased(header.name)) {
            Self.append(header, to: &bytes)
        }
        let caching = headers.contains { HTTPSyntax.lowercased($0.name) == "cache-control" } ? [] : [Self.noStore]
        for header in length + security + caching { Self.append(header, to: &bytes) }
        if framing.closes {
            Self.append(HTTPField("Connection", "close"), to: &bytes)
        } else if framing.version == .http10 {
            Self.append(HTTPField("Connection", "keep-alive"), to: &bytes)
        }
        bytes += "\r\n".utf8
    }

    /// Control characters are replaced, so that a header is always one line; a header with an invalid name is skipped.
    private static func append(_ header: HTTPField, to bytes: inout [UInt8]) {
        guard HTTPSyntax.isToken(header.name.utf8) else { return }
        bytes += header.name.utf8
        bytes += ": ".utf8
        bytes += header.value.utf8.map { HTTPSyntax.isControl($0) ? HTTPSyntax.space : $0 }
        bytes += "\r\n".utf8
    }
}
