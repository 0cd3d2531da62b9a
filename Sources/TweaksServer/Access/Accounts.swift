// Charges a peer for sessions and commits across all its connections, so that reconnecting resets nothing.

import Tweaks
import TweaksSystem

/// One peer: a token, a user on a Unix socket, or an address on TCP where no token was shown. Used on the I/O thread
/// only.
final class Account {
    /// `token ops`, `uid 1000`, `127.0.0.1 uid 1000`, `192.0.2.1`.
    let name: String
    /// The number of its sessions that have not ended.
    var sessions = 0
    /// The number of its ended sessions that only wait for the client to close.
    var lingering = 0
    /// The number of sessions that also commit on its behalf but count toward another account.
    var secondarySessions = 0
    /// The number of its requests that run off the I/O thread.
    var pending = 0
    private var budget: TokenBucket?

    init(_ name: String) { self.name = name }

    /// The maximum number of commits per second; nil means unlimited.
    var commitsPerSecond: Int? {
        get { budget?.perSecond }
        set {
            guard let newValue else { return budget = nil }
            if budget == nil { budget = TokenBucket(perSecond: newValue) } else { budget?.change(perSecond: newValue) }
        }
    }

    func consumeCommit(_ now: Moment) -> Bool { budget?.consume(now) ?? true }

    /// Whether the account carries no state, so that it can be discarded and created again.
    func isIdle(_ now: Moment) -> Bool {
        sessions == 0 && lingering == 0 && secondarySessions == 0 && pending == 0 && budget?.isFull(now) ?? true
    }
}

/// The accounts that one session is charged to. Used on the I/O thread only.
final class SessionAccounts {
    /// The account that is charged: the token shown last, or the peer.
    var primary = Account("") {
        didSet {
            guard isCounted, primary !== oldValue else { return }
            oldValue.sessions -= 1
            primary.sessions += 1
        }
    }
    /// The accounts of its other tokens, which are charged for its commits as well.
    var others: [Account] = [] {
        didSet {
            for account in oldValue { account.secondarySessions -= 1 }
            for account in others { account.secondarySessions += 1 }
        }
    }
    var isCounted = false {
        didSet { if isCounted != oldValue { primary.sessions += isCounted ? 1 : -1 } }
    }
    /// When it has ended and begun to wait for its peer to close; nil before.
    var lingersSince: Moment? {
        didSet {
            if (lingersSince == nil) == (oldValue == nil) { return }
            primary.lingering += lingersSince == nil ? -1 : 1
        }
    }
    var isLingering: Bool { lingersSince != nil }

    /// Charges a commit to the rate limit of the peer, which all its sessions share.
    func chargeCommit(_ now: Moment) throws(TweakError) {
        var refusing = primary.consumeCommit(now) ? nil : primary
        if !others.isEmpty { refusing = refusing ?? others.first { !$0.consumeCommit(now) } }
        guard let refusing else { return }
        throw .tooMany(
            .commitsPerSecond,
            "\(refusing.name) makes at most \(refusing.commitsPerSecond ?? 0) commits a second, all its sessions together; "
                + "wait, nothing was changed")
    }
}

/// The accounts of a server. An account is kept while it has sessions and then until its budget is full again, so that
/// closing a connection resets nothing.
struct Accounts {
    private var byName: [String: Account] = [:]
    /// At this number of accounts, idle ones are removed.
    private var limit = 64

    /// Returns the account with this name and creates it if needed.
    mutating func account(_ name: String, _ now: Moment) -> Account {
        if let known = byName[name] { return known }
        if byName.count >= limit {
            byName = byName.filter { !$0.value.isIdle(now) }
            limit = 2 * byName.count + 64
        }
        let account = Account(name)
        byName[name] = account
        return account
    }
}

/// Recent failures by client. Each doubles the delay of the next one, and each is forgotten after a while.
struct LoginThrottle {
    private struct Entry {
        var count: Int
        var notedAt: Moment
    }

    /// After each such interval, one failure is forgotten.
    private static let memory: Duration = .seconds(10)
    /// Clients are users and addresses of this machine; a larger number of them is forged.
    private static let maxEntries = 1_024

    private let delays: ClosedRange<Duration>
    private var entries: [String: Entry] = [:]

    /// - Parameter delays: The delay of the first failure, and the maximum.
    init(delays: ClosedRange<Duration>) { self.delays = delays }

    /// Records a failure.
    /// - Returns: The delay of its answer.
    mutating func recordFailure(_ peer: String, _ now: Moment) -> Duration {
        let before = recent(peer, now)
        if entries.count >= Self.maxEntries, entries[peer] == nil { forget(now) }
        entries[peer] = Entry(count: min(before + 1, 16), notedAt: now)
        return min(delays.lowerBound * (1 << before), delays.upperBound)
    }

    private func recent(_ peer: String, _ now: Moment) -> Int {
        guard let entry = entries[peer] else { return 0 }
        return max(0, entry.count - Int(min((now - entry.notedAt) / Self.memory, 16)))
    }

    /// Makes room: removes expired entries first, then the one with the oldest failure.
    private mutating func forget(_ now: Moment) {
        entries = entries.filter { recent($0.key, now) > 0 }
        guard entries.count >= Self.maxEntries, let oldest = entries.min(by: { $0.value.notedAt < $1.value.notedAt })
        else { return }
        entries[oldest.key] = nil
    }
}
