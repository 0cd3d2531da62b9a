// Holds where etcd is and who asks it, checked.

internal import Foundation

/// Endpoints, and a user where etcd asks for one.
package struct EtcdConfiguration: Sendable {
    /// `http://HOST[:PORT]`. TLS is for a tunnel on the same machine, which client certificates need anyway.
    package let endpoints: [String]
    package let user: String?
    package let passwordFile: String?
    /// For one answer.
    package var timeout = Duration.seconds(5)
    /// So many keys are asked for at once.
    package var pageSize = 100

    /// Reads a list of URLs.
    /// - Parameter endpoints: `URL[,URL…]`.
    package init(
        endpoints: String, user: String? = nil, passwordFile: String? = nil
    ) throws(EtcdConfigurationProblem) {
        var list: [String] = []
        for text in endpoints.split(separator: ",") {
            let text = text.trimmingCharacters(in: .whitespaces)
            if text.isEmpty { continue }
            let endpoint = try Self.endpoint(text, isSecret: user != nil)
            if !list.contains(endpoint) { list.append(endpoint) }
        }
        if list.isEmpty { throw .noEndpoint }
        if passwordFile == nil, let user { throw .noPasswordFile(user: user) }
        if user == nil, let passwordFile { throw .noUser(passwordFile: passwordFile) }
        (self.endpoints, self.user, self.passwordFile) = (list, user, passwordFile)
    }

    private static func endpoint(_ text: String, isSecret: Bool) throws(EtcdConfigurationProblem) -> String {
        guard let url = URLComponents(string: text), let scheme = url.scheme?.lowercased() else { throw .scheme(text) }
        if scheme == "https" { throw .encrypted(text) }
        guard scheme == "http" else { throw .scheme(text) }
        if url.user != nil || url.password != nil { throw .userInformation }
        guard let host = url.host, !host.isEmpty else { throw .host(text) }
        guard url.path.isEmpty || url.path == "/", url.query == nil, url.fragment == nil else { throw .path(text) }
        if let port = url.port, !(1...65_535).contains(port) { throw .host(text) }
        if isSecret, !isLoopback(host) { throw .plainPassword(text) }
        let port = url.port.map { ":\($0)" } ?? ""
        return "http://\(host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host)\(port)"
    }

    /// Whether what is sent there stays on this machine.
    static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "::1", "[::1]"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// What is wrong with a configuration.
package enum EtcdConfigurationProblem: Error, Hashable, Sendable, CustomStringConvertible {
    case noEndpoint
    case scheme(String)
    case host(String)
    case path(String)
    case encrypted(String)
    /// The URL is not repeated: there may be a password in it.
    case userInformation
    case noPasswordFile(user: String)
    case noUser(passwordFile: String)
    case plainPassword(String)

    package var description: String {
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
