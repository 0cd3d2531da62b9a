// Reads how many descriptors the process may have, and lowers the limits of sessions to what that leaves.

import TweaksSystem

extension Platform {
    /// How many files and sockets this process may have open: the soft limit, as `ulimit -n` shows it.
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
    /// The server's own descriptors beside those of sessions: its listeners, the poller, the spare one, and the places that
    /// are kept for who may do everything.
    private static let ownDescriptors = 16

    /// The limits that are in force in a process that may have so many descriptors: what the reserve leaves is for
    /// sessions, and for those that are just being refused.
    package func fitted(to descriptors: Int) -> TweakServerLimits {
        var fitted = self
        let available = Int(Double(min(descriptors, 1 << 40)) * (1 - reserve))
        fitted.refusedSessions = min(refusedSessions, max(available / 8, 1))
        let most = max(available - fitted.refusedSessions - Self.ownDescriptors, 1)
        if sessions <= most { return fitted }
        fitted.sessions = most
        // The same share as before, so that one peer never takes all there is.
        let share = Double(sessionsPerPeer) / Double(sessions) * Double(most)
        fitted.sessionsPerPeer = min(sessionsPerPeer, max(Int(share), 1))
        fitted.unauthenticatedSessions = min(unauthenticatedSessions, max(most / 4, 1))
        return fitted
    }

    /// With so many descriptors nothing has to be lowered.
    private var descriptorsWanted: Int {
        Int((Double(sessions + refusedSessions + Self.ownDescriptors) / (1 - reserve)).rounded(.up))
    }

    private var reserve: Double { min(max(descriptorReserve, 0), 0.99) }

    /// What is said where sessions are fewer than was wished for.
    func warning(_ inForce: TweakServerLimits, descriptors: Int) -> String? {
        if inForce.sessions >= sessions { return nil }
        return "at most \(inForce.sessions) sessions, \(inForce.sessionsPerPeer) of one user, token or address: this "
            + "process may open \(descriptors) files, and \(Int((reserve * 100).rounded())) % of them are kept for the "
            + "program; for \(sessions) sessions set LimitNOFILE, or ulimit -n, to \(descriptorsWanted)"
    }
}
