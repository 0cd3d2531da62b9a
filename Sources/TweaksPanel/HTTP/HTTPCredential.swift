// The token that a request shows: in the header that programs write, or as the two halves that a browser was given.

/// What somebody shows to be let in; whether it is good is another matter.
package struct HTTPCredential: Equatable, Sendable {
    package let token: String
    /// A browser has shown it.
    package let isCookie: Bool

    /// Nil where no token is shown, or in any way that can be read in two ways. A cookie counts only without a header
    /// `Authorization`: who writes one does not mean the other.
    /// - Parameter port: Where the server listens; servers of one host share their cookies.
    package init?(_ request: HTTPRequest, port: Int) {
        let headers = request.all(header: "authorization")
        isCookie = headers.isEmpty
        let shown = headers.isEmpty ? Self.halves(in: request, port: port) : Self.bearer(headers)
        guard let shown, Self.isToken(shown.utf8) else { return nil }
        token = shown
    }

    /// RFC 6750: `Bearer`, one blank, and the token.
    private static func bearer(_ headers: [String]) -> String? {
        guard headers.count == 1 else { return nil }
        let scheme = Array("bearer ".utf8)
        let value = Array(headers[0].utf8)
        guard HTTPSyntax.lowercased(value.prefix(scheme.count)) == scheme else { return nil }
        return String(decoding: value[scheme.count...], as: UTF8.self)
    }

    /// The cookie, which browsers send by themselves, and the key, which pages of this very server alone know.
    private static func halves(in request: HTTPRequest, port: Int) -> String? {
        guard let cookie = cookie(in: request, port: port), let key = request[header: "tweaks-key"] else { return nil }
        return SplitToken.token(cookie: String(decoding: cookie, as: UTF8.self), key: key)
    }

    /// Other servers' cookies may look like anything; ours comes once.
    private static func cookie(in request: HTTPRequest, port: Int) -> ArraySlice<UInt8>? {
        guard let header = request[header: "cookie"] else { return nil }
        let name = cookieName(port: port).utf8
        let values = Array(header.utf8).split(separator: UInt8(ascii: ";")).compactMap { pair -> ArraySlice<UInt8>? in
            let pair = HTTPSyntax.trimmed(pair)
            guard let mark = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return pair[..<mark].elementsEqual(name) ? pair[(mark + 1)...] : nil
        }
        return values.count == 1 ? values[0] : nil
    }

    /// RFC 6750's `b64token`.
    private static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        let marks = Array("-._~+/=".utf8)
        return !bytes.isEmpty && bytes.allSatisfy { HTTPSyntax.isAlphanumeric($0) || marks.contains($0) }
    }

    // MARK: Cookies

    private static func cookieName(port: Int) -> String { "tweaks-\(port)" }

    /// The header that makes a browser send its half of a token from now on, until it ends.
    package static func login(_ halves: SplitToken, port: Int) -> HTTPField {
        setCookie("\(cookieName(port: port))=\(halves.cookie)")
    }

    /// The header that makes a browser forget it.
    package static func logout(port: Int) -> HTTPField { setCookie("\(cookieName(port: port))=; Max-Age=0") }

    /// Scripts cannot read it, and requests of other sites do not carry it. It is not `Secure`: there is no TLS here.
    private static func setCookie(_ cookie: String) -> HTTPField {
        HTTPField("Set-Cookie", "\(cookie); Path=/; HttpOnly; SameSite=Strict")
    }
}
