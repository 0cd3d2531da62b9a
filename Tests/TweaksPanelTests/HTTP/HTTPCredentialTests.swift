// Tests tokens in headers and cookies, and the headers that set and delete a cookie.

import Foundation
import Testing

@testable import TweaksPanel

@Suite struct HTTPCredentialTests {
    private static func credential(_ headers: [(String, String)]) -> HTTPCredential? {
        var request = HTTPRequest(method: "GET", path: [])
        request.headers = headers.map { HTTPField($0.0, $0.1) }
        return HTTPCredential(request, port: 7780)
    }

    @Test(
        arguments: [
            ("Bearer twk_abc", "twk_abc"), ("bearer twk_abc", "twk_abc"), ("BEARER twk_abc", "twk_abc"),
            ("Bearer aZ09-._~+/==", "aZ09-._~+/=="), ("", nil), ("Bearer", nil), ("Bearer ", nil),
            ("Bearer  twk_abc", nil), ("Bearer\ttwk_abc", nil), ("Bearertwk_abc", nil), ("Bearer twk abc", nil),
            ("Bearer twk_abc,", nil),
            ("Bearer \"twk_abc\"", nil), ("Bearer twk_abc, Bearer twk_abc", nil), ("Basic dHdrXw==", nil),
            ("twk_abc", nil), ("Digest twk_abc", nil), ("Bearer é", nil), ("Bearer a;b", nil), ("Token twk_abc", nil),
        ] as [(String, String?)])
    func aBearerHeaderHasAToken(_ value: String, _ token: String?) {
        #expect(Self.credential([("authorization", value)]) == token.map(HTTPCredential.bearer))
    }

    private static let (id, key) = ("Aq-9_Aq-9_Aq-9_Aq-9_abcd", "1234.Aq-9_x")
    private static let page = HTTPCredential.page(signIn: id, key: key)

    /// `HALF` stands for the id of the sign-in; the page's key is the other half.
    @Test(
        arguments: [
            ("tweaks-7780=HALF", true), ("a=b; tweaks-7780=HALF", true), ("tweaks-7780=HALF;a=b", true),
            ("a=b;tweaks-7780=HALF; c", true), ("bad cookie, é {\"x\"}; tweaks-7780=HALF", true),
            (";; tweaks-7780=HALF ;", true), ("tweaks-7781=other; tweaks-7780=HALF", true),
            ("", false), ("tweaks-7780", false), ("tweaks-7780=", false),
            ("tweaks-778=HALF", false), ("tweaks-77800=HALF", false), ("Tweaks-7780=HALF", false),
            ("xtweaks-7780=HALF", false), ("tweaks-7780 =HALF", false), ("tweaks-7780= HALF", false),
            ("tweaks-7780=\"HALF\"", false), ("tweaks-7780=HALF, x", false),
            ("tweaks-7780=HALF; tweaks-7780=HALF", false), ("tweaks-7780=HALF; tweaks-7780=", false),
            ("a=tweaks-7780=HALF", false), ("tweaks-7780=é", false), ("a=\"; tweaks-7780=HALF\"", false),
            ("tweaks-7780=\u{FFFD}", false), ("__Host-tweaks-7780=HALF", false),
        ])
    func aCookieNeedsTheNameTheIDAndTheKey(_ value: String, _ isRead: Bool) {
        let cookie = value.replacingOccurrences(of: "HALF", with: Self.id)
        let credential = Self.credential([("cookie", cookie), ("tweaks-key", Self.key)])
        #expect(credential == (isRead ? Self.page : nil))
        #expect(Self.credential([("cookie", cookie)]) == nil)
    }

    @Test(arguments: ["", "é", "a b", "a,b", "a;b", "\"a\""]) func anInvalidOrRepeatedKeyIsNone(_ key: String) {
        let cookie = ("cookie", "tweaks-7780=\(Self.id)")
        #expect(Self.credential([cookie, ("tweaks-key", key)]) == nil)
        #expect(Self.credential([cookie, ("tweaks-key", Self.key), ("tweaks-key", key)]) == nil)
    }

    @Test(
        arguments: [
            [("authorization", "Bearer a"), ("authorization", "Bearer a")],
            [("authorization", "Bearer a"), ("authorization", "Basic b")],
            [("authorization", "Basic b"), ("cookie", "tweaks-7780=a")],
            [("authorization", ""), ("cookie", "tweaks-7780=a")],
            [("cookie", "tweaks-7780=a"), ("cookie", "tweaks-7780=a")],
            [("cookie", "tweaks-7780=a"), ("cookie", "b=c")],
            [("x-token", "a")], [],
        ])
    func missingAndAmbiguousCredentialsAreNone(_ headers: [(String, String)]) {
        #expect(Self.credential(headers) == nil)
    }

    @Test func theHeaderTakesPrecedenceOverTheCookie() {
        let headers = [("cookie", "tweaks-7780=\(Self.id)"), ("tweaks-key", Self.key), ("authorization", "Bearer b")]
        #expect(Self.credential(headers) == .bearer("b"))
    }

    @Test func loginSetsACookieAndLogoutDeletesIt() throws {
        let attributes = "Path=/; HttpOnly; SameSite=Strict"
        let login = HTTPField("Set-Cookie", "tweaks-7780=\(Self.id); Max-Age=2592000; \(attributes)")
        #expect(HTTPCredential.login(Self.id, port: 7780) == login)
        #expect(HTTPCredential.logout(port: 1) == HTTPField("Set-Cookie", "tweaks-1=; Max-Age=0; \(attributes)"))
    }
}
