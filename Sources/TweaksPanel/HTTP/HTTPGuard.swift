// Refuses requests that pages of other sites make a browser send, before the request is performed.

/// Checks the headers `Host`, `Origin` and `Sec-Fetch-…` against the names of this server.
///
/// A page of another site can make a browser on this host send requests here, but it cannot choose these headers. DNS
/// rebinding, where a name of another site resolves to this host, shows in `Host`.
package struct HTTPGuard: Sendable {
    /// `name:port` in lower case; also the name alone for port 80.
    private let authorities: Set<[UInt8]>
    /// The address of the page, for errors.
    private let address: String

    /// - Parameters:
    ///   - port: The server's port.
    ///   - hosts: Names and addresses besides those of loopback, such as the address that it listens on; wildcard
    ///     addresses are ignored.
    package init(port: Int, hosts: [String] = []) {
        let names = ["127.0.0.1", "localhost", "[::1]"] + hosts.compactMap(Self.name)
        let all = names.flatMap { port == 80 ? ["\($0):80", $0] : ["\($0):\(port)"] }
        authorities = Set(all.map { Array($0.utf8) })
        // A server that listens on its own address does not listen on loopback.
        let name = hosts.lazy.compactMap(Self.name).first ?? "127.0.0.1"
        address = port == 80 ? "http://\(name)" : "http://\(name):\(port)"
    }

    private static func name(_ host: String) -> String? {
        let name = HTTPSyntax.lowercased(host)
        if ["", "*", "0.0.0.0", "::", "[::]"].contains(name) { return nil }
        let isBare = name.utf8.contains(UInt8(ascii: ":")) && name.utf8.first != UInt8(ascii: "[")
        return isBare ? "[\(name)]" : name
    }

    /// The reason to refuse a request; nil if it is allowed. Only the head is checked.
    package func failure(of request: HTTPRequest) -> HTTPFailure? {
        originFailure(of: request) ?? contentFailure(of: request)
    }

    /// Checks the origin of a request.
    package func originFailure(of request: HTTPRequest) -> HTTPFailure? {
        if !isOurs(host: request) {
            let remedy = "open \(address), or add that name to the panel's names"
            let hasHost = !request.all(header: "host").isEmpty
            let wrong = hasHost ? "the header Host names another server" : "there is no header Host"
            return HTTPFailure(.misdirectedRequest, "denied", "\(wrong); \(remedy)")
        }
        if !request.all(header: "upgrade").isEmpty {
            let message = "this server does not support other protocols; leave out the header Upgrade"
            return HTTPFailure(.badRequest, "unknown-command", message, endsConnection: true)
        }
        if isAllowedOrigin(request) { return nil }
        let message = "the request comes from another site's page; open \(address) itself"
        return HTTPFailure(.forbidden, "denied", message)
    }

    private func isOurs(host request: HTTPRequest) -> Bool {
        let hosts = request.all(header: "host")
        return hosts.count == 1 && authorities.contains(HTTPSyntax.lowercased(hosts[0].utf8))
    }

    // MARK: Origin and Sec-Fetch-Site

    private func isAllowedOrigin(_ request: HTTPRequest) -> Bool {
        let (origins, sites) = (request.all(header: "origin"), request.all(header: "sec-fetch-site"))
        guard origins.count <= 1, sites.count <= 1 else { return false }
        if let origin = origins.first, !isOurs(origin: origin) { return false }
        if let site = sites.first, !Self.isOurs(site: site), !Self.isNavigation(request) { return false }
        if !Self.requiresSameOrigin(request) || !origins.isEmpty { return true }
        // Programs send neither header; browsers omit Origin in a GET request of a page to its own server.
        return sites.first.map { HTTPSyntax.isSame($0, "same-origin") } ?? true
    }

    /// Browsers write origins in lower case, and omit the default port of the scheme.
    private func isOurs(origin: String) -> Bool {
        let scheme = "http://"
        guard origin.utf8.starts(with: scheme.utf8) else { return false }
        return authorities.contains(Array(origin.utf8.dropFirst(scheme.utf8.count)))
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
