// Implements SCRAM-SHA-256 (RFC 5802, RFC 7677): both sides prove that they know a token, and neither sends it.

package import Tweaks

/// The messages of an exchange, in their order:
///
///     client  n,,n=KEY-ID,r=NONCE
///     server  r=NONCE…,s=SALT,i=1
///     client  c=biws,r=NONCE…,p=PROOF
///     server  v=SIGNATURE
///
/// There is no channel binding, since there is no TLS.
package enum Scram {
    /// Its name on the wire and in token files.
    package static let mechanism = "scram-sha-256"
    /// The field of a reply that holds a message of the server.
    package static let field = "scram"
    /// RFC 7677 requires 4,096 iterations, to slow down the guessing of passwords. A token has 256 random bits, which
    /// cannot be guessed, so 1 is enough.
    package static let iterations = 1
    /// The maximum bytes of a first message, which holds only a key id and a nonce.
    static let messageLimit = 512
    /// The most iterations that a client computes at a server's request.
    private static let iterationLimit = 4_096
    /// `n,,` in base64: no channel binding, no authorization identity.
    private static let unbound = "biws"

    /// Random letters for one exchange.
    package static func makeNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64.encodeForURL((0..<18).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// The number of letters of a nonce.
    package static let nonceLength = 24

    /// The messages that both sides sign.
    private struct Transcript {
        /// All messages, without proof and signature.
        let bytes: [UInt8]

        init(_ firstBare: String, _ serverFirst: String, _ lastBare: String) {
            bytes = Array("\(firstBare),\(serverFirst),\(lastBare)".utf8)
        }

        /// A key that only the two sides know, not even a reader of the token file, who lacks the client's key. Each
        /// exchange has another one.
        func sessionKey(_ clientKey: [UInt8]) -> [UInt8] {
            SHA256.code(Array("Session Key".utf8) + bytes, key: clientKey)
        }
    }

    /// The keys derived from a password and a salt.
    struct Keys {
        let client: [UInt8]
        let server: [UInt8]

        init(_ password: String, salt: [UInt8], iterations: Int) {
            let key = SHA256.stretched(Array(password.utf8), salt: salt, iterations: iterations)
            client = SHA256.code("Client Key".utf8, key: key)
            server = SHA256.code("Server Key".utf8, key: key)
        }
    }

    /// The values of a message's first `x=value` attributes; nil unless their names are `names`.
    private static func attributes(_ text: some StringProtocol, _ names: String) -> [String]? {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        guard parts.count >= names.count else { return nil }
        var values: [String] = []
        for (name, part) in zip(names, parts) {
            guard part.hasPrefix("\(name)=") else { return nil }
            values.append(String(part.dropFirst(2)))
        }
        return values
    }

    private static func isNonce(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != UInt8(ascii: ",") }
    }

    /// The nonce of a client's last message.
    package static func nonce(of last: String) -> String? { attributes(last, "cr")?[1] }

    // MARK: - The client

    /// The client's side of one exchange.
    package struct Client {
        /// The client's first message.
        package let first: String
        private let password: String
        private let nonce: String
        private var signature: [UInt8]?
        /// The key that both sides have after the exchange.
        package private(set) var sessionKey: [UInt8] = []

        /// Begins an exchange that proves a token.
        package init(token: String) {
            self.init(user: ScramVerifier.id(of: token), password: token, nonce: makeNonce())
        }

        package init(user: String, password: String, nonce: String) {
            self.password = password
            self.nonce = nonce
            first = "n,,n=\(user),r=\(nonce)"
        }

        /// The reply to the challenge; nil where the challenge is invalid.
        package mutating func answer(_ challenge: String) -> String? {
            guard let values = attributes(challenge, "rsi"), values[0].hasPrefix(nonce), values[0] != nonce,
                let salt = Base64.decode(values[1]), let iterations = Int(values[2]),
                (1...iterationLimit).contains(iterations)
            else { return nil }
            let keys = Keys(password, salt: salt, iterations: iterations)
            let lastBare = "c=\(unbound),r=\(values[0])"
            let transcript = Transcript(String(first.dropFirst(3)), challenge, lastBare)
            let proof = SHA256.xor(keys.client, SHA256.code(transcript.bytes, key: SHA256.digest(keys.client)))
            signature = SHA256.code(transcript.bytes, key: keys.server)
            sessionKey = transcript.sessionKey(keys.client)
            return "\(lastBare),p=\(Base64.encode(proof))"
        }

        /// Whether the server's last message proves that it knows the token.
        package func accepts(_ last: some StringProtocol) -> Bool {
            guard let signature, last.hasPrefix("v="), let shown = Base64.decode(last.dropFirst(2)) else {
                return false
            }
            return SHA256.isEqual(signature, shown)
        }
    }

    // MARK: - The server

    /// The server's side of one exchange. The challenge does not reveal whether the key id has a verifier.
    package struct Server: Equatable, Sendable {
        /// The key id.
        package let user: String
        /// The reply to the first message.
        package let challenge: String
        private let firstBare: String
        /// The client's and the server's nonce, joined.
        package let nonce: String

        /// Parses a client's first message.
        package init(_ first: String, nonce: String = makeNonce()) throws(TweakError) {
            try self.init(first, nonce: nonce, iterations: iterations) { Array($0.utf8) }
        }

        /// The same with another salt. A token's salt is its key id, which is as random: it needs no lookup and reveals
        /// nothing.
        package init(
            _ first: String, nonce: String, iterations: Int, salt: (_ user: String) -> [UInt8]
        ) throws(TweakError) {
            guard first.utf8.count <= messageLimit, first.hasPrefix("n,,"),
                let values = attributes(first.dropFirst(3), "nr"), !values[0].isEmpty, isNonce(values[1])
            else {
                throw TweakError(.badValue, "auth: \(mechanism) begins with n,,n=KEY-ID,r=NONCE (RFC 5802)")
            }
            user = values[0]
            self.nonce = values[1] + nonce
            firstBare = String(first.dropFirst(3))
            challenge = "r=\(self.nonce),s=\(Base64.encode(salt(user))),i=\(iterations)"
        }

        /// The result of a valid proof.
        package struct Acceptance: Sendable {
            /// The server's last message.
            package let last: String
            /// The key that both sides have after the exchange.
            package let sessionKey: [UInt8]
        }

        /// Verifies the client's last message.
        /// - Returns: Nil where its proof is wrong.
        /// - Throws: `badValue` where its form is invalid, whether or not the proof is right.
        package func accept(_ last: String, _ verifier: ScramVerifier) throws(TweakError) -> Acceptance? {
            guard let mark = last.range(ofLast: ",p="), let values = attributes(last, "cr"), values[0] == unbound,
                values[1] == nonce, let proof = Base64.decode(last[mark.upperBound...]), proof.count == SHA256.count
            else {
                throw TweakError(
                    .badValue, "auth: \(mechanism) continues with c=\(unbound),r=NONCE,p=PROOF for the last challenge")
            }
            let transcript = Transcript(firstBare, challenge, String(last[..<mark.lowerBound]))
            let clientKey = SHA256.xor(proof, SHA256.code(transcript.bytes, key: verifier.storedKey))
            guard SHA256.isEqual(SHA256.digest(clientKey), verifier.storedKey) else { return nil }
            let signature = SHA256.code(transcript.bytes, key: verifier.serverKey)
            return Acceptance(
                last: "v=\(Base64.encode(signature))", sessionKey: transcript.sessionKey(clientKey))
        }
    }
}

extension String {
    fileprivate func range(ofLast mark: String) -> Range<Index>? { occurrences(of: mark).last }
}

/// The keys that SCRAM stores (RFC 5802, section 3), under a key id that is computed from the token.
package struct ScramVerifier: Hashable, Sendable {
    /// The key id. It is computed from the token, so a client needs no user name; it does not reveal the token.
    package let id: String
    /// Verifies that a client knows the token.
    package let storedKey: [UInt8]
    /// Proves to the client that the server knows it.
    package let serverKey: [UInt8]

    package init(id: String, storedKey: [UInt8], serverKey: [UInt8]) {
        self.id = id
        self.storedKey = storedKey
        self.serverKey = serverKey
    }

    /// Computes the verifier of a token.
    package init(token: String) {
        id = Self.id(of: token)
        let keys = Scram.Keys(token, salt: Array(id.utf8), iterations: Scram.iterations)
        storedKey = SHA256.digest(keys.client)
        serverKey = keys.server
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
