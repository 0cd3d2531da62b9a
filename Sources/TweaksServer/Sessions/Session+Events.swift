// Sends a session the events that it watches, at the speed at which it reads.

import Tweaks
import TweaksWire

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

    /// Whether changes wait.
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
