// Tells where a request was sent, refuses what pages of other sites make a browser send, and extracts its credential.

import TweaksWire

/// Checks the headers `Host`, `Origin` and `Sec-Fetch-…` against the names of this server.
///
/// A page of another site can make a browser on this host send requests here, but it cannot choose these headers. DNS
/// rebinding, where a name of another site resolves to this host, shows in `Host`.
package struct HTTPGuard: Sendable {
    private let port: Int
    /// Names of the page besides its own, in lower case.
    private let names: Set<String>
    /// The page's current ID.
    private let pageID: @Sendable () -> String
    /// The origins of the site that the panel is a part of; nil for a panel with an address of its own.
    private let site: Set<String>?

    /// - Parameters:
    ///   - port: The server's port.
    ///   - names: Names of the page that the program sets; a loopback address among them has a page, too.
    ///   - addresses: Addresses that the server listens on; wildcard and loopback addresses are ignored.
    ///   - pageID: Returns the ID in the page's address, which may change.
    package init(
        port: Int, names: [String] = [], addresses: [String] = [],
        pageID: @escaping @Sendable () -> String = { "" }
    ) {
        self.port = port
        self.pageID = pageID
        let others = addresses.compactMap(Self.name).filter { !Self.loopback.contains($0) }
        self.names = Set(names.compactMap(Self.name) + others)
        site = nil
    }

    /// Creates the guard of a panel in a program's own router, which has checked `Host`.
    /// - Parameter site: The origins of the site, as browsers write them.
    init(site: [String]) {
        (port, names, pageID) = (0, [], { "" })
        self.site = Set(site)
    }

    private static let loopback: Set = ["127.0.0.1", "localhost", "[::1]"]

    /// Whether a request names a loopback address. Its port is that of a tunnel, where there is one.
    static func isLoopback(_ request: HTTPRequest) -> Bool {
        let hosts = request.all(header: "host")
        guard hosts.count == 1 else { return false }
        var name = HTTPSyntax.lowercased(hosts[0].utf8)[...]
        if let colon = name.lastIndex(of: UInt8(ascii: ":")), name[colon...].dropFirst().allSatisfy({ 48...57 ~= $0 }) {
            name = name[..<colon]
        }
        return loopback.contains(String(decoding: name, as: UTF8.self))
    }

    private static func name(_ host: String) -> String? {
        let name = HTTPSyntax.lowercased(host)
        if ["", "*", "0.0.0.0", "::", "[::]"].contains(name) { return nil }
        let isBare = name.utf8.contains(UInt8(ascii: ":")) && name.utf8.first != UInt8(ascii: "[")
        return isBare ? "[\(name)]" : name
    }

    // MARK: Host

    /// The address that a request was sent to; nil for another server's.
    package func place(of request: HTTPRequest) -> PanelPlace? {
        if site != nil { return .mounted }
        let hosts = request.all(header: "host")
        return hosts.count == 1 ? place(authority: hosts[0]) : nil
    }

    /// - Parameter authority: `name:port`; for port 80 also the name alone.
    private func place(authority: String) -> PanelPlace? {
        var name = HTTPSyntax.lowercased(authority)
        let suffix = ":\(port)"
        if name.utf8.count > suffix.utf8.count, name.hasSuffix(suffix) {
            name = String(decoding: name.utf8.dropLast(suffix.utf8.count), as: UTF8.self)
        } else if port != 80 {
            return nil
        }
        if names.contains(name) { return .name(name) }
        if Self.loopback.contains(name) { return .programs }
        guard let id = PanelID.id(inHost: name) else { return nil }
        return id == pageID() ? .page(id: id) : .earlier(id: id)
    }

    // MARK: Failures

    /// The reason to refuse a request; nil if it is allowed. Only the head is checked.
    package func failure(of request: HTTPRequest) -> HTTPFailure? {
        originFailure(of: request) ?? contentFailure(of: request)
    }

    /// Checks the origin of a request.
    package func originFailure(of request: HTTPRequest) -> HTTPFailure? {
        guard let place = place(of: request) else {
            let hasHost = !request.all(header: "host").isEmpty
            let wrong = hasHost ? "the header Host names another server" : "there is no header Host"
            return .misdirected("\(wrong); \(remedy), or add that name to the panel's names")
        }
        if !request.all(header: "upgrade").isEmpty {
            let message = "this server does not support other protocols; leave out the header Upgrade"
            return HTTPFailure(.badRequest, "unknown-command", message, endsConnection: true)
        }
        if place == .programs ? isOfProgram(request) : isAllowedOrigin(request, place) { return nil }
        let wrong =
            place == .programs
            ? "this address is for programs, and the request comes from a page"
            : "the request comes from another site's page"
        return HTTPFailure(.forbidden, "denied", "\(wrong); \(place == .mounted ? Self.siteRemedy : remedy)")
    }

    private static let siteRemedy =
        "open the page itself, or name the site's origin where the program makes its handler"

    /// The page's ID is in no error: it is for those who may sign in.
    private var remedy: String {
        "tweakctl NAME panel opens the panel, and programs use http://127.0.0.1\(port == 80 ? "" : ":\(port)")"
    }

    // MARK: Origin and Sec-Fetch-Site

    /// Whether no page has sent a request: pages of every process that has ever listened at this port have the address
    /// for programs as their origin. Users may open it by hand, or by a link.
    private func isOfProgram(_ request: HTTPRequest) -> Bool {
        guard request.all(header: "origin").isEmpty else { return false }
        let sites = request.all(header: "sec-fetch-site")
        if sites.isEmpty || Self.isNavigation(request) { return true }
        return sites.count == 1 && HTTPSyntax.isSame(sites[0], "none") && !Self.requiresSameOrigin(request)
    }

    private func isAllowedOrigin(_ request: HTTPRequest, _ place: PanelPlace) -> Bool {
        let origins = request.all(header: "origin")
        let sites = request.all(header: "sec-fetch-site")
        guard origins.count <= 1, sites.count <= 1 else { return false }
        if let origin = origins.first, !isOrigin(origin, of: place) { return false }
        if let site = sites.first, !Self.isOurs(site: site), !Self.isNavigation(request) { return false }
        if !Self.requiresSameOrigin(request) || !origins.isEmpty { return true }
        // Programs send neither header; browsers omit Origin in a GET request of a page to its own server.
        return sites.first.map { HTTPSyntax.isSame($0, "same-origin") } ?? true
    }

    /// Browsers write origins in lower case, and omit the default port of the scheme.
    private func isOrigin(_ origin: String, of place: PanelPlace) -> Bool {
        if let site { return site.contains(HTTPSyntax.lowercased(origin)) }
        let scheme = "http://"
        guard origin.hasPrefix(scheme) else { return false }
        return self.place(authority: String(decoding: origin.utf8.dropFirst(scheme.utf8.count), as: UTF8.self)) == place
    }

    /// The page itself, or an address that a user has typed.
    private static func isOurs(site: String) -> Bool {
        HTTPSyntax.isSame(site, "same-origin") || HTTPSyntax.isSame(site, "none")
    }

    /// A link on another site may open the page, but not embed it.
    private static func isNavigation(_ request: HTTPRequest) -> Bool {
        guard request.method == "GET", request.path.isEmpty else { return false }
        guard let mode = request[header: "sec-fetch-mode"], let destination = request[header: "sec-fetch-dest"] else {
            return false
        }
        return HTTPSyntax.isSame(mode, "navigate") && HTTPSyntax.isSame(destination, "document")
    }

    /// Whether a request changes state, or reads events.
    private static func requiresSameOrigin(_ request: HTTPRequest) -> Bool {
        !["GET", "HEAD"].contains(request.method) || request.path == ["api", "events"]
    }

    // MARK: Content

    /// Checks the type of the body. Forms of other sites can send text and form data, but not JSON.
    package func contentFailure(of request: HTTPRequest) -> HTTPFailure? {
        guard !["GET", "HEAD"].contains(request.method) else { return nil }
        let length = request[header: "content-length"].flatMap { Int($0) } ?? 0
        guard ["POST", "PUT", "PATCH"].contains(request.method) || length > 0 else { return nil }
        let types = request.all(header: "content-type")
        if types.count == 1, Self.isJSON(types[0]) { return nil }
        let message = "the body is not marked as JSON; send the header Content-Type: application/json"
        return HTTPFailure(.unsupportedMediaType, "usage", message)
    }

    private static func isJSON(_ type: String) -> Bool {
        let parts = HTTPSyntax.parts(of: type, separator: UInt8(ascii: ";"))
        guard HTTPSyntax.isSame(parts[0], "application/json") else { return false }
        if parts.count == 1 { return true }
        return parts.count == 2 && ["charset=utf-8", "charset=\"utf-8\""].contains { HTTPSyntax.isSame($0, parts[1]) }
    }
}

