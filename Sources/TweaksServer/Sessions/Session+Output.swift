// Sends a session its replies and events, at the speed at which it reads.

import Tweaks
import TweaksWire

extension Session {
    /// Writes a reply or the start of a long one, or queues it until the disk has its revision.
    func send(_ reply: Reply) {
        if reply.durableRevision == nil, replies.isEmpty { return write(reply, dialect.encoder) }
        replies.append(reply, dialect.encoder)
    }

    /// Writes the replies that are ready, while there is room.
    func sendReadyReplies(_ durability: DurabilityTracker, unsentLimit: Int) {
        replies.mayHaveReadyReplies = false
        while replies.rest == nil, !replies.queueIsEmpty {
            if output.count >= unsentLimit { return replies.mayHaveReadyReplies = true }
            guard let (reply, encoder) = replies.popReady(durability) else { return }
            write(reply, encoder)
        }
    }

    private func write(_ reply: Reply, _ encoder: ReplyEncoder) {
        var rest: ReplyEncoder.Remainder?
        output.append { rest = dialect.write(reply, encoder, to: &$0) }
        if let rest { replies.begin(rest, of: reply) } else { replyEnded() }
    }

    func sendMore(budget: Int) {
        guard let rest = replies.rest else { return }
        var more: ReplyEncoder.Remainder?
        output.append { more = dialect.write(rest, budget: budget, to: &$0) }
        replies.updateRest(to: more)
        if more == nil { replyEnded() }
    }

    private func replyEnded() {
        if isOpen { sendPrompt() }
    }

    func sendPrompt() {
        if isInteractive { output.append { appendPrompt(to: &$0) } }
    }

    /// Appends the prompt of an interactive session; a star marks an open batch.
    func appendPrompt(to bytes: inout [UInt8]) {
        // A waiting reply will be followed by its own prompt.
        guard isInteractive, !dialect.encoder.isJSON, replies.queueIsEmpty else { return }
        bytes.append(batch == nil ? "> " : "*> ")
    }

    /// Replaces values that were read for this session and not sent yet by an error.
    func withhold(_ error: TweakError) {
        replies.withhold(error)
        guard let rest = replies.rest.take() else { return }
        output.append { dialect.abort(rest, error, to: &$0) }
        if isOpen { sendPrompt() }
    }

    func leavePrompt() {
        let encoder = dialect.encoder
        if isInteractive, !encoder.isJSON { output.append { encoder.endLine(&$0) } }
    }

    func forgetOutput() {
        replies = PendingReplies()
        events = PendingEvents(watchBytes: events.watchBytes, at: events.position)
        batch = nil
        dialect.forgetInput()
        isInteractive = false
        let encoder = dialect.encoder
        if output.forget() { output.append { encoder.endLine(&$0) } }
    }
}

/// Events that wait for buffer space or for a reply.
struct PendingEvents: ~Copyable {
    /// The bytes of memory that the watched patterns hold.
    var watchBytes = 0
    /// The place in the feed; nil if the session watches nothing.
    var position: WatchPosition?
    /// Changes up to this sequence may have been part of a reply to `watch`.
    var shownThrough: UInt64 = 0
    /// Events about the session's own rights.
    var notices: [Event] = []
    /// Whether events interrupted a prompt, which has to be sent again.
    fileprivate var interruptedPrompt = false
    /// The list of tweaks last reported to a stream: the registry's generation, and a hash of what it sees.
    var sentListing: (generation: UInt64, seen: Int)?

    init(watchBytes: Int = 0, at position: WatchPosition? = nil) {
        self.watchBytes = watchBytes
        self.position = position
    }

    fileprivate var areUnread: Bool { position?.isBehind ?? false }

    var areWaiting: Bool { areUnread || !notices.isEmpty || interruptedPrompt }
    var memorySize: Int { watchBytes }
}

extension Session {
    /// Whether pending events can be sent, given room.
    var hasEvents: Bool {
        isOpen && replies.isEmpty && !work.delaysEvents && (events.areUnread || !events.notices.isEmpty)
    }

