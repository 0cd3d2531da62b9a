// Converts errors of the protocol to HTTP responses: a status, and the same JSON as on the socket.

import Tweaks
import TweaksWire

extension HTTPStatus {
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

extension HTTPFailure {
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
        HTTPResponse(status, [HTTPField("Content-Type", HTTPFailure.json)] + headers, body: body)
    }

    private static let json = "application/json"
}
