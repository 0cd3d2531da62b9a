// Speaks SCRAM-SHA-256 (RFC 5802, RFC 7677): both sides show that they know a token, and neither sends it.

package import Tweaks

/// The messages of an exchange, in the order in which they are sent:
///
///     client  n,,n=KEY-ID,r=NONCE
///     server  r=NONCE…,s=SALT,i=1
///     client  c=biws,r=NONCE…,p=PROOF
///     server  v=SIGNATURE
///
/// No channel is bound: there is no TLS here to bind.
package enum Scram {
    /// What it is called on the wire and in token files.
    package static let mechanism = "scram-sha-256"
    /// What the field of a reply is called that has a message of the server.
    package static let field = "scram"
    /// RFC 7677 asks for 4,096 iterations, to slow the guessing of passwords. A token is 256 random bits, which no number
    /// of guesses finds; so one is enough.
    package static let iterations = 1
    /// A longer first message says more than a key id and a nonce.
    static let messageLimit = 512
    /// No client works longer than this for a server that asks for it.
    private static let mostIterations = 4_096
    /// `n,,` in base64: no channel is bound, and the client acts for itself.
    private static let unbound = "biws"

    /// Random letters for one exchange.
    package static func makeNonce() -> String {
        var generator = SystemRandomNumberGenerator()
        return Base64.encodeForURL((0..<18).map { _ in UInt8.random(in: .min ... .max, using: &generator) })
    }

    /// How many letters these are.
    package static let nonceLength = 24

    /// What both sides have in the end.
    private struct Transcript {
        /// Everything that was said, but for proof and signature.
        let bytes: [UInt8]

        init(_ firstBare: String, _ serverFirst: String, _ lastBare: String) {
            bytes = Array("\(firstBare),\(serverFirst),\(lastBare)".utf8)
        }

        /// A key that both sides have and no third, not even a reader of the token file: it takes the client's key. The next
        /// exchange makes another one.
        func sessionKey(_ clientKey: [UInt8]) -> [UInt8] {
            SHA256.code(Array("Session Key".utf8) + bytes, key: clientKey)
        }
    }

    /// The keys that follow from a password and a salt.
    struct Keys {
        let client: [UInt8]
        let server: [UInt8]

        init(_ password: String, salt: [UInt8], iterations: Int) {
            let key = SHA256.stretched(Array(password.utf8), salt: salt, iterations: iterations)
            client = SHA256.code("Client Key".utf8, key: key)
            server = SHA256.code("Server Key".utf8, key: key)
        }
    }

    /// `x=value` attributes of a message; nil where it has others, or others first.
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

    /// One exchange, seen by who has the token.
    package struct Client {
        /// What it sends first.
        package let first: String
        private let password: String
        private let nonce: String
        private var signature: [UInt8]?
        /// A key that both sides have in the end.
        package private(set) var sessionKey: [UInt8] = []

        /// Shows a token.
        package init(token: String) {
            self.init(user: ScramVerifier.id(of: token), password: token, nonce: makeNonce())
        }

        package init(user: String, password: String, nonce: String) {
            (self.password, self.nonce) = (password, nonce)
            first = "n,,n=\(user),r=\(nonce)"
        }

        /// What it answers to the challenge; nil where that is none.
        package mutating func answer(_ challenge: String) -> String? {
            guard let values = attributes(challenge, "rsi"), values[0].hasPrefix(nonce), values[0] != nonce,
                let salt = Base64.decode(values[1]), let iterations = Int(values[2]),
                (1...mostIterations).contains(iterations)
            else { return nil }
            let keys = Keys(password, salt: salt, iterations: iterations)
            let lastBare = "c=\(unbound),r=\(values[0])"
            let transcript = Transcript(String(first.dropFirst(3)), challenge, lastBare)
            let proof = SHA256.xor(keys.client, SHA256.code(transcript.bytes, key: SHA256.digest(keys.client)))
            signature = SHA256.code(transcript.bytes, key: keys.server)
            sessionKey = transcript.sessionKey(keys.client)
            return "\(lastBare),p=\(Base64.encode(proof))"
        }

        /// Whether the server's last message shows that it knows the token.
        package func accepts(_ last: some StringProtocol) -> Bool {
            guard let signature, last.hasPrefix("v="), let shown = Base64.decode(last.dropFirst(2)) else {
                return false
            }
            return SHA256.isEqual(signature, shown)
        }
    }

    // MARK: - The server

    /// One exchange, seen by who keeps verifiers. The challenge is the same whether or not there is one for the key id.
    package struct Server: Equatable, Sendable {
        /// The key id.
        package let user: String
        /// What it answers to the first message.
        package let challenge: String
        private let firstBare: String
        /// What both nonces make.
        package let nonce: String

        /// Takes a client's first message.
        package init(_ first: String, nonce: String = makeNonce()) throws(TweakError) {
            try self.init(first, nonce: nonce, iterations: iterations) { Array($0.utf8) }
        }

        /// The same with another salt. That of a token is its key id, which is as random; so it is known without looking
        /// anything up, and there is nothing to learn from it.
        package init(
            _ first: String, nonce: String, iterations: Int, salt: (_ user: String) -> [UInt8]
        ) throws(TweakError) {
            guard first.utf8.count <= messageLimit, first.hasPrefix("n,,"),
                let values = attributes(first.dropFirst(3), "nr"), !values[0].isEmpty, isNonce(values[1])
            else {
                throw TweakError(.badValue, "auth: \(mechanism) begins with n,,n=KEY-ID,r=NONCE (RFC 5802)")
            }
            (user, self.nonce, firstBare) = (values[0], values[1] + nonce, String(first.dropFirst(3)))
            challenge = "r=\(self.nonce),s=\(Base64.encode(salt(user))),i=\(iterations)"
        }

        /// What the client has shown that it knows the token of a verifier.
        package struct Acceptance: Sendable {
            /// What the server answers.
            package let last: String
            /// A key that both sides have now.
            package let sessionKey: [UInt8]
        }

        /// Looks at the client's last message.
        /// - Returns: Nil where its proof is wrong.
        /// - Throws: What is wrong with its form; that says nothing about the proof.
        package func accept(_ last: String, _ verifier: ScramVerifier) throws(TweakError) -> Acceptance? {
            guard let mark = last.range(ofLast: ",p="), let values = attributes(last, "cr"), values[0] == unbound,
                values[1] == nonce, let proof = Base64.decode(last[mark.upperBound...]), proof.count == SHA256.count
            else {
                throw TweakError(
                    .badValue, "auth: \(mechanism) goes on with c=\(unbound),r=NONCE,p=PROOF for the last challenge")
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
    fileprivate func range(ofLast mark: String) -> Range<Index>? { places(of: mark).last }
}
