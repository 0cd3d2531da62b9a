// Stores a server's verifier of a token: it recognizes a holder of the token, but cannot act as one.

/// The keys that SCRAM stores (RFC 5802, section 3), under a key id that is computed from the token.
package struct ScramVerifier: Hashable, Sendable {
    /// The key id. It is computed from the token, so a client needs no user name; it does not reveal the token.
    package let id: String
    /// Verifies that a client knows the token.
    package let storedKey: [UInt8]
    /// Proves to the client that the server knows it.
    package let serverKey: [UInt8]

    package init(id: String, storedKey: [UInt8], serverKey: [UInt8]) {
        (self.id, self.storedKey, self.serverKey) = (id, storedKey, serverKey)
    }

    /// Computes the verifier of a token.
    package init(token: String) {
        id = Self.id(of: token)
        let keys = Scram.Keys(token, salt: Array(id.utf8), iterations: Scram.iterations)
        (storedKey, serverKey) = (SHA256.digest(keys.client), keys.server)
    }

    /// 128 bits of HMAC-SHA-256 with the token as key.
    package static func id(of token: String) -> String {
        Base64.encodeForURL(SHA256.code("Key ID".utf8, key: Array(token.utf8)).prefix(16))
    }

    /// A verifier of no token, so that an unknown key id takes as long as a known one.
    package static let decoy = ScramVerifier(
        id: "", storedKey: Array(repeating: 0, count: SHA256.count), serverKey: Array(repeating: 0, count: SHA256.count)
    )

    // MARK: Text

    /// `scram-sha-256:ID:STOREDKEY:SERVERKEY`, as in a token file.
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
