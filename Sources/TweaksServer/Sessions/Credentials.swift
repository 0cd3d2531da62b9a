// By what a session is let in, and who pays for what it takes.

import Tweaks
import TweaksWire

/// What a session has shown and asked for.
struct Credentials {
    /// Where it stands; the executor takes the steps.
    var life = SessionLife()
    /// Only a token lets it be here.
    var needsToken = false
    /// The tokens that it has shown and that are still good, the last one last.
    var tokens: [TokenEntry] = []
    /// It has been sent a challenge, and not answered that yet.
    var exchange: Scram.Server?
    /// Wrong tokens that it has shown.
    var failures = 0
    /// What it has asked for, and what became of that.
    var wishes = Wishes()
    /// What the scopes have that it has asked for and given up.
    var scopeBytes = 0
}

/// The accounts of a session. Touched by the I/O thread alone.
final class Payer {
    /// Who pays for what it takes: the token that it has shown last, or the peer.
    var account = Account("") {
        didSet {
            guard isCounted, account !== oldValue else { return }
            oldValue.sessions -= 1
            account.sessions += 1
            oldValue.heldBytes -= heldBytes
            account.heldBytes += heldBytes
        }
    }
    /// Those of the other tokens that it has shown: they make its commits, too.
    var otherAccounts: [Account] = [] {
        didSet {
            for account in oldValue { account.guests -= 1 }
            for account in otherAccounts { account.guests += 1 }
        }
    }
    /// It is one of its account's sessions.
    var isCounted = false {
        didSet { if isCounted != oldValue { account.sessions += isCounted ? 1 : -1 } }
    }
    /// What it held when that was last looked at.
    private(set) var heldBytes = 0

    /// Notes what it holds now.
    /// - Returns: How much more that is.
    func hold(_ bytes: Int) -> Int {
        let growth = bytes - heldBytes
        if growth == 0 { return 0 }
        heldBytes = bytes
        account.heldBytes += growth
        return growth
    }
}
