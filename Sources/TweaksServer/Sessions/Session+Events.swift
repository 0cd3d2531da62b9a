// Sends a session the events that it watches for, as far as it reads them.

import Tweaks
import TweaksWire

extension Session {
    /// Takes a change that this session watches: sends it, or keeps the newest of each tweak while it reads slowly.
    func offer(_ change: WatchedChange, _ encoded: EventCache, unsentLimit: Int) {
        guard isOpen else { return }
        if !owed.isEmpty || isReloading {
            // It does not read slowly: it waits for the disk, or the reload, and its events for its reply.
            pendingEvents.append(change, threshold: 1_024)
        } else if remainder != nil || !pendingEvents.isEmpty || output.count >= unsentLimit {
            pendingEvents.append(change)
        } else if change.isLong, output.count >= ReplyEncoder.slice {
            // Nor this one: to write many of them at once takes time that the others wait.
            pendingEvents.append(change, threshold: 64)
        } else {
            send(change, encoded)
            sayLagged(change.revision)
        }
    }

    /// Whether kept events can be sent, if there is room.
    var hasEvents: Bool { isOpen && owesNothing && !isReloading && !(pendingEvents.isEmpty && notices.isEmpty) }

    /// Sends kept events as far as there is room.
    func sendPendingEvents(unsentLimit: Int) {
        guard hasEvents else { return }
        sendNotices()
        var revision: UInt64 = 0
        while output.count < unsentLimit, let change = pendingEvents.popFirst() {
            if !sees(change.node) { continue }
            revision = change.revision
            send(change, EventCache())
        }
        if pendingEvents.isEmpty { sayLagged(revision) }
    }

    private func sendNotices() {
        if notices.isEmpty { return }
        beginEvents()
        for notice in notices { send(notice) }
        notices = []
    }

    private func send(_ change: WatchedChange, _ encoded: EventCache) {
        beginEvents()
        foldedEvents += change.folded
        let line = encoded.bytes(of: change, encoder)
        guard let dialect else { return output.append(line) }
        output.append { dialect.write(.change(change), json: line, to: &$0) }
    }

    private func send(_ event: Event) {
        guard let dialect else { return output.append { encoder.append(event, to: &$0) } }
        var line: [UInt8] = []
        encoder.append(event, to: &line)
        output.append { dialect.write(event, json: line, to: &$0) }
    }

    /// Says how many changes were folded away, once all that is newer has been sent.
    private func sayLagged(_ revision: UInt64) {
        if foldedEvents == 0 { return }
        send(.lagged(revision: revision, count: foldedEvents))
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

/// One event, encoded at most once for each dialect however many sessions watch it.
final class EventCache {
    private var encoded: [Int: [UInt8]] = [:]

    func bytes(of change: WatchedChange, _ encoder: ReplyEncoder) -> [UInt8] {
        let dialect = (encoder.isJSON ? 1 : 0) + (encoder.usesCRLF ? 2 : 0)
        if let bytes = encoded[dialect] { return bytes }
        var bytes: [UInt8] = []
        encoder.append(.change(change), to: &bytes)
        encoded[dialect] = bytes
        return bytes
    }
}

extension WatchedChange {
    /// Whether its line is: a value is a text of some length.
    fileprivate var isLong: Bool {
        if case .string(let text) = new { text.utf8.count > 1_024 } else { false }
    }
}
