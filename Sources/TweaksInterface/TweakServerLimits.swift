// Defines the limits of a server.

/// The limits of a server, for each client and in total.
///
/// Each limit has a default, an error code that reports it, and a metric of the same name in `limitsHit` of the command
/// `stats`. The article Protocol, of TweaksServer, lists them in one table.
///
/// ```swift
/// var limits = TweakServerLimits()
/// limits.sessions = 100
/// let server = TweakServer(name: "bounce", listeners: [.tcp(port: 0)], limits: limits)
/// ```
public struct TweakServerLimits: Sendable {
    /// The maximum number of sessions at once (`too-many`). At the limit the oldest session that has sent no line is
    /// closed.
    ///
    /// A process with a low descriptor limit allows fewer: see ``descriptorReserve``.
    public var sessions = 4_096
    /// The share of the process's descriptors (`ulimit -n`) that is reserved for the program's own connections and
    /// files, 0…0.99. Sessions get the rest; at the start the server lowers ``sessions`` accordingly, and
    /// ``sessionsPerPeer`` in proportion.
    ///
    /// Beyond all these limits, one session of each user with full rights on the Unix socket is admitted: the process's
    /// own user, and root.
    public var descriptorReserve = 0.5
    /// The maximum number of sessions that have not authenticated, where that is required (`too-many`). At the limit a
    /// session without requests is closed, or else one with requests; among these, the oldest of the address with the
    /// most sessions.
    ///
    /// As many places again are reserved for sessions whose SCRAM message names the key of a token.
    public var unauthenticatedSessions = 64
    /// The maximum number of sessions of one peer (`too-many`): of a token, of a user on a Unix socket, or of an
    /// address on TCP without a token, on loopback of each user that the kernel tells apart. At the limit the oldest
    /// session of that peer that has sent no line is closed. Ended sessions do not count.
    public var sessionsPerPeer = 1_024
    /// The maximum memory that clients can make the process hold, in bytes (`too-many`): input, unread output and
    /// the kernel's buffers for it, batches, pending events, string values, the history, figures over time. Above it the peer with the most memory loses
    /// its largest session first. A set that would make strings use more than half of it is refused, and the history is
    /// limited to a quarter.
    public var memoryBytes = 67_108_864
    /// The maximum bytes of a line, without its line ending (`too-long`).
    public var lineBytes = 65_536
    /// The maximum changes of one batch (`too-many`).
    public var batchChanges = 10_000
    /// The maximum patterns that one session watches (`too-many`).
    public var watchPatterns = 100
    /// The maximum search words of one `find` (`too-many`).
    public var findWords = 16
    /// The maximum figures whose last values are kept. Of more, only those that a session watches are kept, in the order
    /// of the listing.
    public var figures = 1_024
    /// The maximum memory of the kept values, in bytes: about 9,700 for each figure. It counts as ``memoryBytes``, and is
    /// at most a quarter of that.
    public var figureBytes = 16_777_216
    /// The maximum arguments of one `run` (`too-many`).
    public var actionArguments = 64
    /// The maximum bytes of an action's output. Longer output is not an error: it is cut between two characters, and a
    /// note is appended.
    public var actionOutputBytes = 1_048_576
    /// The maximum presets that a daemon stores (`too-many`).
    public var presets = 1_000
    /// The maximum presets that one peer has saved (`too-many`): a token, a user, an address. Peers with full rights
    /// have no such limit.
    public var presetsPerPeer = 250
    /// The maximum bytes of one preset (`too-long`).
    public var presetBytes = 16_777_216
    /// The time limit for a connection's first line (`timeout`).
    public var timeToFirstLine: Duration = .seconds(60)
    /// The maximum bytes of a line before a session has authenticated, where that is required (`too-long`).
    public var unauthenticatedLineBytes = 2_048
    /// The time limit for a connection to authenticate, where that is required (`timeout`).
    public var timeToAuthenticate: Duration = .seconds(60)
    /// The number of wrong tokens that ends a connection (`denied`).
    public var authenticationFailures = 5
    /// The maximum undecided requests for rights of one session (`too-many`).
    public var scopeRequests = 16
    /// The maximum requests of ended sessions that still wait for a disk or a handler; above it `find`, presets,
    /// `reload`, `request` and changes that are written first are refused (`busy`). It also limits, counted separately,
    /// the actions that such sessions have left running; above it `run` is refused.
    public var abandonedRequests = 1_000
    /// The maximum requests of one peer, over all its sessions, that run off the I/O thread at a time (`busy`): `find`,
    /// `complete`, presets, `reload`, `request` and `run`. Requests of ended sessions count too.
    public var pendingRequestsPerPeer = 100
    /// The maximum scopes that one session may request or give up (`too-many`).
    public var scopes = 256
    /// The maximum commits per second of one peer, over all its sessions (`too-many`); nil: unlimited. A token can have
    /// a lower limit.
    public var commitsPerSecond: Int? = 10_000
    /// How long a session without watches may be idle (`timeout`); nil: unlimited.
    public var idleTime: Duration? = .seconds(24 * 3_600)
    /// How long replies wait for a client that has closed its side or whose session has ended, also those in the kernel;
    /// how long a stopping server waits for running requests.
    public var lingerTime: Duration = .seconds(5)
    /// The number of unsent bytes above which a session is no longer read from and its events wait. Many sessions have
    /// less: all together a quarter of ``memoryBytes``.
    public var unsentBytes = 262_144
    /// The maximum number of refused connections that are kept open briefly so that the client can read the reason.
    package var refusedSessions = 64
    /// The delay after a wrong token: the first one, and the maximum. Each recent failure doubles it for the same peer.
    package var authenticationDelay: ClosedRange<Duration> = .milliseconds(250) ... .seconds(4)
    /// The heartbeat interval of an event stream. A page detects a stopped process after three missed heartbeats.
    package var heartbeatInterval: Duration = .seconds(1)
    /// The time slice of one session before others are served; a single command is never interrupted.
    package var turn: Duration = .microseconds(50)
    /// The same for a watching session.
    package var watchedTurn: Duration = .milliseconds(1)
    /// The maximum time a reply waits for the audit. If the audit hangs, replies say so until it reports again.
    package var auditWait: Duration = .milliseconds(200)
    /// The time and the number of bytes that a connection is read after a fatal error, so that the client receives the
    /// error.
    public var fatalDrain: (time: Duration, bytes: Int) = (.seconds(1), 1_048_576)

    /// Limits with their defaults.
    public init() {}
}
