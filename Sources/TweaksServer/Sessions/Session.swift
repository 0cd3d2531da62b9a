// One connection: what it has said, what it is owed, what it watches.

import Tweaks
import TweaksWire

/// The state of one client. Touched by the I/O thread alone.
final class Session {
    /// Where a session stands in its life.
    enum Phase: Equatable {
        case open
        /// Everything was said; after the last byte is sent, input is read and thrown away until the peer closes.
        case draining(discarded: Int)
        case closed
    }

    let id: SessionID
    let descriptor: Descriptor
    /// Who makes the changes of this session.
    let origin: TweakOrigin
    /// The user behind a Unix socket is not one of ours.
    let isDenied: Bool

    var phase = Phase.open
    var reader: LineReader
    var encoder = ReplyEncoder()
    var output = OutputBuffer()
    /// The rest of a long reply.
    var remainder: ReplyEncoder.Remainder?
    /// An action is running for this session; its reply comes first.
    var isAwaitingAction = false
    /// The peer has closed its sending side.
    var inputHasEnded = false
    /// The sending side was shut down.
    var outputHasEnded = false
    /// Lines may be waiting in the reader.
    var hasLines = false
    /// A complete line has come.
    var hasSentLine = false
    /// It has shown that it speaks this protocol: a command was accepted, or the first line was empty.
    var isProven = false
    /// A person: banner and prompt.
    var isInteractive = false
    /// A telnet client has interrupted, and the mark behind that has not come yet.
    var awaitsMark = false
    var batch: PendingBatch?
    var watches: [Watch] = []
    /// Events that did not fit the output, folded.
    var pendingEvents = FoldingQueue(threshold: 0)
    var foldedEvents = 0
    /// Events were written behind a prompt; it has to be written again.
    var isInEvents = false
    /// It is in the list of those told in this round.
    var isTold = false
    var interest: PollInterest = .read
    var lastActivity: ContinuousClock.Instant
    let openedAt: ContinuousClock.Instant

    init(
        id: SessionID, descriptor: Descriptor, origin: TweakOrigin, isDenied: Bool, lineLimit: Int,
        now: ContinuousClock.Instant
    ) {
        self.id = id
        self.descriptor = descriptor
        self.origin = origin
        self.isDenied = isDenied
        reader = LineReader(limit: lineLimit)
        lastActivity = now
        openedAt = now
    }

    var isOpen: Bool { phase == .open }

    /// Whether the next line may be begun: replies come in the order of the requests, each whole.
    func mayBegin(unsentLimit: Int) -> Bool {
        isOpen && !isAwaitingAction && remainder == nil && output.count < unsentLimit
    }

    // MARK: Writing

    /// Writes a reply, or the beginning of a long one.
    func send(_ reply: Reply) {
        output.append { remainder = encoder.append(reply, to: &$0) }
        if remainder == nil { replyEnded() }
    }

    /// Writes the reply to a plain get or set; without a line nothing has changed.
    func send(_ line: TweakLine?, revision: UInt64?) {
        output.append { encoder.appendText(line, revision: revision, unchanged: line == nil, to: &$0) }
        sendPrompt()
    }

    /// Goes on with a long reply.
    func sendMore(budget: Int) {
        guard let rest = remainder else { return }
        output.append { remainder = encoder.append(rest, budget: budget, to: &$0) }
        if remainder == nil { replyEnded() }
    }

    private func replyEnded() {
        if isOpen { sendPrompt() }
    }

    /// The prompt of an interactive session.
    func sendPrompt() {
        if isInteractive, !encoder.isJSON { output.append { $0.append("> ") } }
    }

    // MARK: Events

    /// Takes a change that this session watches: sends it, or keeps the newest of each tweak while it reads slowly.
    func offer(_ change: FeedChange, _ encoded: EventCache, unsentLimit: Int) {
        guard isOpen else { return }
        if remainder != nil || !pendingEvents.isEmpty || output.count >= unsentLimit {
            pendingEvents.append(change)
        } else {
            send(change, encoded)
            sayLagged(change.revision)
        }
    }

    /// Sends kept events as far as there is room.
    func sendPendingEvents(unsentLimit: Int) {
        guard isOpen, remainder == nil, !pendingEvents.isEmpty else { return }
        var revision: UInt64 = 0
        while output.count < unsentLimit, let change = pendingEvents.popFirst() {
            revision = change.revision
            send(change, EventCache())
        }
        if pendingEvents.isEmpty { sayLagged(revision) }
    }

    private func send(_ change: FeedChange, _ encoded: EventCache) {
        beginEvents()
        foldedEvents += change.folded
        output.append(encoded.bytes(of: change, encoder))
    }

    /// Says how many changes were folded away, once all that is newer has been sent.
    private func sayLagged(_ revision: UInt64) {
        if foldedEvents == 0 { return }
        output.append { encoder.append(.lagged(revision: revision, count: foldedEvents), to: &$0) }
        foldedEvents = 0
    }

    private func beginEvents() {
        if isInEvents || !isInteractive || encoder.isJSON { return }
        isInEvents = true
        output.append { encoder.endLine(&$0) }
    }

    /// Writes the prompt again behind events.
    func endEvents() {
        if !isInEvents { return }
        isInEvents = false
        sendPrompt()
    }
}

/// One pattern that a session watches.
struct Watch {
    let text: String
    let pattern: TweakPattern?
    /// The path, where the text is one: then that tweak alone.
    let path: TweakPath?
    /// Changes up to this revision were part of the reply to `watch`.
    let since: UInt64

    func matches(_ path: TweakPath) -> Bool { self.path.map { $0 == path } ?? pattern?.matches(path) ?? false }
}

/// One event, encoded at most once for each dialect however many sessions watch it.
final class EventCache {
    private var encoded: [Int: [UInt8]] = [:]

    func bytes(of change: FeedChange, _ encoder: ReplyEncoder) -> [UInt8] {
        let dialect = (encoder.isJSON ? 1 : 0) + (encoder.usesCRLF ? 2 : 0)
        if let bytes = encoded[dialect] { return bytes }
        var bytes: [UInt8] = []
        encoder.append(.change(change), to: &bytes)
        encoded[dialect] = bytes
        return bytes
    }
}
