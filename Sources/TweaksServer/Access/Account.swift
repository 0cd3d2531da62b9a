// Keeps the quotas of a peer over all its sessions, so that connecting again brings no more.

import Tweaks

/// One peer: a token, a user on a Unix socket, or an address on TCP where no token was shown. Touched by the I/O thread
/// alone.
final class Account {
    /// `token ops`, `uid 1000`, `127.0.0.1`.
    let name: String
    /// How many sessions it has.
    var sessions = 0
    /// How many sessions commit for it, too, and are another one's.
    var guests = 0
    /// How many of its requests are carried out beside the I/O thread.
    var pending = 0
    /// What its sessions hold in memory.
    var heldBytes = 0
    private var budget: CommitBudget?

    init(_ name: String) { self.name = name }

    /// How many commits it may make in a second; nil: as many as it can.
    var commitsPerSecond: Int? {
        get { budget?.perSecond }
        set {
            guard let newValue else { return budget = nil }
            if budget == nil { budget = CommitBudget(perSecond: newValue) } else { budget?.change(perSecond: newValue) }
        }
    }

    /// Takes one commit, if it may make one now.
    func takeCommit(_ now: Moment) -> Bool { budget?.take(now) ?? true }

    /// Whether a new account would be the same.
    func isIdle(_ now: Moment) -> Bool {
        sessions == 0 && guests == 0 && pending == 0 && budget?.isFull(now) ?? true
    }
}

/// The accounts of a server. One is kept as long as it has sessions, and after that until its budget is full again:
/// closing a connection gives nothing back.
struct Accounts {
    private var byName: [String: Account] = [:]
    /// With so many of them those are looked for that are not needed any more.
    private var limit = 64

    /// The account with this name.
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
