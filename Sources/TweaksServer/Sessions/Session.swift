// Defines the state of one connection: client, lifecycle, input, work in progress.

import Tweaks
import TweaksSystem
import TweaksWire

/// A session's number, which is never reused, and its descriptor, which is.
struct SessionID: Hashable, Sendable {
    let number: UInt64
    let descriptor: Int32

    /// The server itself rather than a session.
    static let server = SessionID(number: 0, descriptor: -1)
}

/// The state of one client. Used on the I/O thread only.
final class Session {
    let id: SessionID
    let dialect: any SessionDialect
    var connection: Connection
    var identity: Identity
    /// The origin of the session's changes: the peer, or the token shown last.
    var origin: TweakOrigin
    var credentials = Credentials()
    var grants = Grants()
    let accounts = SessionAccounts()
    var input: Input
    /// Whether it has banner and prompt.
    var isInteractive = false
    var work = Work.idle
    var batch: PendingBatch?
    /// The memory that was charged for it when last measured.
    var memory = MemoryUse()
    var changes = Changes()
    var output = OutputBuffer()
    var replies = PendingReplies()
    var watches: [Watch] = [] {
        didSet {
            events.watchBytes = watches.reduce(0) { $0 + 768 + 2 * $1.subject.text.utf8.count }
            events.shownThrough = watches.reduce(0) { max($0, $1.since) }
        }
    }
    var events = PendingEvents()

    /// The socket's state, which is separate from the session's lifecycle.
    struct Connection {
        enum Phase: Equatable {
            case open
            /// All output is queued; after the last byte is sent, input is discarded until the peer closes.
            case draining(discarded: Int)
            case closed
        }

        let descriptor: Descriptor
        let openedAt: Moment
        var phase = Phase.open
        var interest: PollInterest = .read
        var sendBytes = Int.max
        /// The size of the kernel's receive buffer; 0 where it is the peer's.
        var receiveBytes = 0
        /// Whether it had too many unsent bytes at the last check.
        var isFull = false
        /// Whether the sending side was shut down.
        var outputHasEnded = false
        var isRunnable = false
        /// Whether it waits for a turn to read the feed of changes.
        var isDue = false
    }

    struct Identity {
        var peer: Peer
        var name: DisplayName?
        /// The ID of the browser window that the client reports; its connections are one session to users.
        var windowID: String?
        /// The window, after the client has shown a token.
        var window: BrowserWindow?
        /// Whether the user of a Unix socket has no access.
        let isDenied: Bool
    }

    struct Input {
        /// Whether the peer has closed its sending side.
        var hasEnded = false
        /// Whether requests may be waiting in the dialect.
        var mayHaveMore = false
        /// Whether a complete line has arrived.
        var hasSentLine = false
        /// Whether a request has arrived that the dialect understood, valid or not.
        var hasSentRequest = false
        /// Whether the client has proven to speak this protocol: a command was accepted, or the first line was empty.
        var isProven = false
        var lastActivity: Moment
        /// When the incomplete request began that has a deadline.
        var requestBegan: Moment?
        /// Whether a timer for the deadline exists.
        var hasRequestTimer = false
    }

    struct Changes {
        var commits: UInt64 = 0
        /// The gesture that its changes belong to; 0 means none.
        var gesture: UInt64 = 0
        /// Whether its replies wait for the disk.
        var waitsForDisk = true
    }

    init(
        id: SessionID, descriptor: Descriptor, peer: Peer, isDenied: Bool, now: Moment, dialect: any SessionDialect
    ) {
        self.id = id
        self.dialect = dialect
        connection = Connection(descriptor: descriptor, openedAt: now)
        identity = Identity(peer: peer, isDenied: isDenied)
        origin = peer.origin
        input = Input(lastActivity: now)
    }

    /// The displayed number: that of its window, if it has one.
    var number: UInt64 { identity.window?.number ?? id.number }

    var isOpen: Bool { connection.phase == .open }

    /// Whether it is authenticated or need not be, and has not ended.
    var isAdmitted: Bool { credentials.lifecycle.isOpen }

    var account: Account { accounts.primary }

    var encoder: ReplyEncoder {
        get { dialect.encoder }
        set { dialect.use(newValue) }
    }

    /// Whether the peer is the process's own user or root, who could change the process's files anyway.
    var isOwner: Bool { identity.peer.userID.map { $0 == 0 || $0 == ThisProcess.user } ?? false }

    /// Whether it may see a tweak or action. Checked for each event as well, since rights may have been revoked after
    /// the watch began.
    func sees(_ node: TweakNode) -> Bool { isAdmitted && grants.rights.sees(node) }

    func may(_ kind: TweakScope.Kind, _ path: TweakPath) -> Bool { isAdmitted && grants.rights.allows(kind, path) }

    /// Whether the next request may begin: replies come in the order of the requests, each complete.
    var mayBegin: Bool { isOpen && !work.isBusy && replies.haveRoom(pipelined: dialect.pipelines) }

    /// Whether nothing is left to do or send, and all counters are up to date.
    var isAtRest: Bool {
        output.isEmpty && !input.mayHaveMore && dialect.inputCount == 0 && connection.interest == .read
            && !connection.isFull
    }

    /// Whether it has pending output: long replies, waiting replies, events.
    var hasBacklog: Bool { !replies.isEmpty || events.areWaiting }
}

