// The limits by name: as `stats` counts them, and as the documentation lists them.

/// A limit that somebody can hit. Its raw value is its name: in `TweakServerLimits`, where it can be chosen there, and
/// among the figures of `stats`.
package enum TweakLimit: String, Hashable, Sendable, CaseIterable {
    case sessions, unauthenticatedSessions, sessionsPerPeer
    case timeToFirstLine, idleTime
    case unauthenticatedLineBytes, timeToAuthenticate, authenticationFailures
    case scopes, scopeRequests, commitsPerSecond, abandonedRequests, pendingRequestsPerPeer
    case memoryBytes
    case lineBytes, batchChanges, watchPatterns, findWords, unsentBytes
    case actionArguments, actionOutputBytes
    case presets, presetsPerPeer, presetBytes
    /// Commits that the history forgot, because there were newer ones.
    case history
    /// The operating system's own limit: descriptors, or memory for sockets.
    case descriptors
}
