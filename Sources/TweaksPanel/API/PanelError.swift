// Errors of the protocol as HTTP says them: a status, and the same JSON as on the wire.

import Tweaks
import TweaksWire

extension HTTPStatus {
    /// What an error of the protocol is to HTTP.
    init(_ error: TweakError) { self = error.isMissing ? .notFound : HTTPStatus(error.code) }

    /// What a code of the protocol is to HTTP.
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

    /// An error of the protocol that is found before anything is done.
    init(_ code: TweakError.Code, _ message: String) { self.init(TweakError(code, message)) }

    /// `{"ok":false,"error":{"code":"usage","message":"…"}}`, and a line break as behind every reply.
    var body: [UInt8] {
        var bytes: [UInt8] = []
        JSON.object([
            ("ok", .bool(false)), ("error", .object([("code", .string(code)), ("message", .string(message))])),
        ]).append(to: &bytes)
        bytes.append(UInt8(ascii: "\n"))
        return bytes
    }

    /// The answer to a request that failed so.
    var response: HTTPResponse {
        HTTPResponse(status, [HTTPField("Content-Type", HTTPFailure.json)] + headers, body: body)
    }

    private static let json = "application/json"
}
