// One HTTP response that is known as a whole.

/// A status, headers and a body.
package struct HTTPResponse: Equatable, Sendable {
    package var status: HTTPStatus
    package var headers: [HTTPField] = []
    package var body: [UInt8] = []

    package init(_ status: HTTPStatus, _ headers: [HTTPField] = [], body: [UInt8] = []) {
        (self.status, self.headers, self.body) = (status, headers, body)
    }
}

/// The statuses that this server answers with (RFC 9110).
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

/// A request that is not carried out: the status, and what is wrong in one sentence that names the remedy.
package struct HTTPFailure: Error, Equatable {
    package var status: HTTPStatus
    /// A code of the protocol.
    package var code: String
    package var message: String
    /// More headers, such as `Allow`.
    package var headers: [HTTPField] = []
    /// What follows on this connection cannot be told from the rest of this request.
    package var endsConnection = false

    package init(_ status: HTTPStatus, _ code: String, _ message: String, endsConnection: Bool = false) {
        (self.status, self.code, self.message, self.endsConnection) = (status, code, message, endsConnection)
    }
}
