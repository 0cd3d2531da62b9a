// Groups the sessions that watch the same with the same rights, and counts their changes once for all of them.

import Tweaks
import TweaksWire

/// Sessions that get the same events. Used on the I/O thread only.
final class Audience {
    private let watches: [Watch]
    private let rights: Rights
    /// Whether a change of a layer alone is an event.
    private let showsLayers: Bool
    private(set) var members: [Session] = []
    /// The number of changes of values so far, including those that were folded before they came here.
    private(set) var count = 0
    /// The position after its newest entry.
    private(set) var end: UInt64
    /// The positions of its newest entries, so that its sessions need not visit those of others.
    private var listed: [UInt64] = []
    /// All its entries from this position on are listed.
    private var listedFrom: UInt64
    /// Whether its sessions are about to be notified.
    var isDue = false

    /// - Parameter end: The end of the feed.
    init(_ session: Session, _ end: UInt64) {
        watches = session.watches
        rights = session.grants.rights
        showsLayers = session.dialect.showsLayers
        self.end = end
        listedFrom = end
    }

    /// Whether a session belongs here.
    func fits(_ session: Session) -> Bool {
        showsLayers == session.dialect.showsLayers && watches.count == session.watches.count
            && zip(watches, session.watches).allSatisfy { $0.subject == $1.subject && $0.path == $1.path }
            && rights == session.grants.rights
    }

    func add(_ session: Session) { members.append(session) }

    func remove(_ session: Session) { members.removeAll { $0 === session } }

    /// Whether changes of a tweak can be its events.
    func matches(_ node: TweakNode) -> Bool { watches.contains { $0.matches(node) } && rights.sees(node) }

    /// Whether a change of a matching tweak is its event.
    func wants(_ change: WatchedChange) -> Bool {
        (change.isReported || showsLayers) && watches.contains { $0.selects(change) }
    }

    /// Records an entry that is its event.
    /// - Parameter limit: The number of positions that stay listed.
    func note(_ entry: FeedEntry, limit: Int) {
        count += entry.change.folded + (entry.change.isReported ? 1 : 0)
        end = entry.position + 1
        listed.append(entry.position)
        // Half of them at once, so that an entry has a constant cost.
        if listed.count < 2 * limit { return }
        listed.removeFirst(listed.count - limit)
        listedFrom = listed[0]
    }

    /// Its next entry at a position or after it.
    func next(from position: UInt64, in feed: EventFeed) -> FeedEntry? {
        if position < listedFrom, let entry = feed.entry(from: position), entry.position < listedFrom { return entry }
        for index in listed.endOfFirstPart(where: { $0 < position })..<listed.count {
            // Others were folded into later ones.
            if let entry = feed.entry(from: listed[index]), entry.position == listed[index] { return entry }
        }
        return nil
    }

    /// Whether an entry that ``next(from:in:)`` has returned is its event.
    func includes(_ entry: FeedEntry) -> Bool {
        entry.position >= listedFrom || matches(entry.change.node) && wants(entry.change)
    }

    /// Forgets the positions of an empty feed.
    func forgetPositions(before end: UInt64) { (listed, listedFrom) = ([], end) }
}

/// A session's position in the feed: all that it holds while it does not read.
struct WatchPosition {
    let audience: Audience
    private let feed: EventFeed
    /// The first position that it has not read.
    private(set) var next: UInt64
    /// The number of changes of its audience that it has read, or was told of.
    private var read: Int
    /// The number of changes that were folded before it came to this audience.
    private var carried = 0
    /// The audience has counted the entries from here on.
    private let joinedAt: UInt64
    /// The revision of the last event.
    private(set) var revision: UInt64 = 0

    init(_ audience: Audience, _ feed: EventFeed) {
        self.audience = audience
        self.feed = feed
        next = feed.end
        joinedAt = feed.end
        read = audience.count
    }

    /// Whether there are entries that it has not read.
    var isBehind: Bool { next < audience.end }

    /// The bytes that it prevents from being freed, together with others.
    var pinnedBytes: Int { isBehind ? feed.memorySize : 0 }

    /// Reads the next entry; nil at the end.
    /// - Returns: The entry, and whether it is an event of its audience.
    mutating func readEntry() -> (entry: FeedEntry, isEvent: Bool)? {
        guard isBehind, let entry = audience.next(from: next, in: feed) else {
            next = feed.end
            return nil
        }
        next = entry.position + 1
        let isEvent = audience.includes(entry)
        if isEvent { revision = entry.change.revision }
        if isEvent, entry.change.isReported, entry.position >= joinedAt { read += 1 }
        if !isBehind { next = feed.end }
        return (entry, isEvent)
    }

    func event(_ entry: FeedEntry, _ encoder: ReplyEncoder) -> [UInt8] { feed.event(entry, encoder) }

    /// Returns the number of changes that were folded, once everything is read.
    mutating func takeFolded() -> Int {
        defer { (carried, read) = (0, audience.count) }
        return max(carried + audience.count - read, 0)
    }

    /// The same position in another audience.
    func moved(to audience: Audience) -> WatchPosition {
        var moved = WatchPosition(audience, feed)
        // The new audience has not counted what is unread.
        var rest = self
        while rest.isBehind { _ = rest.readEntry() }
        moved.carried = rest.takeFolded()
        moved.revision = revision
        if isBehind { moved.next = next }
        return moved
    }
}
