// One connection: who is there, what it has said, what it is owed, what it watches.

import Tweaks
import TweaksWire

/// The state of one client. Touched by the I/O thread alone.
final class Session {
    let id: SessionID
    /// How it is spoken with.
    let dialect: any SessionDialect
    var connection: Connection
    var identity: Identity
    /// Who makes the changes of this session: the peer, or the token that it has shown last.
    var origin: TweakOrigin
    var credentials = Credentials()
    /// What it may do, and why.
    var grants = Grants()
    /// Who pays for what it takes.
    let payer = Payer()
    var input: Input
    /// A person: banner and prompt.
    var isInteractive = false
    /// What is under way for it.
    var work = Work.idle
    var batch: PendingBatch?
    var changes = Changes()
    var output = OutputBuffer()
    var replies = PendingReplies()
    var watches: [Watch] = [] {
        didSet { events.watchBytes = watches.reduce(0) { $0 + 256 + 2 * $1.subject.text.utf8.count } }
    }
    var events = PendingEvents()

    /// The socket. The session's life is another matter.
    struct Connection {
        enum Phase: Equatable {
            case open
            /// Everything was said; after the last byte is sent, input is read and thrown away until the peer closes.
            case draining(discarded: Int)
            case closed
        }

        let descriptor: Descriptor
        let openedAt: Moment
        var phase = Phase.open
        var interest: PollInterest = .read
        /// It had too much unsent when that was last looked at.
        var isFull = false
        /// The sending side was shut down.
        var outputHasEnded = false
        /// It waits for its turn.
        var isRunnable = false
        /// It is in the list of those told in this round.
        var isTold = false
    }

    /// Who is at the other end.
    struct Identity {
        var peer: Peer
        /// The name that the person there gives.
        var name: PersonName?
        /// What its page calls the window that it is in; its connections are one session to people.
        var windowID: String?
        /// That window, where it has shown a token.
        var window: Window?
        /// The user behind a Unix socket is not one of ours.
        let isDenied: Bool
    }

    /// What has come.
    struct Input {
        /// The peer has closed its sending side.
        var hasEnded = false
        /// Requests may be waiting in the dialect.
        var mayHaveMore = false
        /// A complete line has come.
        var hasSentLine = false
        /// A request has come of which its dialect can make something, whatever became of it.
        var hasAsked = false
        /// It has shown that it speaks this protocol: a command was accepted, or the first line was empty.
        var isProven = false
        var lastActivity: Moment
        /// When the request began that is not whole yet, where there is only so much time for it.
        var requestBegan: Moment?
        /// There is a timer for it.
        var hasRequestTimer = false
    }

    /// What it does to tweaks.
    struct Changes {
        /// How many commits it has made.
        var commits: UInt64 = 0
        /// The gesture that its changes are part of; 0: none.
        var gesture: UInt64 = 0
        /// Its replies wait for the disk.
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

    /// What people call it: the number of its window, where it is in one.
    var number: UInt64 { identity.window?.number ?? id.number }

    var isOpen: Bool { connection.phase == .open }

    /// It has shown who it is, or need not, and has not ended.
    var isAdmitted: Bool { credentials.life.isOpen }

    var account: Account { payer.account }

    var encoder: ReplyEncoder {
        get { dialect.encoder }
        set { dialect.use(newValue) }
    }

    /// Whether a tweak or action is there for it. Asked for each event, too: rights may have been taken away since the
    /// watch began.
    func sees(_ node: TweakNode) -> Bool { isAdmitted && grants.rights.sees(node) }

    /// Whether it may do this with a tweak.
    func may(_ kind: TweakScope.Kind, _ path: TweakPath) -> Bool { isAdmitted && grants.rights.allows(kind, path) }

    /// Whether the next request may be begun: replies come in the order of the requests, each whole.
    var mayBegin: Bool { isOpen && !work.isBusy && replies.haveRoom(pipelined: dialect.pipelines) }

    /// Whether nothing is left to be done or said, nor has been counted otherwise.
    var isAtRest: Bool {
        output.isEmpty && !input.mayHaveMore && dialect.inputCount == 0 && connection.interest == .read
            && !connection.isFull
    }

    /// Whether it can go on with what was asked before: long replies, those that have waited, events.
    var hasBacklog: Bool { !replies.isEmpty || events.areWaiting }
}