/// The state of a session. It opens at most once and ends once; an invalid step has no effect.
///
/// The socket is separate: bytes may still be in transit after the session has ended.
struct SessionLifecycle: Equatable, Sendable {
    enum Transition: Equatable, Sendable {
        /// Its identity is being checked.
        case identify
        case open
        case end(TweakSession.Reason)
    }

    private(set) var state: TweakSession.State = .created

    /// Applies a step.
    /// - Returns: False if the step is invalid in this state; then nothing has changed.
    mutating func apply(_ transition: Transition) -> Bool {
        switch (state, transition) {
        case (.created, .identify): state = .opening
        case (.opening, .open): state = .open
        case (.created, .end(let reason)), (.opening, .end(let reason)): state = .failed(reason)
        case (.open, .end(let reason)): state = .closed(reason)
        default: return false
        }
        return true
    }

    var isOpen: Bool { state == .open }
}

extension TweakSession.State {
    /// The reason it ended; nil while it has not.
    package var reason: TweakSession.Reason? {
        switch self {
        case .closed(let reason), .failed(let reason): reason
        case .created, .opening, .open: nil
        }
    }

    var word: String {
        switch self {
        case .created: "created"
        case .opening: "opening"
        case .open: "open"
        case .closed: "closed"
        case .failed: "failed"
        }
    }
}

/// One piece of work at a time: replies come in the order of the requests. Only replaced as a whole, so that reading it
/// is cheap.
indirect enum Work {
    case idle
    case running(Running)
    /// The request visits many tweaks, in slices.
    case sweeping(Sweep, of: Request)
    /// A wrong token is answered with this error after a delay.
    case authenticationDelay(TweakError)
    /// The session was ended from outside during work that now has its reply; this error comes next.
    case closing(TweakError)

    struct Running {
        enum Kind { case request, action, reload }

        var kind = Kind.request
        var command = ""
        /// Revokes the work with the rights behind it.
        var cancellation: CancellationFlag?
        /// The change that is written before it takes effect.
        var proposal: Proposal?
        var isAwaitingAudit = false
        /// Whether it is a change, whose refusal is an event.
        var isChange = false
        /// The error after the reply, which is the last one.
        var closeReason: TweakError?

        init(_ kind: Kind = .request, _ cancellation: CancellationFlag? = nil) {
            self.kind = kind
            self.cancellation = cancellation
        }
    }

    var isBusy: Bool {
        switch self {
        case .idle, .closing: false
        case .running, .sweeping, .authenticationDelay: true
        }
    }

    /// The error to send before anything else begins.
    var nextCloseReason: TweakError? { if case .closing(let error) = self { error } else { nil } }

    var running: Running? { if case .running(let running) = self { running } else { nil } }

    /// The error to send at the end, if the session was ended during work.
    var closeReason: TweakError? {
        switch self {
        case .closing(let error): error
        case .running(let running): running.closeReason
        case .idle, .sweeping, .authenticationDelay: nil
        }
    }

    var isSweeping: Bool { if case .sweeping = self { true } else { false } }

    /// Whether events wait for its reply: those of a reload, and those newer than the values that a watch shows.
    var delaysEvents: Bool {
        switch self {
        case .running(let running): running.kind == .reload
        case .sweeping(let sweep, _): sweep.isContinuation
        case .idle, .authenticationDelay, .closing: false
        }
    }

    var memorySize: Int {
        switch self {
        case .running(let running): running.proposal?.memorySize ?? 0
        case .sweeping(let sweep, _): sweep.memorySize
        case .idle, .authenticationDelay, .closing: 0
        }
    }

    /// Returns the work with its running part changed, if there is one.
    func updated(_ body: (inout Running) -> Void) -> Work {
        guard case .running(var running) = self else { return self }
        body(&running)
        return .running(running)
    }

    /// Returns the work with its next stage, for the same request.
    func continuing(with next: Running) -> Work {
        updated { running in
            running.kind = next.kind
            running.proposal = next.proposal
            running.isAwaitingAudit = next.isAwaitingAudit
        }
    }

    /// Returns the work after the running part got its reply.
    var ended: Work {
        guard case .running(let running) = self else { return self }
        return running.closeReason.map { .closing($0) } ?? .idle
    }
}

/// A table of sessions, used on the I/O thread only. A descriptor's number is reused as soon as it is closed.
final class SessionTable {
    private var slots: [Session?] = []
    private(set) var count = 0
    /// The number of ended sessions that only wait for their peer to close.
    var lingeringCount = 0
    private var newest: UInt64 = 0
    /// Sessions with higher numbers were opened in this round.
    private var newestBeforeRound: UInt64 = 0

    var all: [Session] { slots.compactMap(\.self) }

    subscript(descriptor: Int32) -> Session? {
        let position = Int(descriptor)
        return slots.indices.contains(position) ? slots[position] : nil
    }

    func makeNumber() -> UInt64 {
        newest += 1
        return newest
    }

    func insert(_ session: Session) {
        let position = Int(session.id.descriptor)
        while slots.count <= position { slots.append(nil) }
        slots[position] = session
        count += 1
    }

    func remove(_ session: Session) {
        slots[Int(session.id.descriptor)] = nil
        count -= 1
    }

    func beginRound() { newestBeforeRound = newest }

    /// Whether it was opened after the last wait.
    func isFromThisRound(_ session: Session) -> Bool { session.id.number > newestBeforeRound }
}
