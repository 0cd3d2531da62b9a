// Defines a complete HTTP response, its status, and failures.

/// A status, headers and a body.
package struct HTTPResponse: Equatable, Sendable {
    package var status: HTTPStatus
    package var headers: [HTTPField] = []
    package var body: [UInt8] = []

    package init(_ status: HTTPStatus, _ headers: [HTTPField] = [], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

/// The status codes that this server sends (RFC 9110).
package enum HTTPStatus: Int, Sendable {
    case ok = 200
    case noContent = 204
    case notModified = 304
    case badRequest = 400
    case unauthorized = 401
    case forbidden = 403
    case notFound = 404
    case methodNotAllowed = 405
    case requestTimeout = 408
    case conflict = 409
    case lengthRequired = 411
    case contentTooLarge = 413
    case uriTooLong = 414
    case unsupportedMediaType = 415
    case expectationFailed = 417
    case misdirectedRequest = 421
    case unprocessableContent = 422
    case tooManyRequests = 429
    case headersTooLarge = 431
    case internalServerError = 500
    case serviceUnavailable = 503
    case gatewayTimeout = 504
    case versionNotSupported = 505
    case insufficientStorage = 507
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
        (self.status, self.code, self.message, self.endsConnection) = (status, code, message, endsConnection)
    }
}
