// Sets the limits of a server.

/// The limits of a server: what one client, and all together, may take.
///
/// Each has a default, an error code with which it is enforced, and a figure of its own name in `limitsHit` of the
/// command `stats`. The article Protocol, of TweaksServer, has them in one table.
///
/// ```swift
/// var limits = TweakServerLimits()
/// limits.sessions = 100
/// let server = TweakServer(name: "bounce", listeners: [.tcp(port: 0)], limits: limits)
/// ```
public struct TweakServerLimits: Sendable {
    /// The most sessions at once (`too-many`). At the limit the oldest that has not sent a line yet yields.
    ///
    /// In a process that may open few files they are less than that: see ``descriptorReserve``.
    public var sessions = 4_096
    /// Which share of the descriptors that the process may have (`ulimit -n`) is kept for the program, 0…0.99: its own
    /// connections and files. Sessions get the rest; at the start the server lowers ``sessions`` to that, and
    /// ``sessionsPerPeer`` in proportion.
    ///
    /// Beyond all of these limits one session of each user who may do everything on the Unix socket is let in: the
    /// process' own user, and root.
    public var descriptorReserve = 0.5
    /// The most sessions that have not shown yet who they are, where that is required (`too-many`). At the limit one
    /// yields that has asked nothing, or else one that has; of these the oldest of the address that has the most.
    public var unauthenticatedSessions = 64
    /// The most sessions of one peer (`too-many`): of a token, of a user on a Unix socket, of an address on TCP where
    /// no token was shown. At the limit the oldest of that peer that has not sent a line yet yields.
    public var sessionsPerPeer = 1_024
    /// The most memory that clients can make the process hold, in bytes (`too-many`): input, output that is not read,
    /// batches, events that wait, texts that were set, the history, ways back from presets. Above it the greediest peer
    /// loses its greediest session first; a set that would have the texts take more than half of it is refused, and the
    /// history keeps to a quarter.
    public var memoryBytes = 67_108_864
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
    /// The most presets that one peer has saved (`too-many`): a token, a user, an address. Who may do everything has no
    /// such limit.
    public var presetsPerPeer = 250
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
    /// The most requests for rights of one session that are not decided yet (`too-many`).
    public var scopeRequests = 16
    /// The most requests of sessions that have ended which still wait for a disk or a handler; then `find`, presets,
    /// `reload`, `request` and changes that are written first are refused (`busy`). And, counted apart, the most actions
    /// that such sessions have left running; then `run` is.
    public var abandonedRequests = 1_000
    /// The most requests of one peer, over all its sessions, that are carried out beside the I/O thread at a time (`busy`):
    /// `find`, `complete`, presets, `reload`, `request` and `run`. Those of sessions that have ended count as well.
    public var pendingRequestsPerPeer = 100
    /// The most scopes that one session may ask for, and that it may give up (`too-many`).
    public var scopes = 256
    /// The most commits of one peer in a second, over all its sessions (`too-many`); nil: as many as it can. A token may
    /// have less.
    public var commitsPerSecond: Int? = 10_000
    /// How long a session that watches nothing may be silent (`timeout`); nil: for ever.
    public var idleTime: Duration? = .seconds(24 * 3_600)
    /// How long replies may wait for a client that has closed its side, and a stopping server for what is under way.
    public var lingerTime: Duration = .seconds(5)
    /// From how many unsent bytes on a session is no longer read from, and its events are folded.
    public var unsentBytes = 262_144
    /// Refused connections stay for a moment, so that they can read why. Beyond so many they do not.
    package var refusedSessions = 64
    /// What a wrong token costs: the first one, and at most. Each of late doubles it for the same peer.
    package var authenticationDelay: ClosedRange<Duration> = .milliseconds(250) ... .seconds(4)
    /// How often a stream of events shows that it is still there: a page notices within three that a process is stopped.
    package var beatInterval: Duration = .seconds(1)
    /// How long one session is served before the others have their turn; a single command is never cut short.
    package var turn: Duration = .microseconds(50)
    /// The same for a session that watches.
    package var watchedTurn: Duration = .milliseconds(1)
    /// How long, and how many bytes, a connection is read from after a fatal error, so that the error arrives.
    public var fatalDrain: (time: Duration, bytes: Int) = (.seconds(1), 1_048_576)

    /// The defaults.
    public init() {}
}
