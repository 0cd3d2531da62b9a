// One connection: what it has said, what it is owed, what it watches.

import Tweaks
import TweaksWire

/// The state of one client. Touched by the I/O thread alone.
final class Session {
    /// Where its connection stands; the session's life is another matter.
    enum Phase: Equatable {
        case open
        /// Everything was said; after the last byte is sent, input is read and thrown away until the peer closes.
        case draining(discarded: Int)
        case closed
    }

    let id: SessionID
    let descriptor: Descriptor
    /// How it is spoken with; nil: by lines.
    let dialect: (any SessionDialect)?
    /// Who is at the other end.
    var peer: Peer
    /// Who makes the changes of this session: the peer, or the token that it has shown last.
    var origin: TweakOrigin
    /// The name that the person there gives.
    var name: PersonName?
    /// What its page calls the window that it is in; its connections are one session to people.
    var windowID: String?
    /// That window, where it has shown a token.
    var window: Window?
    /// The user behind a Unix socket is not one of ours.
    let isDenied: Bool

    var phase = Phase.open
    /// Where it stands; the executor takes the steps.
    var life = SessionLife()
    /// What it may do, and why.
    var grants = Grants()
    /// The tokens that it has shown and that are still good, the last one last.
    var tokens: [TokenEntry] = []
    /// It has been sent a challenge, and not answered that yet.
    var exchange: Scram.Server?
    /// Only a token lets it be here.
    var needsToken = false
    /// Wrong tokens that it has shown.
    var failures = 0
    /// What it has asked for, and what became of that.
    var wishes = Wishes()
    /// Who pays for what it takes: the token that it has shown last, or the peer.
    var account = Account("") {
        didSet {
            guard isCounted, account !== oldValue else { return }
            oldValue.sessions -= 1
            account.sessions += 1
            oldValue.heldBytes -= heldBytes
            account.heldBytes += heldBytes
        }
    }
    /// Those of the other tokens that it has shown: they make its commits, too.
    var otherAccounts: [Account] = [] {
        didSet {
            for account in oldValue { account.guests -= 1 }
            for account in otherAccounts { account.guests += 1 }
        }
    }
    /// It is one of its account's sessions.
    var isCounted = false {
        didSet { if isCounted != oldValue { account.sessions += isCounted ? 1 : -1 } }
    }
    /// A request has come of which this protocol can make something, whatever became of it.
    var hasAsked = false
    /// How many commits it has made.
    var commits: UInt64 = 0
    /// A wrong token costs time; this is the answer then.
    var penalty: TweakError?
    /// It was ended from outside, and gets this when the action under way has its reply.
    var farewell: TweakError?
    var reader: LineReader
    var encoder = ReplyEncoder()
    var output = OutputBuffer()
    /// The rest of a long reply.
    var remainder: ReplyEncoder.Remainder?
    private(set) var remainderBytes = 0
    /// Replies that wait for the disk, and those behind them.
    var owed = OwedReplies()
    /// Some of these may be ready, and there was no room for them, or a long reply came first.
    var isSettling = false
    /// An action, a reload or a write is under way for this session; its reply comes first.
    var isAwaitingAction = false
    /// It is an action that is under way.
    var isRunningAction = false
    /// What is under way was allowed; it ends with the right to it.
    var permit: WorkPermit?
    /// It is a change that is under way: its refusal is an event.
    var isChanging = false
    /// It is a reload that is under way: what that changes is told after its reply.
    var isReloading = false
    /// The change that is being written before it takes effect.
    var proposal: Proposal?
    /// The peer has closed its sending side.
    var inputHasEnded = false
    /// The sending side was shut down.
    var outputHasEnded = false
    /// It waits for its turn.
    var isRunnable = false
    /// Lines may be waiting in the reader.
    var hasLines = false
    /// When the request began that is not whole yet, where there is a dialect.
    var requestBegan: Moment?
    /// There is a timer for it.
    var hasRequestTimer = false
    /// The gesture that its changes are part of; 0: none.
    var gesture: UInt64 = 0
    /// Its replies wait for the disk.
    var waitsForDisk = true
    /// The list of tweaks that it was told of: the generation of the registry, and what it sees of that.
    var toldListing: (generation: UInt64, seen: Int)?
    /// A complete line has come.
    var hasSentLine = false
    /// It has shown that it speaks this protocol: a command was accepted, or the first line was empty.
    var isProven = false
    /// A person: banner and prompt.
    var isInteractive = false
    /// A telnet client has interrupted, and the mark behind that has not come yet.
    var awaitsMark = false
    var batch: PendingBatch?
    var watches: [Watch] = [] {
        didSet { watchBytes = watches.reduce(0) { $0 + 256 + 2 * $1.subject.text.utf8.count } }
    }
    private(set) var watchBytes = 0
    /// What the scopes have that it has asked for and given up.
    var scopeBytes = 0
    /// What it held when that was last looked at.
    var heldBytes = 0
    /// Events that did not fit the output, folded.
    var pendingEvents = FoldingQueue(threshold: 0)
    var foldedEvents = 0
    /// News about its own rights.
    var notices: [Event] = []
    /// Events were written behind a prompt; it has to be written again.
    var isInEvents = false
    /// It is in the list of those told in this round.
    var isTold = false
    var interest: PollInterest = .read
    /// It had too much unsent when that was last looked at.
    var isFull = false
    var lastActivity: Moment
    let openedAt: Moment

