// Holds the validated endpoints and credentials of etcd.

import Tweaks
import TweaksSystem

/// The endpoints, and a user if etcd requires authentication.
package struct EtcdConfiguration: Sendable {
    /// `http://HOST[:PORT]`, and with a connector also `https://HOST[:PORT]`.
    package let endpoints: [String]
    /// What connects to the endpoints with TLS; nil leaves that to a tunnel on the same machine.
    package let connector: (any EtcdConnector)?
    package let user: String?
    package let passwordFile: String?
    /// The time limit for one reply.
    package var timeout = Duration.seconds(5)
    /// The number of keys requested per page.
    package var pageSize = 100

    /// Parses a list of URLs.
    /// - Parameter endpoints: `URL[,URL…]`.
    package init(
        endpoints: String, user: String? = nil, passwordFile: String? = nil, connector: (any EtcdConnector)? = nil
    ) throws(FleetProblem) {
        var list: [String] = []
        for text in endpoints.split(separator: ",") {
            let words = text.split(separator: " ")
            if words.isEmpty { continue }
            let endpoint = try Self.endpoint(
                words.joined(separator: " "), isSecret: user != nil, speaksTLS: connector != nil)
            if !list.contains(endpoint) { list.append(endpoint) }
        }
        if list.isEmpty { throw Self.problem("no URL of etcd; name one: http://127.0.0.1:2379") }
        if passwordFile == nil, let user {
            throw Self.problem("user \(user) has no password file; name one that only you can read")
        }
        if user == nil, let passwordFile {
            throw Self.problem("password file \(passwordFile) has no user; name the user, too")
        }
        self.endpoints = list
        self.user = user
        self.passwordFile = passwordFile
        self.connector = connector
    }

    private static func endpoint(_ text: String, isSecret: Bool, speaksTLS: Bool) throws(FleetProblem) -> String {
        let scheme = text.prefix { $0 != ":" }.lowercased()
        let rest = text.dropFirst(scheme.count)
        guard rest.hasPrefix("://"), scheme == "http" || scheme == "https" else {
            throw problem("\(text) is not a URL of etcd; write it with http:// in front")
        }
        let authority = rest.dropFirst(3).prefix { !"/?#".contains($0) }
        if authority.contains("@") {
            // The URL may contain a password.
            throw problem("a URL of etcd has a user in it; name the user and a password file instead")
        }
        if scheme == "https", !speaksTLS {
            throw problem(
                "\(text) asks for TLS, which is not spoken here; let stunnel on this machine do that, and name its "
                    + "http:// URL")
        }
        guard isPlain(authority), let address = EtcdAddress("\(scheme)://\(authority)"), address.port > 0 else {
            throw problem("\(text) lacks a host or has no such port; write \(scheme)://HOST:2379")
        }
        guard ["", "/"].contains(rest.dropFirst(3 + authority.count)) else {
            throw problem("\(text) has more than a host and a port; write \(scheme)://HOST:2379 and nothing behind it")
        }
        if isSecret, !address.isSecure, !isLoopback(address.host) {
            let remedy =
                speaksTLS
                ? "write https://\(authority)" : "let stunnel on this machine speak https:// to it, and name that"
            throw problem("\(text) would get the password in the clear; \(remedy)")
        }
        return "\(scheme)://\(authority)"
    }

    private static func problem(_ text: String) -> FleetProblem { FleetProblem(Quoting.sanitized(text)) }

    /// Whether the text is safe to send in a header.
    private static func isPlain(_ authority: Substring) -> Bool {
        authority.unicodeScalars.allSatisfy {
            ("a"..."z").contains($0) || ("A"..."Z").contains($0) || ("0"..."9").contains($0)
                || ".-_:[]".unicodeScalars.contains($0)
        }
    }

    /// Returns the current content of a password file, which only its owner can read, without a trailing newline.
    static func password(in path: String) throws(EtcdError) -> String {
        let content: [UInt8]?
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            let rules = FileRules(forbidden: 0o077, groupMayReadRoots: true)
            content = try folder.content(of: name, limit: 4_096, rules)?.bytes
        } catch {
            guard error.isPathMissing else { throw .unauthenticated("password file \(error)") }
            content = nil
        }
        guard let content else {
            throw .unauthenticated("password file \(path) is not there; write the password into it")
        }
        guard var text = String(validating: content, as: UTF8.self) else {
            throw .unauthenticated("password file \(path) is not UTF-8; write it anew")
        }
        if text.hasSuffix("\r\n") || text.hasSuffix("\n") { text.removeLast() }
        if text.isEmpty { throw .unauthenticated("password file \(path) is empty; write the password into it") }
        return text
    }

    /// Whether data sent to this host stays on this machine.
    static func isLoopback(_ host: String) -> Bool {
        if ["localhost", "::1"].contains(host.lowercased()) { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0) != nil }
    }
}

/// The parsed URL of a request: `http://HOST[:PORT]/PATH`, or the same with `https`.
struct EtcdAddress: Hashable, Sendable {
    /// Whether the connection is one with TLS, which a connector makes.
    let isSecure: Bool
    let host: String
    let port: UInt16
    let path: String
    /// The value of the `Host` header.
    let authority: String

    /// Scheme, host and port as they are written; connections to the same origin are interchangeable.
    var origin: String { (isSecure ? "https://" : "http://") + authority }

    /// Returns nil for other URLs.
    init?(_ url: String) {
        isSecure = url.hasPrefix("https://")
        guard isSecure || url.hasPrefix("http://") else { return nil }
        let rest = url.dropFirst(isSecure ? 8 : 7)
        authority = String(rest.prefix { $0 != "/" })
        // An IPv6 address is in brackets and contains colons.
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[end...].lastIndex(of: ":")
        let name = authority[..<(colon ?? authority.endIndex)]
        host = String(name.hasPrefix("[") && name.hasSuffix("]") ? name.dropFirst().dropLast() : name)
        // Without brackets, the only colon is the one in front of the port.
        guard host.contains(":") == name.hasPrefix("["), name.hasPrefix("[") == name.hasSuffix("]") else { return nil }
        let number =
            if let colon { UInt16(authority[authority.index(after: colon)...]) } else { isSecure ? 443 : 80 as UInt16? }
        guard let number, !host.isEmpty else { return nil }
        port = number
        let path = rest.dropFirst(authority.count)
        self.path = path.isEmpty ? "/" : String(path)
    }
}
