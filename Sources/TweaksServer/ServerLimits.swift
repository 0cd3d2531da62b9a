// What one server grants its clients.

/// The limits of a server: what one client, and all together, may take.
///
/// Each has a default, an error code with which it is enforced, and a figure of its own name in `limitsHit` of the
/// command `stats`. <doc:Protocol> has them in one table.
///
/// ```swift
/// var limits = TweakServerLimits()
/// limits.sessions = 100
/// let server = TweakServer(name: "bounce", listeners: [.tcp(port: 0)], limits: limits)
/// ```
public struct TweakServerLimits: Sendable {
    /// The most sessions at once (`too-many`). At the limit the oldest that has not sent a line yet yields.
    public var sessions = 4_096
    /// The most sessions on which nobody has shown yet who it is, where that is required (`too-many`). At the limit the
    /// oldest of them yields.
    public var unauthenticatedSessions = 64
    /// The most sessions of one peer (`too-many`): of a user on a Unix socket, of an address on TCP. At the limit the
    /// oldest of that peer that has not sent a line yet yields.
    public var sessionsPerPeer = 1_024
    /// The most bytes of a line, its end not counted (`too-long`).
    public var lineBytes = 65_536
    /// The most changes of one batch (`too-many`).
    public var batchChanges = 10_000
    /// The most patterns that one session watches (`too-many`).
    public var watchPatterns = 100
    /// The most words that one `find` looks for (`too-many`).
    public var findWords = 16
    /// The most arguments of one `run` (`too-many`).
    public var actionArguments = 64
    /// The most bytes of an action's text. There is no error: what is longer is cut between two characters, and a remark
    /// behind it says so.
    public var actionOutputBytes = 1_048_576
    /// The most presets that a daemon keeps (`too-many`).
    public var presets = 1_000
    /// The most bytes of one of its presets (`too-long`).
    public var presetBytes = 16_777_216
    /// How long a connection may take for its first line (`timeout`).
    public var timeToFirstLine: Duration = .seconds(60)
    /// The most bytes of a line before a session has shown a token, where it needs one (`too-long`).
    public var unauthenticatedLineBytes = 2_048
    /// How long a connection may take to show a token, where it needs one (`timeout`).
    public var timeToAuthenticate: Duration = .seconds(60)
    /// With so many wrong tokens a connection ends (`denied`).
    public var authenticationFailures = 5
    /// The most requests for rights of one session that nobody has decided yet (`too-many`).
    public var scopeRequests = 16
    /// The most requests of sessions that have ended which still wait for a disk or a handler; then `find`, presets,
    /// `reload`, `request` and changes that are written first are refused (`busy`). And, counted apart, the most actions
    /// that such sessions have left running; then `run` is.
    public var abandonedRequests = 1_000
    /// The most scopes that one session may ask for, and that it may give up (`too-many`).
    public var scopes = 256
    /// The most commits of one session in a second (`too-many`); nil: as many as it can. A token may have less.
    public var commitsPerSecond: Int? = 10_000
    /// How long a session that watches nothing may be silent (`timeout`); nil: for ever.
    public var idleTime: Duration? = .seconds(24 * 3_600)
    /// How long replies may wait for a client that has closed its side, and a stopping server for what is under way.
    public var lingerTime: Duration = .seconds(5)
    /// From how many unsent bytes on a session is no longer read from, and its events are folded.
    public var unsentBytes = 262_144
    /// What a wrong token costs: the first one, and at most. Each of late doubles it for the same peer.
    package var authenticationDelay: ClosedRange<Duration> = .milliseconds(250) ... .seconds(4)
    /// How often a stream of events shows that it is still there.
    package var beatInterval: Duration = .seconds(5)
    /// How long one session is served before the others have their turn; a single command is never cut short.
    package var turn: Duration = .microseconds(50)
    /// The same where somebody watches.
    package var watchedTurn: Duration = .milliseconds(1)
    /// How long, and how many bytes, a connection is read from after a fatal error, so that the error arrives.
    public var fatalDrain: (time: Duration, bytes: Int) = (.seconds(1), 1_048_576)

    /// The defaults.
    public init() {}
}
