// Tests the statuses and bodies of protocol errors.

import Testing
import Tweaks

@testable import TweaksPanel

@Suite struct PanelErrorTests {
    @Test(
        arguments: [
            ("usage", 400), ("bad-line", 400), ("bad-quoting", 400), ("bad-value", 400), ("auth-required", 401),
            ("denied", 403), ("read-only", 403), ("unknown-tweak", 404), ("unknown-command", 404), ("conflict", 409),
            ("ambiguous", 409), ("too-long", 413), ("out-of-range", 422), ("not-a-choice", 422),
            ("not-an-action", 422), ("action-failed", 422), ("too-many", 429), ("busy", 429), ("internal", 500),
            ("closing", 503), ("timeout", 504), ("io", 507),
        ])
    func everyCodeHasAStatus(code: String, status: Int) throws {
        #expect(HTTPStatus(try #require(TweakError.Code(rawValue: code))).number == status)
    }

    @Test func theBodyIsEscapedJSON() {
        let failure = HTTPFailure(.usage, "“a\"b”\n\u{202E}: no")
        let body = #"{"ok":false,"error":{"code":"usage","message":"“a\"b”\n\u202e: no"}}"#
        #expect(String(decoding: failure.body, as: UTF8.self).lowercased() == body + "\n")
    }

    @Test func aFailureIsAResponseWithItsHeaders() throws {
        let failure = try PanelRouter.failure(HTTPRequest("PUT /api/stats {}"))
        let response = failure.response
        #expect(response.status == .methodNotAllowed && response.body == failure.body)
        #expect(response.headers == [HTTPField("Content-Type", "application/json"), HTTPField("Allow", "GET, HEAD")])
    }
}
