// What a request shows to be let in: the token that programs write, or the sign-in of a browser and the key of its page.

import TweaksWire

/// What somebody shows to be let in; whether it is good is another matter.
package enum HTTPCredential: Equatable, Sendable {
    case bearer(String)
    /// The cookie, which browsers send by themselves, and the key, which a page of this very server alone knows.
    case page(signIn: String, key: String)

    /// Nil where nothing is shown, or in any way that can be read in two ways. A cookie counts only without a header
    /// `Authorization`: who writes one does not mean the other.
    /// - Parameter port: Where the server listens; servers of one host share their cookies.
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

    /// Tells it from others of the same connection; nothing that is secret is in it.
    package var fingerprint: [UInt8] {
        switch self {
        case .bearer(let token): TokenSecret.digest(of: token)
        case .page(let id, _): Array(id.utf8)
        }
    }

    /// RFC 6750: `Bearer`, one blank, and the token.
    private static func bearer(_ headers: [String]) -> String? {
        guard headers.count == 1 else { return nil }
        let scheme = Array("bearer ".utf8)
        let value = Array(headers[0].utf8)
        guard HTTPSyntax.lowercased(value.prefix(scheme.count)) == scheme else { return nil }
        return String(decoding: value[scheme.count...], as: UTF8.self)
    }

    /// The sign-in that a cookie names. Other servers' cookies may look like anything; ours comes once.
    package static func signIn(in request: HTTPRequest, port: Int) -> String? {
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

    /// The header that makes a browser say which sign-in is its own, as long as that lasts.
    package static func login(_ id: String, port: Int) -> HTTPField {
        setCookie("\(cookieName(port: port))=\(id); Max-Age=\(SignIns.longest / 1_000)")
    }

    /// The header that makes a browser forget it.
    package static func logout(port: Int) -> HTTPField { setCookie("\(cookieName(port: port))=; Max-Age=0") }

    /// Scripts cannot read it, and requests of other sites do not carry it. It is not `Secure`: there is no TLS here.
    private static func setCookie(_ cookie: String) -> HTTPField {
        HTTPField("Set-Cookie", "\(cookie); Path=/; HttpOnly; SameSite=Strict")
    }
}
