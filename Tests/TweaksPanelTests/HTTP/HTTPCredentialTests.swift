// Tokens in headers and cookies, and the headers that make and end a cookie.

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
            ("Bearer  twk_abc", nil),
            ("Bearer\ttwk_abc", nil), ("Bearertwk_abc", nil), ("Bearer twk abc", nil), ("Bearer twk_abc,", nil),
            ("Bearer \"twk_abc\"", nil), ("Bearer twk_abc, Bearer twk_abc", nil), ("Basic dHdrXw==", nil),
            ("twk_abc", nil), ("Digest twk_abc", nil), ("Bearer é", nil), ("Bearer a;b", nil), ("Token twk_abc", nil),
        ] as [(String, String?)])
    func readsHeader(_ value: String, _ token: String?) {
        let credential = Self.credential([("authorization", value)])
        #expect(credential?.token == token)
        #expect(credential?.isCookie != true)
    }

    @Test(
        arguments: [
            ("tweaks-7780=twk_abc", "twk_abc"), ("a=b; tweaks-7780=twk_abc", "twk_abc"),
            ("tweaks-7780=twk_abc;a=b", "twk_abc"), ("a=b;tweaks-7780=twk_abc; c", "twk_abc"),
            ("bad cookie, é {\"x\"}; tweaks-7780=twk_abc", "twk_abc"), (";; tweaks-7780=twk_abc ;", "twk_abc"),
            ("tweaks-7781=other; tweaks-7780=twk_abc", "twk_abc"), ("tweaks-7780=a=", "a="), ("", nil),
            ("tweaks-7780", nil), ("tweaks-7780=", nil), ("tweaks-778=twk_abc", nil), ("tweaks-77800=twk_abc", nil),
            ("Tweaks-7780=twk_abc", nil), ("xtweaks-7780=twk_abc", nil), ("tweaks-7780 =twk_abc", nil),
            ("tweaks-7780= twk_abc", nil), ("tweaks-7780=\"twk_abc\"", nil), ("tweaks-7780=twk_abc, x", nil),
            ("tweaks-7780=a; tweaks-7780=a", nil), ("tweaks-7780=a; tweaks-7780=", nil), ("a=tweaks-7780=twk_abc", nil),
            ("tweaks-7780=é", nil), ("a=\"; tweaks-7780=b\"", nil), ("tweaks-7780=\u{FFFD}", nil),
            ("__Host-tweaks-7780=a", nil),
        ] as [(String, String?)])
    func readsCookie(_ value: String, _ token: String?) {
        let credential = Self.credential([("cookie", value)])
        #expect(credential?.token == token)
        #expect(credential?.isCookie != false)
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
    func readsNothing(_ headers: [(String, String)]) {
        #expect(Self.credential(headers) == nil)
    }

    @Test func theHeaderComesBeforeTheCookie() {
        let credential = Self.credential([("cookie", "tweaks-7780=a"), ("authorization", "Bearer b")])
        #expect(credential?.token == "b")
        #expect(credential?.isCookie == false)
    }

    @Test func writesCookies() {
        let attributes = "Path=/; HttpOnly; SameSite=Strict"
        let login = HTTPField("Set-Cookie", "tweaks-7780=twk_abc; \(attributes)")
        #expect(HTTPCredential.login("twk_abc", port: 7780) == login)
        #expect(HTTPCredential.logout(port: 1) == HTTPField("Set-Cookie", "tweaks-1=; Max-Age=0; \(attributes)"))
    }

    @Test(arguments: ["", "a b", "a;b", "a\r\nb", "é", "a,b", "\"a\""]) func aCookieHoldsATokenAlone(_ token: String) {
        #expect(HTTPCredential.login(token, port: 7780) == nil)
    }

    /// What was set comes back as it was.
    @Test(arguments: ["twk_abc", "a=", "a/b+c~d.e-f_g=="]) func aCookieComesBack(_ token: String) throws {
        let field = try #require(HTTPCredential.login(token, port: 7780))
        let cookie = String(field.value.prefix { $0 != ";" })
        #expect(Self.credential([("cookie", cookie)])?.token == token)
    }
}
