// Defines the state of one connection: client, input, pending replies, watches.

import Tweaks
import TweaksSystem
import TweaksWire

/// The state of one client. Used on the I/O thread only.
final class Session {
    let id: SessionID
    /// The protocol spoken on the connection.
    let dialect: any SessionDialect
    var connection: Connection
    var identity: Identity
    /// The origin of the session's changes: the peer, or the token shown last.
    var origin: TweakOrigin
    var credentials = Credentials()
    /// Its rights, with their sources.
    var grants = Grants()
    /// The accounts that it is charged to.
    let accounts = SessionAccounts()
    var input: Input
    /// Whether it has banner and prompt.
    var isInteractive = false
    /// Its work in progress.
    var work = Work.idle
    var batch: PendingBatch?
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
        /// The size of the kernel's send buffer.
        var sendBytes = Int.max
        /// The size of the kernel's receive buffer; 0 where it is the peer's.
        var receiveBytes = 0
        /// The bytes counted for the kernel's send buffer while that is full.
        var kernelBytes = 0
        /// The bytes counted for its receive buffer while that is not read.
        var unreadBytes = 0
        /// Whether it had too many unsent bytes at the last check.
        var isFull = false
        /// Whether the sending side was shut down.
        var outputHasEnded = false
        /// Whether it is queued for a turn.
        var isRunnable = false
        /// Whether it waits for a turn to read the feed of changes.
        var isDue = false
    }

    /// The client at the other end.
    struct Identity {
        var peer: Peer
        /// The name that the user gives.
        var name: DisplayName?
        /// The ID of the browser window that the client reports; its connections are one session to users.
        var windowID: String?
        /// The window, after the client has shown a token.
        var window: BrowserWindow?
        /// Whether the user of a Unix socket has no access.
        let isDenied: Bool
    }

    /// The state of the input.
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

    /// The session's changes to tweaks.
    struct Changes {
        /// The number of its commits.
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

    /// Whether it has this right on a path.
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
