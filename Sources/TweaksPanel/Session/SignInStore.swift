// Stores the browser sign-ins of a panel, and creates and verifies challenges and page keys.

import Synchronization
package import Tweaks
import TweaksSystem
package import TweaksWire

/// A browser that has proved knowledge of a token and shares a key with the server since.
package struct SignIn: Hashable, Sendable {
    /// The value of its cookie. Browsers send cookies to every port of a host, so it is useless without the key.
    package let id: String
    /// The key id of the token.
    package let keyID: String
    /// The key that both sides derive by SCRAM. It is never sent, and no script can read it in the browser, which stores
    /// it: a page that is loaded proves the sign-in with it.
    package let key: [UInt8]
    /// The time of the sign-in, in milliseconds since 1970.
    package let since: Int64
    /// The origin of its pages; it is valid nowhere else.
    package let origin: String
    /// The key of pages that are open, which keep it only in memory: they prove the sign-in with it, also after a restart
    /// at another address. It is sent enciphered, and a page that is loaded there later cannot get it.
    package let openKey: [UInt8]

    /// The two keys of a sign-in.
    package enum Key: String, Sendable {
        /// ``SignIn/key``.
        case browser
        /// ``SignIn/openKey``.
        case page
    }

    package init(
        id: String, keyID: String, key: [UInt8], since: Int64, origin: String = PanelPlace.programsOrigin,
        openKey: [UInt8] = SHA256.digest((Scram.makeNonce() + Scram.makeNonce()).utf8)
    ) {
        self.id = id
        self.keyID = keyID
        self.key = key
        self.since = since
        self.origin = origin
        self.openKey = openKey
    }

    /// The line of the sign-in file, which only its owner can read.
    package var line: String {
        "\(id) \(keyID) \(Base64.encode(key)) \(since) \(origin) \(Base64.encode(openKey))"
    }

    /// A line of an earlier version, without an origin, is of an address that has no page any more.
    package init?(line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard words.count == 6, Base64.isForURL(words[0]), Base64.isForURL(words[1]), let key = Base64.decode(words[2]),
            key.count == SHA256.count, let since = Int64(words[3]), since >= 0, let openKey = Base64.decode(words[5]),
            openKey.count == SHA256.count
        else { return nil }
        self.init(
            id: String(words[0]), keyID: String(words[1]), key: key, since: since, origin: String(words[4]),
            openKey: openKey)
    }

    /// One of its keys.
    func key(_ name: Key) -> [UInt8] { name == .browser ? key : openKey }

    /// The key of open pages, enciphered for a page that has proven the browser's key.
    /// - Parameter exchange: A text that was made for this proof, which a later user of the browser's key does not know.
    package func sealedOpenKey(_ exchange: String) -> [UInt8] {
        SHA256.xor(openKey, SHA256.code("Open Key,\(exchange)".utf8, key: key))
    }
}

