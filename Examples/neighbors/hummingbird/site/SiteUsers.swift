// Authenticates users of the site by HTTP Basic, from a table in the environment.

import Foundation
import Hummingbird
import TweaksPanel
import Tweaks

/// The users who may see the panel. Their passwords are as long as tokens, and cross the network: a proxy in front of the
/// service has TLS.
public struct SiteUsers: Sendable {
    /// What is wrong with a table.
    public struct Problem: Error, CustomStringConvertible {
        /// The entry by its number, as it has a password in it, and the remedy.
        public let description: String
    }

    private let callers: [String: (password: [UInt8], caller: TweakPanelCaller)]

    /// Reads a table: `ada:PASSWORD:admin bob:PASSWORD:read,write:HTTP`.
    public init(_ table: String) throws {
        var callers: [String: (password: [UInt8], caller: TweakPanelCaller)] = [:]
        for (index, entry) in table.split(whereSeparator: \.isWhitespace).enumerated() {
            let parts = entry.split(separator: ":", maxSplits: 2).map(String.init)
            guard parts.count == 3, parts[1].utf8.count >= 20 else {
                throw Problem(
                    description: "user \(index + 1): write NAME:PASSWORD:SCOPES, with a password of 20 bytes or more")
            }
            let scopes = try parts[2].split(separator: ",").map { try TweakScope(String($0)) }
            callers[parts[0]] = (Array(parts[1].utf8), TweakPanelCaller(name: parts[0], scopes: scopes))
        }
        self.callers = callers
    }

    /// The user that has sent a request; nil if it has no credentials, or wrong ones.
    func caller(of request: Request) -> TweakPanelCaller? {
        guard let header = request.headers[.authorization], header.lowercased().hasPrefix("basic "),
            let data = Data(base64Encoded: String(header.dropFirst(6))), let colon = data.firstIndex(of: 0x3A),
            let user = callers[String(decoding: data[..<colon], as: UTF8.self)]
        else { return nil }
        return Self.isSame(Array(data[(colon + 1)...]), user.password) ? user.caller : nil
    }

    /// Compares all bytes: the time tells nothing but the length.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        one.count == other.count && zip(one, other).reduce(0) { $0 | $1.0 ^ $1.1 } == 0
    }
}
