// The tokens that a server takes: what each gives, and which one somebody has shown.

package import Tweaks

/// A token as it is kept: never itself, only its digest.
package struct TokenEntry: Hashable, Sendable {
    /// What people call it, `[A-Za-z0-9_-][A-Za-z0-9._-]{0,63}`; unique in a table.
    package let name: String
    package let verifier: Verifier
    package let scopes: [TweakScope]
    /// When it ends, in milliseconds since 1970; nil: never.
    package let expires: Int64?
    /// The most commits a second of one session; nil: the server's own limit.
    package let commitsPerSecond: Int?
    /// It was made by this process, and is in no file.
    package let isOwn: Bool

    /// What is kept instead of the token.
    package enum Verifier: Hashable, Sendable {
        /// The SHA-256 of its text, as older lines have it. It can only be shown in plain.
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

    /// That of a token.
    package init(
        name: String, token: String, scopes: [TweakScope], expires: Int64? = nil, commitsPerSecond: Int? = nil,
        isOwn: Bool = false
    ) {
        self.init(
            name: name, verifier: .scram(ScramVerifier(token: token)), scopes: scopes, expires: expires,
            commitsPerSecond: commitsPerSecond, isOwn: isOwn)
    }

    /// What SCRAM needs; nil for an older line.
    package var scram: ScramVerifier? { if case .scram(let verifier) = verifier { verifier } else { nil } }

    /// A digest that is the token's own: two entries with the same one are for the same token.
    package var digest: [UInt8] {
        switch verifier {
        case .sha256(let digest): digest
        case .scram(let verifier): verifier.storedKey
        }
    }

    /// Whose changes those are that are made with it.
    package var identity: TweakOrigin { TweakOrigin(isOwn ? name : "token \(name)") }

    /// Whether it is of use at a time, in milliseconds since 1970.
    package func isLive(_ time: Int64) -> Bool { expires.map { time < $0 } ?? true }
}

/// All tokens of a server; immutable: a file that is read again makes another one.
package struct TokenTable: Equatable, Sendable {
    package let entries: [TokenEntry]
    /// No token is taken that is shown in plain: `plain-auth off`.
    package let refusesPlain: Bool

    package init(_ entries: [TokenEntry] = [], refusesPlain: Bool = false) {
        (self.entries, self.refusesPlain) = (entries, refusesPlain)
    }

    /// The same with more tokens.
    package func adding(_ more: [TokenEntry]) -> TokenTable {
        TokenTable(entries + more, refusesPlain: refusesPlain)
    }

    /// The same with others in the place of those that this process has made.
    package func replacingOwn(_ own: [TokenEntry]) -> TokenTable {
        TokenTable(entries.filter { !$0.isOwn } + own, refusesPlain: refusesPlain)
    }

    /// The entry with this name.
    package subscript(name: String) -> TokenEntry? { entries.first { $0.name == name } }

    /// The entry of a token that is shown, expired or not. How long that takes does not depend on how much of a digest is
    /// right, nor on which one it is.
    package func entry(for token: String) -> TokenEntry? {
        let (digest, verifier) = (SHA256.digest(token.utf8), ScramVerifier(token: token))
        var found: TokenEntry?
        for entry in entries {
            let shown = entry.scram == nil ? digest : verifier.storedKey
            if SHA256.isEqual(entry.digest, shown) { found = entry }
        }
        return found
    }

    /// The entry of a key id, expired or not; nil where there is none, which takes the same time.
    package func entry(id: String) -> TokenEntry? {
        var found: TokenEntry?
        for entry in entries where SHA256.isEqual(Array((entry.scram?.id ?? "").utf8), Array(id.utf8)) {
            found = entry
        }
        return id.isEmpty ? nil : found
    }
}
