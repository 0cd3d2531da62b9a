// The tokens that a server takes: what each gives, and which one somebody has shown.

package import Tweaks

/// A token as it is kept: never itself, only its digest.
package struct TokenEntry: Hashable, Sendable {
    /// What people call it, `[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}`; unique in a table.
    package let name: String
    /// The SHA-256 of the token's text.
    package let digest: [UInt8]
    package let scopes: [TweakScope]
    /// When it ends, in milliseconds since 1970; nil: never.
    package let expires: Int64?
    /// The most commits a second of one session; nil: the server's own limit.
    package let commitsPerSecond: Int?
    /// It was made by this process, and is in no file.
    package let isOwn: Bool

    package init(
        name: String, digest: [UInt8], scopes: [TweakScope], expires: Int64? = nil, commitsPerSecond: Int? = nil,
        isOwn: Bool = false
    ) {
        self.name = name
        self.digest = digest
        self.scopes = scopes
        self.expires = expires
        self.commitsPerSecond = commitsPerSecond
        self.isOwn = isOwn
    }

    /// Whose changes those are that are made with it.
    package var identity: TweakOrigin { TweakOrigin(isOwn ? name : "token \(name)") }

    /// Whether it is of use at a time, in milliseconds since 1970.
    package func isLive(_ time: Int64) -> Bool { expires.map { time < $0 } ?? true }
}

/// All tokens of a server; immutable: a file that is read again makes another one.
package struct TokenTable: Equatable, Sendable {
    package let entries: [TokenEntry]

    package init(_ entries: [TokenEntry] = []) { self.entries = entries }

    /// The entry with this name.
    package subscript(name: String) -> TokenEntry? { entries.first { $0.name == name } }

    /// The entry of a token that somebody shows, expired or not. How long that takes does not depend on how much of a
    /// digest is right, nor on which one it is.
    package func entry(for token: String) -> TokenEntry? {
        let digest = SHA256.digest(token.utf8)
        var found: TokenEntry?
        for entry in entries where Self.isEqual(entry.digest, digest) { found = entry }
        return found
    }

    private static func isEqual(_ left: [UInt8], _ right: [UInt8]) -> Bool {
        guard left.count == right.count else { return false }
        return zip(left, right).reduce(UInt8(0)) { $0 | ($1.0 ^ $1.1) } == 0
    }
}
