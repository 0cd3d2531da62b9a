// Defines tokens, and the table of those that a server accepts.

package import Tweaks

/// An accepted token: its verifier, never its text.
package struct TokenEntry: Hashable, Sendable {
    /// The token's name, `[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}`; unique in a table.
    package let name: String
    package let verifier: Verifier
    package let scopes: [TweakScope]
    /// The expiry in milliseconds since 1970; nil: never.
    package let expires: Int64?
    /// The most commits a second of one session; nil: the server's own limit.
    package let commitsPerSecond: Int?
    /// Whether this process generated it; then it is in no file.
    package let isOwn: Bool

    /// The data that verifies the token.
    package enum Verifier: Hashable, Sendable {
        /// The SHA-256 of its text, as in older lines. Such a token can only be sent in plain.
        case sha256([UInt8])
        case scram(ScramVerifier)
    }

    package init(
        name: String, verifier: Verifier, scopes: [TweakScope], expires: Int64? = nil, commitsPerSecond: Int? = nil,
        isOwn: Bool = false
    ) {
        self.name = name
        self.verifier = verifier
        self.scopes = scopes
        self.expires = expires
        self.commitsPerSecond = commitsPerSecond
        self.isOwn = isOwn
    }

    /// Creates the entry of a token.
    package init(
        name: String, token: String, scopes: [TweakScope], expires: Int64? = nil, commitsPerSecond: Int? = nil,
        isOwn: Bool = false
    ) {
        self.init(
            name: name, verifier: .scram(ScramVerifier(token: token)), scopes: scopes, expires: expires,
            commitsPerSecond: commitsPerSecond, isOwn: isOwn)
    }

    /// The SCRAM verifier; nil for an older line.
    package var scram: ScramVerifier? { if case .scram(let verifier) = verifier { verifier } else { nil } }

    /// A digest that identifies the token: entries with equal digests are of the same token.
    package var digest: [UInt8] {
        switch verifier {
        case .sha256(let digest): digest
        case .scram(let verifier): verifier.storedKey
        }
    }

    /// The origin of changes made with it.
    package var identity: TweakOrigin { TweakOrigin(isOwn ? name : "token \(name)") }

    /// Whether it is not expired at a time, in milliseconds since 1970.
    package func isLive(_ time: Int64) -> Bool { expires.map { time < $0 } ?? true }
}

/// All tokens of a server; immutable: a reload of the file creates another table.
package struct TokenTable: Equatable, Sendable {
    package let entries: [TokenEntry]
    /// Whether tokens sent in plain are refused: `plain-auth off`.
    package let refusesPlain: Bool

    package init(_ entries: [TokenEntry] = [], refusesPlain: Bool = false) {
        self.entries = entries
        self.refusesPlain = refusesPlain
    }

    /// The same with more tokens.
    package func adding(_ more: [TokenEntry]) -> TokenTable {
        TokenTable(entries + more, refusesPlain: refusesPlain)
    }

    /// The same with `own` in place of the tokens that this process generated.
    package func replacingOwn(_ own: [TokenEntry]) -> TokenTable {
        TokenTable(entries.filter { !$0.isOwn } + own, refusesPlain: refusesPlain)
    }

    /// The entry with this name.
    package subscript(name: String) -> TokenEntry? { entries.first { $0.name == name } }

    /// The entry of a token, expired or not, in a time that does not depend on how much of a digest matches, nor on
    /// which entry it is.
    package func entry(for token: String) -> TokenEntry? {
        let (digest, verifier) = (SHA256.digest(token.utf8), ScramVerifier(token: token))
        var found: TokenEntry?
        for entry in entries {
            let shown = entry.scram == nil ? digest : verifier.storedKey
            if SHA256.isEqual(entry.digest, shown) { found = entry }
        }
        return found
    }

    /// The entry of a key id, expired or not; nil where there is none, after the same time.
    package func entry(id: String) -> TokenEntry? {
        var found: TokenEntry?
        for entry in entries where SHA256.isEqual(Array((entry.scram?.id ?? "").utf8), Array(id.utf8)) {
            found = entry
        }
        return id.isEmpty ? nil : found
    }
}

/// The text of a token. Only its holder keeps it; servers keep a verifier.
package enum TokenSecret {
    /// The prefix by which readers and secret scanners recognize a token.
    package static let prefix = "twk_"
    /// The number of characters after the prefix: 256 bits in base64url, without padding.
    package static let count = 43

    /// Generates a token.
    package static func make() -> String {
        var generator = SystemRandomNumberGenerator()
        return make(using: &generator)
    }

    /// Generates a token with the given generator.
    package static func make(using generator: inout some RandomNumberGenerator) -> String {
        let bytes = (0..<SHA256.count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        return prefix + Base64.encodeForURL(bytes)
    }

    /// Its SHA-256.
    package static func digest(of token: String) -> [UInt8] { SHA256.digest(token.utf8) }

    /// Whether a text has the form of a token; detects a truncated one without asking a server.
    package static func isWellFormed(_ text: String) -> Bool {
        let rest = text.utf8.dropFirst(prefix.utf8.count)
        return text.utf8.starts(with: prefix.utf8) && rest.count == count
            && Base64.isForURL(String(decoding: Array(rest), as: UTF8.self))
    }
}
