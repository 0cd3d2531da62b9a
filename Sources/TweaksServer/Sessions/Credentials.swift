// Stores the authentication state of a session and the accounts that it is charged to.

import Tweaks
import TweaksWire

/// The tokens and scope requests of a session.
struct Credentials {
    /// Its lifecycle; the executor applies the steps.
    var lifecycle = SessionLifecycle()
    /// Whether only a token admits it.
    var needsToken = false
    /// The valid tokens that it has shown, latest last.
    var tokens: [TokenEntry] = []
    /// The SCRAM exchange whose challenge it has not answered yet.
    var exchange: Scram.Server?
    /// The key that its first message names, while its token is valid and the proof may still come.
    var expectedKey: ExpectedKey?
    /// The number of wrong tokens that it has shown.
    var failures = 0
    /// Its scope requests and their decisions.
    var scopeRequests = ScopeRequests()
    /// The memory held by requested and dropped scopes, in bytes.
    var scopeBytes = 0
}

/// The accounts of a session. Used on the I/O thread only.
final class SessionAccounts {
    /// The account that is charged: the token shown last, or the peer.
    var primary = Account("") {
        didSet {
            guard isCounted, primary !== oldValue else { return }
            oldValue.sessions -= 1
            primary.sessions += 1
            oldValue.memorySize -= memorySize
            primary.memorySize += memorySize
        }
    }
    /// The accounts of its other tokens, which are charged for its commits as well.
    var others: [Account] = [] {
        didSet {
            for account in oldValue { account.secondarySessions -= 1 }
            for account in others { account.secondarySessions += 1 }
        }
    }
    /// Whether it counts as a session of its account.
    var isCounted = false {
        didSet { if isCounted != oldValue { primary.sessions += isCounted ? 1 : -1 } }
    }
    /// Whether it has ended and only waits for its peer to close.
    var isLingering = false {
        didSet { if isLingering != oldValue { primary.lingering += isLingering ? 1 : -1 } }
    }
    /// The bytes of memory that it held when last measured.
    private(set) var memorySize = 0

    /// Updates the bytes that it holds.
    /// - Returns: The growth in bytes.
    func hold(_ bytes: Int) -> Int {
        let growth = bytes - memorySize
        if growth == 0 { return 0 }
        memorySize = bytes
        primary.memorySize += growth
        return growth
    }
}