    init(
        id: SessionID, descriptor: Descriptor, peer: Peer, isDenied: Bool, lineLimit: Int,
        now: Moment, dialect: (any SessionDialect)? = nil
    ) {
        self.id = id
        self.descriptor = descriptor
        self.dialect = dialect
        encoder.isJSON = dialect != nil
        self.peer = peer
        origin = peer.origin
        self.isDenied = isDenied
        reader = LineReader(limit: lineLimit)
        lastActivity = now
        openedAt = now
    }

    /// What people call it: the number of its window, where it is in one.
    var number: UInt64 { window?.number ?? id.number }

    var isOpen: Bool { phase == .open }

    /// It has shown who it is, or need not, and has not ended.
    var isAdmitted: Bool { life.isOpen }

    /// Whether a tweak or action is there for it. Asked for each event, too: rights may have been taken away since the
    /// watch began.
    func sees(_ node: TweakNode) -> Bool { isAdmitted && grants.rights.sees(node) }

    /// Whether it may do this with a tweak.
    func may(_ kind: TweakScope.Kind, _ path: TweakPath) -> Bool { isAdmitted && grants.rights.allows(kind, path) }

    /// How many bytes have come of which nothing was made yet.
    var inputCount: Int { dialect?.inputCount ?? reader.count }

    /// Whether the next line may be begun: replies come in the order of the requests, each whole.
    func mayBegin(unsentLimit: Int) -> Bool {
        // A dialect is told of replies one by one.
        isOpen && !isAwaitingAction && remainder == nil && output.count < unsentLimit
            && (dialect == nil ? !owed.isFull : owed.isEmpty)
    }

    // MARK: Writing

    /// Writes a reply, or the beginning of a long one; or keeps it until the disk has what it promises.
    func send(_ reply: Reply) {
        if reply.awaits == nil, owed.isEmpty { return write(reply, encoder) }
        owed.append(reply, encoder)
    }

    /// Writes the replies that need wait no longer, as far as there is room.
    func settle(_ status: SaveStatus?, unsentLimit: Int) {
        isSettling = false
        while remainder == nil, !owed.isEmpty {
            if output.count >= unsentLimit { return isSettling = true }
            guard let (reply, encoder) = owed.popReady(status) else { return }
            write(reply, encoder)
        }
    }

    private func write(_ reply: Reply, _ encoder: ReplyEncoder) {
        output.append { bytes in
            remainder = dialect.map { $0.write(reply, to: &bytes) } ?? encoder.append(reply, to: &bytes)
        }
        if remainder == nil { replyEnded() } else { remainderBytes = reply.heldBytes }
    }

    /// Writes the reply to a plain get or set; without a line nothing has changed.
    func send(_ line: TweakLine?, revision: UInt64?) {
        output.append { encoder.appendText(line, revision: revision, unchanged: line == nil, to: &$0) }
        sendPrompt()
    }

    /// Goes on with a long reply.
    func sendMore(budget: Int) {
        guard let rest = remainder else { return }
        output.append { bytes in
            remainder =
                dialect.map { $0.write(rest, budget: budget, to: &bytes) }
                ?? encoder.append(rest, budget: budget, to: &bytes)
        }
        guard remainder == nil else { return }
        replyEnded()
        // The disk may have what those behind it wait for, and does not say so again.
        isSettling = !owed.isEmpty
    }

    private func replyEnded() {
        if isOpen { sendPrompt() }
    }

    /// Whether everything that was asked for has been answered.
    var owesNothing: Bool { owed.isEmpty && remainder == nil }

    /// The prompt of an interactive session; a star says that a batch is open.
    func sendPrompt() {
        // Behind an owed reply comes a prompt of its own.
        if isInteractive, !encoder.isJSON, owed.isEmpty { output.append { $0.append(batch == nil ? "> " : "*> ") } }
    }
}