extension HTTPFailure {
    /// A request for something that is not at the address that it names.
    static func misdirected(_ message: String) -> HTTPFailure { HTTPFailure(.misdirectedRequest, "denied", message) }
}

/// The address that a request was sent to, by its header `Host`.
package enum PanelPlace: Equatable, Sendable {
    /// A loopback address: the API for programs. It has no page, since it is the same in every process that listens at
    /// this port, and so is what their pages leave in browsers.
    case programs
    /// `ID.localhost` with the current ID: the page, which may store keys there.
    case page(id: String)
    /// Another name or address of the page, where nothing is stored.
    case name(String)
    /// A path of a program's own router, which has authenticated the caller.
    case mounted
    /// `ID.localhost` with another ID: pages that are open there go on; nothing is loaded or signed in.
    case earlier(id: String)

    /// The origin of a sign-in there; a sign-in is valid nowhere else.
    package var origin: String {
        switch self {
        case .programs, .mounted: Self.programsOrigin
        case .page(let id), .name(let id), .earlier(let id): id
        }
    }

    /// The origin of the sign-ins of programs.
    package static let programsOrigin = "-"

    /// Whether the page is served here.
    var hasPage: Bool {
        switch self {
        case .page, .name, .mounted: true
        case .programs, .earlier: false
        }
    }
}

/// The part of the page's address that no other process has had, nor can guess.
package enum PanelID {
    /// More than 128 bits, in letters that are valid in a host name.
    package static let count = 26
    private static let alphabet = Array("abcdefghijklmnopqrstuvwxyz234567".utf8)
    private static let domain = ".localhost"

    /// Makes a random ID.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        let letters = (0..<count).map { _ in alphabet[Int.random(in: 0..<alphabet.count, using: &generator)] }
        return String(decoding: letters, as: UTF8.self)
    }

    package static func isWellFormed(_ text: some StringProtocol) -> Bool {
        text.utf8.count == count && text.utf8.allSatisfy(alphabet.contains)
    }

    /// The host of an ID. Browsers resolve it to this machine by themselves, and treat it as secure.
    package static func host(_ id: String) -> String { id + domain }

    /// The ID in a host name in lower case; nil in another one.
    static func id(inHost name: String) -> String? {
        guard name.hasSuffix(domain), case let id = name.dropLast(domain.utf8.count), isWellFormed(id) else {
            return nil
        }
        return String(id)
    }
}

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
