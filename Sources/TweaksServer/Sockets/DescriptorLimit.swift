// Reads the descriptor limit of the process, and lowers the session limits to fit.

import TweaksSystem

extension Platform {
    /// The number of files and sockets that this process may open: the soft limit, as `ulimit -n` shows it.
    static var descriptorLimit: Int {
        #if canImport(Glibc)
            let resource = RLIMIT_NOFILE.rawValue
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limits = rlimit()
        guard getrlimit(.init(resource), &limits) == 0 else { return .max }
        return Int(clamping: limits.rlim_cur)
    }
}

extension TweakServerLimits {
    /// The server's own descriptors: its listeners, the poller, the reserve, and the slots reserved for operators.
    private static let ownDescriptors = 16

    /// Returns the effective limits for a number of descriptors: after the program's reserve, they are for sessions and
    /// for connections being refused.
    package func fitted(to descriptors: Int) -> TweakServerLimits {
        var fitted = self
        let available = Int(Double(min(descriptors, 1 << 40)) * (1 - reserve))
        fitted.refusedSessions = min(refusedSessions, max(available / 8, 1))
        let most = max(available - fitted.refusedSessions - Self.ownDescriptors, 1)
        if sessions <= most { return fitted }
        fitted.sessions = most
        // The same ratio as before, so that one peer never takes all.
        // A program may allow any number of sessions: `.max` means no limit.
        let share = min(Double(sessionsPerPeer) / Double(sessions), 1) * Double(most)
        fitted.sessionsPerPeer = min(sessionsPerPeer, max(Int(share), 1))
        fitted.unauthenticatedSessions = min(unauthenticatedSessions, max(most / 4, 1))
        return fitted
    }

    /// The number of descriptors that allows the configured limits.
    private var descriptorsWanted: Int {
        let all = Double(sessions) + Double(refusedSessions) + Double(Self.ownDescriptors)
        return Int(exactly: (all / (1 - reserve)).rounded(.up)) ?? .max
    }

    private var reserve: Double { min(max(descriptorReserve, 0), 0.99) }

    /// The warning if fewer sessions are possible than configured.
    func warning(_ inForce: TweakServerLimits, descriptors: Int) -> String? {
        if inForce.sessions >= sessions { return nil }
        return "at most \(inForce.sessions) sessions, \(inForce.sessionsPerPeer) of one user, token or address: this "
            + "process may open \(descriptors) files, and \(Int((reserve * 100).rounded())) % of them are kept for the "
            + "program; for \(sessions) sessions set LimitNOFILE, or ulimit -n, to \(descriptorsWanted)"
    }
}
