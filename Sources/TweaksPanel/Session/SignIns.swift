// Keeps the browsers that are signed in to a panel, and makes the challenges by which they show that they are.

import Synchronization
package import Tweaks
import TweaksSystem
package import TweaksWire

/// A browser that has shown once that it knows a token, and has had a key of its own since.
package struct SignIn: Hashable, Sendable {
    /// What its cookie says, which browsers show to every port of a host; so it is of no use without the key.
    package let id: String
    /// The key id of the token.
    package let keyID: String
    /// What both sides have from SCRAM. It is never sent, and no script can read it in the browser.
    package let key: [UInt8]
    /// When that was, in milliseconds since 1970.
    package let since: Int64

    package init(id: String, keyID: String, key: [UInt8], since: Int64) {
        (self.id, self.keyID, self.key, self.since) = (id, keyID, key, since)
    }

    /// A line of a file that its owner alone can read.
    package var line: String { "\(id) \(keyID) \(Base64.encode(key)) \(since)" }

    package init?(line: some StringProtocol) {
        let words = line.split(separator: " ")
        guard words.count == 4, Base64.isForURL(words[0]), Base64.isForURL(words[1]), let key = Base64.decode(words[2]),
            key.count == SHA256.count, let since = Int64(words[3]), since >= 0
        else { return nil }
        self.init(id: String(words[0]), keyID: String(words[1]), key: key, since: since)
    }
}

