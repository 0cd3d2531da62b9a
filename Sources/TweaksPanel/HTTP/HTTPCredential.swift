// Extracts the credential of a request: a bearer token, or a browser's sign-in cookie with the key of its page.

import TweaksWire

/// The credential of a request, not yet verified.
package enum HTTPCredential: Equatable, Sendable {
    case bearer(String)
    /// The ID of the sign-in, and the key, which only a page of this server knows.
    case page(signIn: String, key: String)

    /// Nil if the request has no credential, or an ambiguous one. A cookie counts only without a header
    /// `Authorization`, which programs send on purpose.
    /// - Parameter port: The server's port, which names the cookie: servers of one host share their cookies.
    package init?(_ request: HTTPRequest, port: Int) {
        let headers = request.all(header: "authorization")
        if headers.isEmpty {
            guard let id = Self.signIn(in: request, port: port), let key = request[header: "tweaks-key"],
                Self.isToken(key.utf8)
            else { return nil }
            self = .page(signIn: id, key: key)
        } else {
            guard let token = Self.bearer(headers), Self.isToken(token.utf8) else { return nil }
            self = .bearer(token)
        }
    }

    /// Identifies the credential among others of the same connection; it contains no secret.
    package var fingerprint: [UInt8] {
        switch self {
        case .bearer(let token): TokenSecret.digest(of: token)
        case .page(let id, _): Array(id.utf8)
        }
    }

    /// RFC 6750: `Bearer`, one space, and the token.
    private static func bearer(_ headers: [String]) -> String? {
        guard headers.count == 1 else { return nil }
        let scheme = Array("bearer ".utf8)
        let value = Array(headers[0].utf8)
        guard HTTPSyntax.lowercased(value.prefix(scheme.count)) == scheme else { return nil }
        return String(decoding: value[scheme.count...], as: UTF8.self)
    }

    /// The sign-in that the cookie names, or a header where the page stores no cookie. Cookies of other servers may have
    /// any format; this server's occurs once.
    package static func signIn(in request: HTTPRequest, port: Int) -> String? {
        if let id = request[header: "tweaks-sign-in"] { return isToken(id.utf8) ? id : nil }
        guard let header = request[header: "cookie"] else { return nil }
        let name = cookieName(port: port).utf8
        let values = Array(header.utf8).split(separator: UInt8(ascii: ";")).compactMap { pair -> ArraySlice<UInt8>? in
            let pair = HTTPSyntax.trimmed(pair)
            guard let mark = pair.firstIndex(of: UInt8(ascii: "=")) else { return nil }
            return pair[..<mark].elementsEqual(name) ? pair[(mark + 1)...] : nil
        }
        guard values.count == 1, isToken(values[0]) else { return nil }
        return String(decoding: values[0], as: UTF8.self)
    }

    /// RFC 6750's `b64token`.
    private static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        let marks = Array("-._~+/=".utf8)
        return !bytes.isEmpty && bytes.allSatisfy { HTTPSyntax.isAlphanumeric($0) || marks.contains($0) }
    }

    // MARK: Cookies

    private static func cookieName(port: Int) -> String { "tweaks-\(port)" }

    /// The header that sets the cookie for the lifetime of a sign-in.
    package static func login(_ id: String, port: Int) -> HTTPField {
        setCookie("\(cookieName(port: port))=\(id); Max-Age=\(SignInStore.lifetime / 1_000)")
    }

    /// The header that deletes the cookie.
    package static func logout(port: Int) -> HTTPField { setCookie("\(cookieName(port: port))=; Max-Age=0") }

    /// Scripts cannot read the cookie, and requests of other sites do not include it. It is not `Secure`: there is no
    /// TLS.
    private static func setCookie(_ cookie: String) -> HTTPField {
        HTTPField("Set-Cookie", "\(cookie); Path=/; HttpOnly; SameSite=Strict")
    }
}
