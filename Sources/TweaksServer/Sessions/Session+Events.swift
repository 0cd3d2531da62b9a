// Sends a session the events that it watches for, as far as it reads them.

import Tweaks
import TweaksWire

/// Events that wait for room, or for a reply.
struct PendingEvents: ~Copyable {
    /// What a session's patterns take in memory.
    var watchBytes = 0
    /// Those that did not fit the output, folded.
    fileprivate(set) var changes = FoldingQueue(threshold: 0)
    fileprivate var folded = 0
    /// News about its own rights.
    var notices: [Event] = []
    /// Events were written behind a prompt; it has to be written again.
    fileprivate var standBehindPrompt = false
    /// The list of tweaks that a stream was told of: the generation of the registry, and what it sees of that.
    var toldListing: (generation: UInt64, seen: Int)?

    init(watchBytes: Int = 0) { self.watchBytes = watchBytes }

    var areWaiting: Bool { !changes.isEmpty || !notices.isEmpty || standBehindPrompt }
    var heldBytes: Int { watchBytes + changes.heldBytes }
}

extension Session {
    /// Takes a change that this session watches: sends it, or keeps the newest of each tweak while it reads slowly.
    func offer(_ change: WatchedChange, _ encoded: EventCache, unsentLimit: Int) {
        guard isOpen else { return }
        if !replies.queueIsEmpty || work.isReload {
            // It does not read slowly: it waits for the disk, or the reload, and its events for its reply.
            events.changes.append(change, threshold: 1_024)
        } else if replies.rest != nil || !events.changes.isEmpty || output.count >= unsentLimit {
            events.changes.append(change)
        } else if change.isLong, output.count >= ReplyEncoder.slice {
            // Nor this one: to write many of them at once takes time that the others wait.
            events.changes.append(change, threshold: 64)
        } else {
            send(change, encoded)
            sayLagged(change.revision)
        }
    }

    /// Whether kept events can be sent, if there is room.
    var hasEvents: Bool {
        isOpen && replies.isEmpty && !work.isReload && !(events.changes.isEmpty && events.notices.isEmpty)
    }

    /// Sends kept events as far as there is room.
    func sendPendingEvents(unsentLimit: Int) {
        guard hasEvents else { return }
        sendNotices()
        var revision: UInt64 = 0
        while output.count < unsentLimit, let change = events.changes.popFirst() {
            if !sees(change.node) { continue }
            revision = change.revision
            send(change, EventCache())
        }
        if events.changes.isEmpty { sayLagged(revision) }
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

    /// Says how many changes were folded away, once all that is newer has been sent.
    private func sayLagged(_ revision: UInt64) {
        if events.folded == 0 { return }
        send(.lagged(revision: revision, count: events.folded))
        events.folded = 0
    }

    private func beginEvents() {
        if events.standBehindPrompt || !isInteractive || dialect.encoder.isJSON { return }
        events.standBehindPrompt = true
        leavePrompt()
    }

    /// Writes the prompt again behind events.
    func endEvents() {
        if !events.standBehindPrompt { return }
        events.standBehindPrompt = false
        sendPrompt()
    }
}

/// One event, encoded at most once for each way of writing it, however many sessions watch it.
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
    /// Whether its line is: a value is a text of some length.
    fileprivate var isLong: Bool {
        if case .string(let text) = new { text.utf8.count > 1_024 } else { false }
    }
}
