// Names the limits that `stats` counts and the documentation lists.

/// A limit that clients can exceed. Its raw value is its name in `stats`, and in `TweakServerLimits` if it is
/// configurable.
package enum TweakLimit: String, Hashable, Sendable, CaseIterable {
    case sessions, unauthenticatedSessions, sessionsPerPeer
    case timeToFirstLine, idleTime
    case unauthenticatedLineBytes, timeToAuthenticate, authenticationFailures
    case scopes, scopeRequests, commitsPerSecond, abandonedRequests, pendingRequestsPerPeer
    case memoryBytes
    case lineBytes, batchChanges, watchPatterns, findWords, unsentBytes
    case actionArguments, actionOutputBytes
    case presets, presetsPerPeer, presetBytes
    /// Commits that the history dropped in favor of newer ones.
    case history
    /// The audit: what one client may write on one day, and what waits to be written.
    case audit
    /// The operating system's own limit: descriptors, or memory for sockets.
    case descriptors
}