    /// Sends pending events while there is room.
    func sendPendingEvents(unsentLimit: Int) {
        guard hasEvents else { return }
        sendNotices()
        // Moved out, because the session is asked meanwhile.
        guard var position = events.position.take() else { return }
        var visited = 0
        while output.count < unsentLimit, visited < Self.maxVisited, let (entry, isEvent) = position.readEntry() {
            visited += 1
            guard isEvent, wants(entry.change), sees(entry.change.node) else { continue }
            beginEvents()
            let line = position.event(entry, dialect.encoder)
            output.append { dialect.write(entry.event, line: line, to: &$0) }
        }
        // After all newer values.
        if !position.isBehind { sendLagged(position.takeFolded(), position.revision) }
        events.position = position
    }

    /// The maximum number of entries to visit before other sessions are served.
    private static let maxVisited = 1_024

    /// Whether a change is news: not if the reply to `watch` has shown it.
    private func wants(_ change: WatchedChange) -> Bool {
        if change.sequence > events.shownThrough { return true }
        return watches.allSatisfy { $0.since < change.sequence || !$0.matches(change.node) }
    }

    private func sendNotices() {
        if events.notices.isEmpty { return }
        beginEvents()
        for notice in events.notices { send(notice) }
        events.notices = []
    }

    /// Reports how many changes were folded.
    private func sendLagged(_ count: Int, _ revision: UInt64) {
        if count == 0 { return }
        beginEvents()
        send(.lagged(revision: revision, count: count))
    }

    private func send(_ event: Event) {
        var line: [UInt8] = []
        dialect.encoder.append(event, to: &line)
        output.append { dialect.write(event, line: line, to: &$0) }
    }

    private func beginEvents() {
        if events.interruptedPrompt || !isInteractive || dialect.encoder.isJSON { return }
        events.interruptedPrompt = true
        leavePrompt()
    }

    /// Sends the prompt again after events.
    func endEvents() {
        if !events.interruptedPrompt { return }
        events.interruptedPrompt = false
        sendPrompt()
    }
}

/// A queue of replies, each with the encoder of its request.
struct PendingReplies: ~Copyable {
    private var queue: [(reply: Reply, encoder: ReplyEncoder)] = []
    private var head = 0
    private var queueBytes = 0
    /// The rest of a long reply, which comes first.
    var rest: ReplyEncoder.Remainder?
    private var restBytes = 0
    /// Whether the session is registered to be resumed when the disk makes progress.
    var isAwaitingDurability = false
    /// Whether queued replies may be ready that had no room or followed a long reply.
    var mayHaveReadyReplies = false

    var memorySize: Int { queueBytes + (rest == nil ? 0 : restBytes) }

    /// The bytes of snapshots that it shares with others.
    var pinnedBytes: Int { queue[head...].reduce(rest?.pin?.bytes ?? 0) { $0 + ($1.reply.pin?.bytes ?? 0) } }

    private static let limit = 1_024
    /// The maximum size of waiting replies, in bytes.
    private static let maxQueueBytes = 1_048_576

    var queueIsEmpty: Bool { head == queue.count }
    var isEmpty: Bool { rest == nil && queueIsEmpty }

    /// Whether another reply may be added.
    /// - Parameter pipelined: Whether it may be queued behind others.
    func haveRoom(pipelined: Bool) -> Bool {
        if rest != nil { return false }
        return queueIsEmpty || pipelined && queue.count - head < Self.limit && queueBytes < Self.maxQueueBytes
    }

    mutating func append(_ reply: Reply, _ encoder: ReplyEncoder) {
        queue.append((reply, encoder))
        queueBytes += reply.memorySize
    }

    mutating func begin(_ rest: ReplyEncoder.Remainder, of reply: Reply) {
        self.rest = rest
        restBytes = reply.memorySize
    }

