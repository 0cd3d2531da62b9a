// Defines the reason phrases of status codes, for readers; clients ignore them.

extension HTTPStatus {
    /// The reason phrase of RFC 9110, section 15.
    var reason: String {
        switch self {
        case .ok: "OK"
        case .noContent: "No Content"
        case .notModified: "Not Modified"
        case .badRequest: "Bad Request"
        case .unauthorized: "Unauthorized"
        case .forbidden: "Forbidden"
        case .notFound: "Not Found"
        case .methodNotAllowed: "Method Not Allowed"
        case .requestTimeout: "Request Timeout"
        case .conflict: "Conflict"
        case .lengthRequired: "Length Required"
        case .contentTooLarge: "Content Too Large"
        case .uriTooLong: "URI Too Long"
        case .unsupportedMediaType: "Unsupported Media Type"
        case .expectationFailed: "Expectation Failed"
        case .misdirectedRequest: "Misdirected Request"
        case .unprocessableContent: "Unprocessable Content"
        case .tooManyRequests: "Too Many Requests"
        case .headersTooLarge: "Request Header Fields Too Large"
        case .internalServerError: "Internal Server Error"
        case .serviceUnavailable: "Service Unavailable"
        case .gatewayTimeout: "Gateway Timeout"
        case .versionNotSupported: "HTTP Version Not Supported"
        case .insufficientStorage: "Insufficient Storage"
        }
    }
}
