// Sends a session the events that it watches, at the speed at which it reads.

import Tweaks
import TweaksWire

/// Events that wait for buffer space or for a reply.
struct PendingEvents: ~Copyable {
    /// The bytes of memory that the watched patterns hold.
    var watchBytes = 0
    /// Folded changes that did not fit into the output.
    fileprivate(set) var changes = FoldingQueue(threshold: 0)
    fileprivate var folded = 0
    /// Events about the session's own rights.
    var notices: [Event] = []
    /// Whether events interrupted a prompt, which has to be sent again.
    fileprivate var interruptedPrompt = false
    /// The list of tweaks last reported to a stream: the registry's generation, and a hash of what it sees.
    var sentListing: (generation: UInt64, seen: Int)?

    init(watchBytes: Int = 0) { self.watchBytes = watchBytes }

    var areWaiting: Bool { !changes.isEmpty || !notices.isEmpty || interruptedPrompt }
    var memorySize: Int { watchBytes + changes.memorySize }
}

extension Session {
    /// Sends a watched change, or keeps only the newest of each tweak while the client reads slowly.
    func offer(_ change: WatchedChange, _ encoded: EventCache, unsentLimit: Int) {
        guard isOpen else { return }
        if !replies.queueIsEmpty || work.isReload {
            // The client is not slow: its events wait behind a reply that waits for the disk or a reload.
            events.changes.append(change, threshold: 1_024)
        } else if replies.rest != nil || !events.changes.isEmpty || output.count >= unsentLimit {
            events.changes.append(change)
        } else if change.isLong, output.count >= ReplyEncoder.slice {
            // Nor is this one: writing many long values at once would block other sessions.
            events.changes.append(change, threshold: 64)
        } else {
            send(change, encoded)
            sendLagged(change.revision)
        }
    }

    /// Whether pending events can be sent, given room.
    var hasEvents: Bool {
        isOpen && replies.isEmpty && !work.isReload && !(events.changes.isEmpty && events.notices.isEmpty)
    }

    /// Sends pending events while there is room.
    func sendPendingEvents(unsentLimit: Int) {
        guard hasEvents else { return }
        sendNotices()
        var revision: UInt64 = 0
        while output.count < unsentLimit, let change = events.changes.popFirst() {
            if !sees(change.node) { continue }
            revision = change.revision
            send(change, EventCache())
        }
        if events.changes.isEmpty { sendLagged(revision) }
    }

    private func sendNotices() {
        if events.notices.isEmpty { return }
        beginEvents()
        for notice in events.notices { send(notice) }
        events.notices = []
    }

    private func send(_ change: WatchedChange, _ encoded: EventCache) {
        beginEvents()
        events.folded += change.folded
        let line = encoded.bytes(of: change, dialect.encoder)
        output.append { dialect.write(.change(change), line: line, to: &$0) }
    }

    private func send(_ event: Event) {
        var line: [UInt8] = []
        dialect.encoder.append(event, to: &line)
        output.append { dialect.write(event, line: line, to: &$0) }
    }

    /// Reports how many changes were folded, after all newer ones were sent.
    private func sendLagged(_ revision: UInt64) {
        if events.folded == 0 { return }
        send(.lagged(revision: revision, count: events.folded))
        events.folded = 0
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

/// Caches one event in each format, however many sessions watch it.
final class EventCache {
    private var encoded: [Int: [UInt8]] = [:]

    func bytes(of change: WatchedChange, _ encoder: ReplyEncoder) -> [UInt8] {
        let way = (encoder.isJSON ? 1 : 0) + (encoder.usesCRLF ? 2 : 0)
        if let bytes = encoded[way] { return bytes }
        var bytes: [UInt8] = []
        encoder.append(.change(change), to: &bytes)
        encoded[way] = bytes
        return bytes
    }
}

extension WatchedChange {
    /// Whether its line is long because of a text value.
    fileprivate var isLong: Bool {
        if case .string(let text) = new { text.utf8.count > 1_024 } else { false }
    }
}
