// Keeps what a server knows of a token: enough to recognize its holder, too little to act as one.

/// What SCRAM stores (RFC 5802, section 3), under a key id that the token alone leads to.
package struct ScramVerifier: Hashable, Sendable {
    /// Who has the token computes it, so that no name has to be remembered; the way back is as hard as guessing.
    package let id: String
    /// Shows whether a client knows the token.
    package let storedKey: [UInt8]
    /// Shows the client that the server does.
    package let serverKey: [UInt8]

    package init(id: String, storedKey: [UInt8], serverKey: [UInt8]) {
        (self.id, self.storedKey, self.serverKey) = (id, storedKey, serverKey)
    }

    /// That of a token.
    package init(token: String) {
        id = Self.id(of: token)
        let keys = Scram.Keys(token, salt: Array(id.utf8), iterations: Scram.iterations)
        (storedKey, serverKey) = (SHA256.digest(keys.client), keys.server)
    }

    /// 128 bits of HMAC-SHA-256 with the token as key.
    package static func id(of token: String) -> String {
        Base64.encodeForURL(SHA256.code("Key ID".utf8, key: Array(token.utf8)).prefix(16))
    }

    /// That of no token, so that an unknown key id costs the time of a known one.
    package static let nobodys = ScramVerifier(
        id: "", storedKey: Array(repeating: 0, count: SHA256.count), serverKey: Array(repeating: 0, count: SHA256.count)
    )

    // MARK: Text

    /// `scram-sha-256:ID:STOREDKEY:SERVERKEY`, as a token file has it.
    package var text: String {
        [Scram.mechanism, id, Base64.encode(storedKey), Base64.encode(serverKey)].joined(separator: ":")
    }

    package init?(text: String) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 4, parts[0] == Scram.mechanism, parts[1].utf8.count == 22, Base64.isForURL(parts[1]),
            let storedKey = Base64.decode(parts[2]), let serverKey = Base64.decode(parts[3]),
            storedKey.count == SHA256.count, serverKey.count == SHA256.count
        else { return nil }
        self.init(id: String(parts[1]), storedKey: storedKey, serverKey: serverKey)
    }
}
