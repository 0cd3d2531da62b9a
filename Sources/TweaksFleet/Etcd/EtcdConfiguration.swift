// Reads where etcd is and who asks it: URLs of its members, a user, and a file with the password.

package import Foundation
import Tweaks
import TweaksSystem

/// Why a configuration is none.
package struct EtcdConfigurationProblem: Error, Hashable, CustomStringConvertible {
    package let description: String
}

/// The members of an etcd, and who asks them.
package struct EtcdConfiguration: Hashable, Sendable {
    package let endpoints: [URL]
    package let user: String?
    private let passwordFile: String?
    /// How long an answer may take.
    package var timeout = Duration.seconds(5)
    /// How long a watch may take to stand.
    package var watchTimeout = Duration.seconds(5)
    /// So many keys are read at a time.
    package var pageSize = 100

    /// - Parameters:
    ///   - endpoints: `URL[,URL…]`: http or https, host and port.
    ///   - user: Who asks; the password is in the file.
    package init(
        endpoints: String, user: String? = nil, passwordFile: String? = nil
    ) throws(EtcdConfigurationProblem) {
        self.endpoints = try endpoints.split(separator: ",").map {
            text throws(EtcdConfigurationProblem) in try Self.endpoint(String(text))
        }
        guard !self.endpoints.isEmpty else {
            throw EtcdConfigurationProblem(description: "no URL is given; write http://HOST:2379")
        }
        guard (user == nil) == (passwordFile == nil) else {
            throw EtcdConfigurationProblem(description: "a user of etcd needs a password file, and that a user")
        }
        (self.user, self.passwordFile) = (user, passwordFile)
        guard user != nil, let open = self.endpoints.first(where: { $0.scheme == "http" && !Self.isLocal($0) }) else {
            return
        }
        throw EtcdConfigurationProblem(
            description:
                "the password would go to \(open.absoluteString) in the clear; use https, or a tunnel on this machine")
    }

    private static func endpoint(_ text: String) throws(EtcdConfigurationProblem) -> URL {
        let text = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard let parts = URLComponents(string: text), ["http", "https"].contains(parts.scheme),
            let host = parts.host, !host.isEmpty, parts.path.isEmpty, parts.query == nil, parts.fragment == nil,
            parts.user == nil, parts.password == nil, let url = parts.url
        else {
            throw EtcdConfigurationProblem(
                description:
                    "\(Quoting.excerpt(text)) is not a member's URL; write http://HOST:2379 or https://HOST:2379")
        }
        return url
    }

    private static func isLocal(_ url: URL) -> Bool {
        guard let host = url.host else { return false }
        return ["localhost", "::1", "[::1]"].contains(host) || host.hasPrefix("127.")
    }

    /// The password as the file has it now, without the end of its line; nil without a user.
    func password() throws(EtcdError) -> String? {
        guard let passwordFile else { return nil }
        let content: (facts: FileFacts, bytes: [UInt8])?
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(passwordFile)
            content = try folder.content(of: name, limit: 4_096, FileRules(forbidden: 0o077))
        } catch {
            throw .unauthenticated("the password file cannot be used: \(error)")
        }
        guard let content else { throw .unauthenticated("the password file \(passwordFile) is missing") }
        return String(decoding: content.bytes, as: UTF8.self).trimmingCharacters(in: .newlines)
    }
}