/// The sign-ins of one panel. They are made and ended on the I/O thread.
package final class SignIns: Sendable {
    /// A browser signs in again after 30 days.
    package static let longest: Int64 = 30 * 86_400_000
    /// A token's oldest sign-in yields to a new one beyond these.
    package static let mostOfToken = 32
    /// So does the oldest of all, beyond these.
    static let most = 4_096
    /// So many seconds a challenge may be answered.
    private static let patience = 60
    /// So many that were answered in that time are remembered, the newest.
    private static let mostAnswered = 4_096
    /// How long a page shows one key; then it answers another question.
    package static let pageTime: Duration = .seconds(3_600)

    private struct State {
        var signIns: [String: SignIn] = [:]
        /// The challenges that were answered, oldest first, and when.
        var answered: [(nonce: String, at: Int)] = []
        var onChange: (@Sendable ([SignIn]) -> Void)?
    }

    private let state = Mutex(State())
    private let wallClock: @Sendable () -> Int64
    private let clock: @Sendable () -> ContinuousClock.Instant
    /// Challenges and keys of pages are sealed with it, so they end with the process.
    private let secret = SHA256.digest((Scram.makeNonce() + Scram.makeNonce()).utf8)
    private let start: ContinuousClock.Instant

    package init(
        wallClock: @escaping @Sendable () -> Int64 = { ThisProcess.wallClock },
        clock: @escaping @Sendable () -> ContinuousClock.Instant = { .now }
    ) {
        (self.wallClock, self.clock, start) = (wallClock, clock, clock())
    }

    /// Takes up those of an earlier run, and tells of changes from now on.
    /// - Parameter onChange: Is called with all of them, in no order, on the I/O thread.
    package func follow(_ earlier: [SignIn], onChange: @escaping @Sendable ([SignIn]) -> Void) {
        state.withLock { state in
            for signIn in earlier { state.signIns[signIn.id] = signIn }
            state.onChange = onChange
        }
    }

    // MARK: Challenges

    /// Begins to look at a token.
    package func begin(_ first: String) throws(TweakError) -> String {
        try Scram.Server(first, nonce: sealed(first)).challenge
    }

    /// The exchange that a client's last message belongs to. It is of use once.
    package func exchange(of last: String) -> Scram.Server? {
        guard let nonce = Scram.nonce(of: last), let own = Self.serverPart(of: nonce), let first = open(own),
            let exchange = try? Scram.Server(first, nonce: own), exchange.nonce == nonce, spend(own)
        else { return nil }
        return exchange
    }

    /// The server's part of a nonce. The client's part comes first, and may be anything.
    private static func serverPart(of nonce: String) -> String? {
        let parts = nonce.split(separator: ".", omittingEmptySubsequences: false).suffix(parts)
        guard parts.count == Self.parts, let random = parts.first else { return nil }
        return ([random.suffix(Scram.nonceLength)] + parts.dropFirst()).joined(separator: ".")
    }

    /// A challenge to a browser that is signed in.
    package func challenge() -> String { sealed("") }

    /// The sign-in that has answered a challenge rightly. A challenge is answered once.
    package func signIn(_ id: String, answering challenge: String, _ answer: [UInt8]) -> SignIn? {
        guard open(challenge) == "", let signIn = self[id],
            SHA256.isEqual(SHA256.code(challenge.utf8, key: signIn.key), answer), spend(challenge)
        else { return nil }
        return signIn
    }

    /// How many parts a challenge has.
    private static let parts = 4

    /// A nonce that carries its content and its time, sealed. An open challenge takes no memory, so that a flood of them
    /// pushes out none.
    private func sealed(_ content: String) -> String {
        let text = "\(Scram.makeNonce()).\(second).\(Base64.encode(content.utf8))"
        return "\(text).\(code("challenge \(text)"))"
    }

    /// The content of a nonce of this process; nil for others, and for one that is too old.
    private func open(_ nonce: String) -> String? {
        guard let end = nonce.lastIndex(of: "."),
            SHA256.isEqual(
                Array(code("challenge \(nonce[..<end])").utf8), Array(nonce[nonce.index(after: end)...].utf8)),
            case let parts = nonce.split(separator: ".", omittingEmptySubsequences: false), parts.count == Self.parts,
            let asked = Int(parts[1]), second - asked < Self.patience, let content = Base64.decode(parts[2])
        else { return nil }
        return String(decoding: content, as: UTF8.self)
    }

    /// Notes that a challenge was answered.
    /// - Returns: False when it had been.
    private func spend(_ nonce: String) -> Bool {
        let now = second
        return state.withLock { state in
            if state.answered.contains(where: { $0.nonce == nonce }) { return false }
            let old = state.answered.prefix { now - $0.at >= Self.patience }.count
            state.answered.removeFirst(max(old, state.answered.count - Self.mostAnswered + 1))
            state.answered.append((nonce, now))
            return true
        }
    }

    /// How long this process has been there.
    private var second: Int { Int((clock() - start) / .seconds(1)) }

    // MARK: Sign-ins

    /// Signs a browser in.
    package func add(keyID: String, key: [UInt8]) -> SignIn {
        let signIn = SignIn(id: Scram.makeNonce(), keyID: keyID, key: key, since: wallClock())
        change { signIns in
            signIns = signIns.filter { isLive($0.value) }
            let own = signIns.values.filter { $0.keyID == keyID }
            let excess = own.count >= Self.mostOfToken ? own : signIns.count >= Self.most ? Array(signIns.values) : []
            if let oldest = excess.min(by: { $0.since < $1.since }) { signIns[oldest.id] = nil }
            signIns[signIn.id] = signIn
        }
        return signIn
    }

    /// Ends all that a token has led to.
    package func removeAll(keyID: String) { change { signIns in signIns = signIns.filter { $0.value.keyID != keyID } } }

    /// Ends one.
    package func remove(_ id: String) { change { $0[id] = nil } }

    /// The one with this id, if it has not ended.
    package subscript(id: String) -> SignIn? {
        state.withLock { $0.signIns[id] }.flatMap { isLive($0) ? $0 : nil }
    }

    private func isLive(_ signIn: SignIn) -> Bool {
        (0..<Self.longest).contains(wallClock() - signIn.since)
    }

    private func change(_ body: (inout [String: SignIn]) -> Void) {
        let news = state.withLock { state -> (() -> Void)? in
            let before = state.signIns
            body(&state.signIns)
            guard before != state.signIns, let onChange = state.onChange else { return nil }
            let all = Array(state.signIns.values)
            return { onChange(all) }
        }
        news?()
    }

    // MARK: Keys of pages

    /// What a page shows beside its cookie, until it is closed, an hour has passed, or the process ends.
    package func pageKey(_ signIn: SignIn) -> String {
        let end = second + Int(Self.pageTime / .seconds(1))
        return "\(end).\(code("page \(end).\(signIn.id)"))"
    }

    /// The sign-in that a page shows, if that has not ended, and the key is its own.
    package func signIn(_ id: String, pageKey: String) -> SignIn? {
        let parts = pageKey.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, let end = Int(parts[0]), second < end,
            SHA256.isEqual(Array(code("page \(end).\(id)").utf8), Array(parts[1].utf8))
        else { return nil }
        return self[id]
    }

    private func code(_ text: String) -> String { Base64.encodeForURL(SHA256.code(text.utf8, key: secret)) }
}
