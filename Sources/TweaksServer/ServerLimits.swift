// What one server grants its clients.

/// The limits of a server. Each has an error code with which it is enforced.
public struct TweakServerLimits: Sendable {
    /// The most sessions at once (`too-many`). At the limit the oldest that has not sent a line yet yields.
    public var sessions = 4_096
    /// The most bytes of a line, its end not counted (`too-long`).
    public var lineBytes = 65_536
    /// The most changes of one batch (`too-many`).
    public var batchChanges = 10_000
    /// The most patterns that one session watches (`too-many`).
    public var watchPatterns = 100
    /// The most words that one `find` looks for (`too-many`).
    public var findWords = 16
    /// How long a connection may take for its first line (`timeout`).
    public var timeToFirstLine: Duration = .seconds(60)
    /// How long a session that watches nothing may be silent (`timeout`); nil: for ever.
    public var idleTime: Duration? = .seconds(24 * 3_600)
    /// How long replies may wait for a client that has closed its side, and a stopping server for what is under way.
    public var lingerTime: Duration = .seconds(5)
    /// From how many unsent bytes on a session is no longer read from, and its events are folded.
    public var unsentBytes = 262_144
    /// How long one session is served before the others have their turn; a single command is never cut short.
    package var turn: Duration = .microseconds(50)
    /// The same where somebody watches.
    package var watchedTurn: Duration = .milliseconds(1)
    /// How long, and how many bytes, a connection is read from after a fatal error, so that the error arrives.
    public var fatalDrain: (time: Duration, bytes: Int) = (.seconds(1), 1_048_576)

    /// The defaults.
    public init() {}
}