    mutating func updateRest(to rest: ReplyEncoder.Remainder?) {
        self.rest = rest
        // The disk may already hold what the next replies wait for, and does not report it again.
        if rest == nil { mayHaveReadyReplies = !queueIsEmpty }
    }

    /// Replaces replies that show values by an error; replies to changes stay.
    mutating func withhold(_ error: TweakError) {
        for index in queue.indices.dropFirst(head) where queue[index].reply.isReading {
            queueBytes -= queue[index].reply.memorySize
            queue[index].reply = .error(error)
            queueBytes += queue[index].reply.memorySize
        }
    }

    /// Removes and returns the first reply if it is ready, with the reason if disk or audit have refused.
    mutating func popReady(_ durability: DurabilityTracker) -> (Reply, ReplyEncoder)? {
        guard head < queue.count else { return nil }
        let (reply, encoder) = queue[head]
        var ready = reply
        if let revision = reply.durableRevision {
            let answer = durability.answer(for: revision, onDisk: reply.waitsForDisk)
            guard case .ready(let unsaved, let unaudited) = answer else { return nil }
            ready = reply.lacking(unsaved: unsaved, unaudited: unaudited)
        }
        head += 1
        queueBytes -= reply.memorySize
        if head == queue.count || head >= Self.limit { compact() }
        return (ready, encoder)
    }

    private mutating func compact() {
        queue.removeSubrange(..<head)
        head = 0
    }
}

extension Reply {
    /// Whether it shows values and has changed nothing.
    fileprivate var isReading: Bool {
        if case .none = body { false } else { durableRevision == nil }
    }
}

/// A queue of unsent bytes.
struct OutputBuffer: ~Copyable {
    private(set) var bytes: [UInt8] = []
    private var head = 0
    /// Whether the byte sent last ended a line, or none was sent.
    private var isAtLineStart = true
    /// The bytes that were sent since the kernel was asked how many it keeps.
    private var unchecked = 0

    var memorySize: Int { bytes.capacity }

    var count: Int { bytes.count - head }
    var isEmpty: Bool { head == bytes.count }

    mutating func append(_ body: (inout [UInt8]) -> Void) { body(&bytes) }

    mutating func append(_ more: [UInt8]) { bytes.append(contentsOf: more) }

    /// Sends as much as the socket accepts.
    /// - Parameter most: The kernel's send buffer, and the maximum bytes of one call: TCP takes all bytes of a call into a
    ///   buffer that has any room, and beyond that adds to its last packet up to 64 KiB.
    mutating func send(to descriptor: Descriptor, atMost most: Int) -> Descriptor.Transfer {
        if bytes.isEmpty { return .bytes(0) }
        while !isEmpty {
            if unchecked >= most {
                // The poller reports the socket when this is less.
                if Platform.unsentBytes(descriptor.number) >= most {
                    compact()
                    return .wouldBlock
                }
                unchecked = 0
            }
            let result = bytes.withUnsafeBytes { all in
                descriptor.write(UnsafeRawBufferPointer(rebasing: all[head...].prefix(most)))
            }
            guard case .bytes(let count) = result else {
                compact()
                return result
            }
            head += count
            unchecked += count
        }
        if let last = bytes.last { isAtLineStart = last == UInt8(ascii: "\n") }
        // An idle session must not keep the buffer of a long reply.
        bytes.removeAll(keepingCapacity: bytes.capacity <= 4_096)
        head = 0
        return .bytes(0)
    }

    private mutating func compact() {
        if head < 65_536 { return }
        isAtLineStart = bytes[head - 1] == UInt8(ascii: "\n")
        bytes.removeSubrange(..<head)
        head = 0
    }

    /// Discards unsent bytes.
    /// - Returns: Whether a partial line was sent.
    mutating func forget() -> Bool {
        if head > 0 { isAtLineStart = bytes[head - 1] == UInt8(ascii: "\n") }
        bytes = []
        head = 0
        return !isAtLineStart
    }
}
