// Tracks the quotas of a peer across all its sessions, so that reconnecting does not reset them.

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
    /// The bytes of memory that its sessions hold.
    var memorySize = 0
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

    /// Consumes one commit from the budget if one is available.
    func consumeCommit(_ now: Moment) -> Bool { budget?.consume(now) ?? true }

    /// Whether the account carries no state, so that it can be discarded and created again.
    func isIdle(_ now: Moment) -> Bool {
        sessions == 0 && lingering == 0 && secondarySessions == 0 && pending == 0 && budget?.isFull(now) ?? true
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