/// The sign-ins of one panel. They are added and removed on the I/O thread.
package final class SignInStore: Sendable {
    /// The lifetime of a sign-in, in milliseconds: 30 days.
    package static let lifetime: Int64 = 30 * 86_400_000
    /// The number of sign-ins per token; a new one then replaces the oldest.
    package static let limitPerToken = 32
    /// The number of sign-ins of all tokens; a new one then replaces the oldest.
    static let limit = 4_096
    /// The time in which a challenge can be answered, in seconds.
    private static let challengeTimeout = 60
    /// The number of answered challenges that are remembered, the newest.
    private static let answeredLimit = 4_096
    /// The lifetime of a page's key; the page then answers a new challenge.
    package static let pageKeyLifetime: Duration = .seconds(3_600)

    private struct State {
        var signIns: [String: SignIn] = [:]
        /// The answered challenges with their times, oldest first.
        var answered: [(nonce: String, at: Int)] = []
        var onChange: (@Sendable ([SignIn]) -> Void)?
    }

    private let state = Mutex(State())
    private let wallClock: @Sendable () -> Int64
    private let clock: @Sendable () -> Moment
    /// The key that authenticates challenges and page keys, which therefore end with the process.
    private let secret = SHA256.digest((Scram.makeNonce() + Scram.makeNonce()).utf8)
    private let start: Moment

    package init(
        wallClock: @escaping @Sendable () -> Int64 = { ThisProcess.wallClock },
        clock: @escaping @Sendable () -> Moment = { .now }
    ) {
        self.wallClock = wallClock
        self.clock = clock
        start = clock()
    }

    /// Restores the sign-ins of an earlier run, and reports changes from now on.
    /// - Parameter onChange: Called on the I/O thread with all sign-ins, in no order.
    package func restore(_ earlier: [SignIn], onChange: @escaping @Sendable ([SignIn]) -> Void) {
        state.withLock { state in
            for signIn in earlier { state.signIns[signIn.id] = signIn }
            state.onChange = onChange
        }
    }

    // MARK: Challenges

    /// Begins a SCRAM exchange, and returns the server's first message.
    package func begin(_ first: String) throws(TweakError) -> String {
        try Scram.Server(first, nonce: sealed(first)).challenge
    }

    /// The SCRAM exchange that a client's last message belongs to; returned only once.
    package func exchange(of last: String) -> Scram.Server? {
        guard let nonce = Scram.nonce(of: last), let own = Self.serverPart(of: nonce), let first = open(own),
            let exchange = try? Scram.Server(first, nonce: own), exchange.nonce == nonce, markAnswered(own)
        else { return nil }
        return exchange
    }

    /// The server's part of a nonce. The client's part precedes it, and may be any text.
    private static func serverPart(of nonce: String) -> String? {
        let parts = nonce.split(separator: ".", omittingEmptySubsequences: false).suffix(parts)
        guard parts.count == Self.parts, let random = parts.first else { return nil }
        return ([random.suffix(Scram.nonceLength)] + parts.dropFirst()).joined(separator: ".")
    }

    /// A challenge for a program that is signed in.
    package func challenge() -> String { sealed("") }

    /// A challenge for a page, and the proof that this server knows a key of the sign-in, too. Nil if it does not.
    package func prove(_ name: SignIn.Key, of id: String, nonce: String) -> (challenge: String, proof: [UInt8])? {
        guard let signIn = self[id] else { return nil }
        let challenge = sealed("\(name.rawValue) \(nonce)")
        return (challenge, SHA256.code("Server Proof,\(nonce),\(challenge)".utf8, key: signIn.key(name)))
    }

    /// The sign-in that has answered a challenge correctly, and the key that it was answered with; each challenge can be
    /// answered once.
    package func signIn(_ id: String, answering challenge: String, _ answer: [UInt8]) -> (SignIn, SignIn.Key)? {
        guard let content = open(challenge), let signIn = self[id] else { return nil }
        let words = content.split(separator: " ").map(String.init)
        let name = words.isEmpty ? .browser : SignIn.Key(rawValue: words[0])
        guard let name, words.isEmpty || words.count == 2 else { return nil }
        let signed = words.isEmpty ? challenge : "Client Proof,\(words[1]),\(challenge)"
        guard SHA256.isEqual(SHA256.code(signed.utf8, key: signIn.key(name)), answer), markAnswered(challenge) else {
            return nil
        }
        return (signIn, name)
    }

    /// The number of parts of a challenge.
    private static let parts = 4

    /// A nonce with its content, its time and an authentication code. The server stores no open challenges, so that a
    /// flood of them displaces none.
    private func sealed(_ content: String) -> String {
        let text = "\(Scram.makeNonce()).\(uptime).\(Base64.encode(content.utf8))"
        return "\(text).\(code("challenge \(text)"))"
    }

    /// The content of a nonce of this process; nil for other nonces and for expired ones.
    private func open(_ nonce: String) -> String? {
        guard let end = nonce.lastIndex(of: "."),
            SHA256.isEqual(
                Array(code("challenge \(nonce[..<end])").utf8), Array(nonce[nonce.index(after: end)...].utf8)),
            case let parts = nonce.split(separator: ".", omittingEmptySubsequences: false), parts.count == Self.parts,
            let asked = Int(parts[1]), uptime - asked < Self.challengeTimeout, let content = Base64.decode(parts[2])
        else { return nil }
        return String(decoding: content, as: UTF8.self)
    }

    /// Records that a challenge was answered.
    /// - Returns: False if it had been answered before.
    private func markAnswered(_ nonce: String) -> Bool {
        let now = uptime
        return state.withLock { state in
            if state.answered.contains(where: { $0.nonce == nonce }) { return false }
            let old = state.answered.prefix { now - $0.at >= Self.challengeTimeout }.count
            state.answered.removeFirst(max(old, state.answered.count - Self.answeredLimit + 1))
            state.answered.append((nonce, now))
            return true
        }
    }

    /// The age of this store, in seconds.
    private var uptime: Int { Int((clock() - start) / .seconds(1)) }

    // MARK: Sign-ins

    /// Adds the sign-in of a browser.
    package func add(keyID: String, key: [UInt8], origin: String = PanelPlace.programsOrigin) -> SignIn {
        let signIn = SignIn(id: Scram.makeNonce(), keyID: keyID, key: key, since: wallClock(), origin: origin)
        change { signIns in
            signIns = signIns.filter { isLive($0.value) }
            let own = signIns.values.filter { $0.keyID == keyID }
            let isFull = own.count >= Self.limitPerToken || signIns.count >= Self.limit
            let candidates = own.count >= Self.limitPerToken ? own : Array(signIns.values)
            if isFull, let oldest = candidates.min(by: { $0.since < $1.since }) { signIns[oldest.id] = nil }
            signIns[signIn.id] = signIn
        }
        return signIn
    }

    /// Removes all sign-ins with a token.
    package func removeAll(keyID: String) { change { signIns in signIns = signIns.filter { $0.value.keyID != keyID } } }

    /// Removes a sign-in.
    package func remove(_ id: String) { change { $0[id] = nil } }

    /// The sign-in with an ID, if it has not ended.
    package subscript(id: String) -> SignIn? {
        state.withLock { $0.signIns[id] }.flatMap { isLive($0) ? $0 : nil }
    }

    private func isLive(_ signIn: SignIn) -> Bool {
        (0..<Self.lifetime).contains(wallClock() - signIn.since)
    }

    private func change(_ body: (inout [String: SignIn]) -> Void) {
        let notify = state.withLock { state -> (() -> Void)? in
            let before = state.signIns
            body(&state.signIns)
            guard before != state.signIns, let onChange = state.onChange else { return nil }
            let all = Array(state.signIns.values)
            return { onChange(all) }
        }
        notify?()
    }

    // MARK: Page keys

    /// The key that a page sends beside its cookie; valid for an hour, or until the process ends.
    package func pageKey(_ signIn: SignIn) -> String {
        let end = uptime + Int(Self.pageKeyLifetime / .seconds(1))
        return "\(end).\(code("page \(end).\(signIn.id)"))"
    }

    /// The sign-in of a page, if it has not ended and the key belongs to it.
    package func signIn(_ id: String, pageKey: String) -> SignIn? {
        let parts = pageKey.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = Int(parts[0]), uptime < end,
            SHA256.isEqual(Array(code("page \(end).\(id)").utf8), Array(parts[1].utf8))
        else { return nil }
        return self[id]
    }

    private func code(_ text: String) -> String { Base64.encodeForURL(SHA256.code(text.utf8, key: secret)) }
}
