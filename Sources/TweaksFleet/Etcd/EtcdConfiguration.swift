// Holds the validated endpoints and credentials of etcd.

import Tweaks

/// The endpoints, and a user if etcd requires authentication.
package struct EtcdConfiguration: Sendable {
    /// `http://HOST[:PORT]`. TLS is left to a tunnel on the same machine, which client certificates need anyway.
    package let endpoints: [String]
    package let user: String?
    package let passwordFile: String?
    /// The time limit for one reply.
    package var timeout = Duration.seconds(5)
    /// The number of keys requested per page.
    package var pageSize = 100

    /// Parses a list of URLs.
    /// - Parameter endpoints: `URL[,URL…]`.
    package init(
        endpoints: String, user: String? = nil, passwordFile: String? = nil
    ) throws(EtcdConfigurationProblem) {
        var list: [String] = []
        for text in endpoints.split(separator: ",") {
            let words = text.split(separator: " ")
            if words.isEmpty { continue }
            let endpoint = try Self.endpoint(words.joined(separator: " "), isSecret: user != nil)
            if !list.contains(endpoint) { list.append(endpoint) }
        }
        if list.isEmpty { throw .noEndpoint }
        if passwordFile == nil, let user { throw .noPasswordFile(user: user) }
        if user == nil, let passwordFile { throw .noUser(passwordFile: passwordFile) }
        (self.endpoints, self.user, self.passwordFile) = (list, user, passwordFile)
    }

    private static func endpoint(_ text: String, isSecret: Bool) throws(EtcdConfigurationProblem) -> String {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        guard rest.hasPrefix("://"), scheme == "http" || scheme == "https" else { throw .scheme(text) }
        let authority = rest.dropFirst(3).prefix { !"/?#".contains($0) }
        if authority.contains("@") { throw .userInformation }
        if scheme == "https" { throw .encrypted(text) }
        guard isPlain(authority), let address = EtcdAddress("http://\(authority)"), address.port > 0 else {
            throw .host(text)
        }
        guard ["", "/"].contains(rest.dropFirst(3 + authority.count)) else { throw .path(text) }
        if isSecret, !isLoopback(address.host) { throw .plainPassword(text) }
        return "http://\(authority)"
    }

    /// Whether the text is safe to send in a header.
    private static func isPlain(_ authority: Substring) -> Bool {
        authority.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
                || ".-_:[]".unicodeScalars.contains($0)
        }
    }

    /// Whether data sent to this host stays on this machine.
    static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "::1"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// A mistake in the configuration.
package enum EtcdConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    case noEndpoint
    case scheme(String)
    case host(String)
    case path(String)
    case encrypted(String)
    /// The URL is left out of the text because it may contain a password.
    case userInformation
    case noPasswordFile(user: String)
    case noUser(passwordFile: String)
    case plainPassword(String)

    package var description: String { Quoting.sanitized(text) }

    private var text: String {
        switch self {
        case .noEndpoint: "no URL of etcd; name one: http://127.0.0.1:2379"
        case .scheme(let url): "\(url) is not a URL of etcd; write it with http:// in front"
        case .host(let url): "\(url) lacks a host or has no such port; write http://HOST:2379"
        case .path(let url): "\(url) has more than a host and a port; write http://HOST:2379 and nothing behind it"
        case .encrypted(let url):
            "\(url) asks for TLS, which is not spoken here; let stunnel on this machine do that, and name its http:// URL"
        case .userInformation: "a URL of etcd has a user in it; name the user and a password file instead"
        case .noPasswordFile(let user): "user \(user) has no password file; name one that only you can read"
        case .noUser(let file): "password file \(file) has no user; name the user, too"
        case .plainPassword(let url):
            "\(url) would get the password in the clear; let stunnel on this machine speak https:// to it, and name that"
        }
    }
}
