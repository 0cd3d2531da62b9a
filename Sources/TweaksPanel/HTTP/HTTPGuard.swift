// Who may ask: requests that other sites' pages make a browser send are refused before anybody looks at what they ask for.

/// The names that this server has, and what a request has to say of where it comes from.
///
/// A page of another site can make the browser of somebody on this host send requests here, but it cannot choose their
/// headers `Host`, `Origin` and `Sec-Fetch-…`. A name of its own that it lets point here (rebinding) shows in `Host`.
package struct HTTPGuard: Sendable {
    /// `name:port` in lower case, and the name alone where the port is HTTP's own.
    private let authorities: Set<[UInt8]>
    /// Where people find the page.
    private let address: String

    /// - Parameters:
    ///   - port: Where the server listens.
    ///   - hosts: Names and addresses beside the loopback's, such as the one that it listens at; those that stand for all
    ///     addresses are names of none.
    package init(port: Int, hosts: [String] = []) {
        let names = ["127.0.0.1", "localhost", "[::1]"] + hosts.compactMap(Self.name)
        let all = names.flatMap { port == 80 ? ["\($0):80", $0] : ["\($0):\(port)"] }
        authorities = Set(all.map { Array($0.utf8) })
        // Whoever listens at an address of its own listens nowhere else.
        let name = hosts.lazy.compactMap(Self.name).first ?? "127.0.0.1"
        address = port == 80 ? "http://\(name)" : "http://\(name):\(port)"
    }

    private static func name(_ host: String) -> String? {
        let name = HTTPSyntax.lowercased(host)
        if ["", "*", "0.0.0.0", "::", "[::]"].contains(name) { return nil }
        let isBare = name.utf8.contains(UInt8(ascii: ":")) && name.utf8.first != UInt8(ascii: "[")
        return isBare ? "[\(name)]" : name
    }

    /// Why a request is refused; nil: it may ask. The body plays no part, so that the head is enough.
    package func failure(of request: HTTPRequest) -> HTTPFailure? {
        originFailure(of: request) ?? contentFailure(of: request)
    }

    /// What is wrong with where a request comes from.
    package func originFailure(of request: HTTPRequest) -> HTTPFailure? {
        if !isOurs(host: request) {
            let remedy = "ask for \(address), or give this server the name that you use"
            let hasHost = !request.all(header: "host").isEmpty
            let wrong = hasHost ? "the header Host names another server" : "there is no header Host"
            return HTTPFailure(.misdirectedRequest, "denied", "\(wrong); \(remedy)")
        }
        if !request.all(header: "upgrade").isEmpty {
            let message = "no other protocol is spoken here; leave out the header Upgrade"
            return HTTPFailure(.badRequest, "unknown-command", message, endsConnection: true)
        }
        if mayAsk(request) { return nil }
        let message = "the request comes from another site's page; open \(address) itself"
        return HTTPFailure(.forbidden, "denied", message)
    }

    private func isOurs(host request: HTTPRequest) -> Bool {
        let hosts = request.all(header: "host")
        return hosts.count == 1 && authorities.contains(HTTPSyntax.lowercased(hosts[0].utf8))
    }

    // MARK: Origin and Sec-Fetch-Site

    private func mayAsk(_ request: HTTPRequest) -> Bool {
        let (origins, sites) = (request.all(header: "origin"), request.all(header: "sec-fetch-site"))
        guard origins.count <= 1, sites.count <= 1 else { return false }
        if let origin = origins.first, !isOurs(origin: origin) { return false }
        if let site = sites.first, !Self.isOurs(site: site), !Self.followsLink(request) { return false }
        if !Self.isDelicate(request) || !origins.isEmpty { return true }
        // Programs send neither header; browsers leave out Origin where a page asks its own server for something.
        return sites.first.map { HTTPSyntax.isSame($0, "same-origin") } ?? true
    }

    /// Browsers write origins in lower case, and no port that is the scheme's own.
    private func isOurs(origin: String) -> Bool {
        let scheme = "http://"
        guard origin.utf8.starts(with: scheme.utf8) else { return false }
        return authorities.contains(Array(origin.utf8.dropFirst(scheme.utf8.count)))
    }

    /// The page itself, or somebody who has typed the address.
    private static func isOurs(site: String) -> Bool {
        HTTPSyntax.isSame(site, "same-origin") || HTTPSyntax.isSame(site, "none")
    }

    /// A link on another page may open ours, as a page of its own.
    private static func followsLink(_ request: HTTPRequest) -> Bool {
        guard request.method == "GET", request.path.isEmpty else { return false }
        guard let mode = request[header: "sec-fetch-mode"], let use = request[header: "sec-fetch-dest"] else {
            return false
        }
        return HTTPSyntax.isSame(mode, "navigate") && HTTPSyntax.isSame(use, "document")
    }

    /// What changes something, and the events.
    private static func isDelicate(_ request: HTTPRequest) -> Bool {
        !["GET", "HEAD"].contains(request.method) || request.path == ["api", "events"]
    }

    // MARK: Content

    /// What is wrong with the kind of a body. Forms of other sites can send text and form data, but no JSON.
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
