// Stores the changes that watchers have not read yet, once for all of them.

import Tweaks
import TweaksWire

/// A path, a pattern, or the word `modified`, as a session watches it.
struct Watch {
    enum Subject: Hashable {
        /// All tweaks that differ from their defaults, or begin to.
        case modified
        case pattern(String)

        init(pattern text: String) { self = .pattern(TweakPattern.trimmed(text)) }

        var text: String {
            switch self {
            case .modified: "modified"
            case .pattern(let text): text
            }
        }
    }

    let subject: Subject
    /// The path, if the text is one; then only that tweak is watched.
    let path: TweakPath?
    /// Nil for a path or `modified`.
    let pattern: TweakPattern?
    /// Changes up to this sequence were part of the reply to `watch`.
    var since: UInt64

    init(_ subject: Subject, _ view: TweakView, since: UInt64) {
        self.subject = subject
        if case .pattern(let text) = subject {
            path = view[text]?.path
            pattern = path == nil ? TweakPattern(text) : nil
        } else {
            path = nil
            pattern = nil
        }
        self.since = since
    }

    /// Whether changes of a tweak can concern this watch.
    func matches(_ node: TweakNode) -> Bool {
        // Only settable tweaks can be modified.
        if subject == .modified { return node.isSettable }
        return path.map { $0 == node.path } ?? pattern?.matches(node.path) ?? false
    }

    /// Whether this change is an event: for `modified` only if the old or the new value differs from the default.
    func selects(_ change: WatchedChange) -> Bool {
        guard matches(change.node) else { return false }
        if change.node.isSecret { return true }
        let standard = change.node.defaultValue
        return subject != .modified || change.new != standard || change.old != standard
    }
}

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

    func fits(_ session: Session) -> Bool {
        showsLayers == session.dialect.showsLayers && watches.count == session.watches.count
            && zip(watches, session.watches).allSatisfy { $0.subject == $1.subject && $0.path == $1.path }
            && rights == session.grants.rights
    }

    func add(_ session: Session) { members.append(session) }

    func remove(_ session: Session) { members.removeAll { $0 === session } }

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
    private(set) var revision: UInt64 = 0

    init(_ audience: Audience, _ feed: EventFeed) {
        self.audience = audience
        self.feed = feed
        next = feed.end
        joinedAt = feed.end
        read = audience.count
    }

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

/// A change in the feed, with its event in each format that a session has read.
final class FeedEntry {
    let position: UInt64
    let change: WatchedChange
    private let layer: TweakLayer
    fileprivate var rendered: [Int: [UInt8]] = [:]

    init(_ change: WatchedChange, in layer: TweakLayer, at position: UInt64) {
        self.change = change
        self.layer = layer
        self.position = position
    }

    var event: Event { .change(change, layer: layer) }

    fileprivate var key: ObjectIdentifier { ObjectIdentifier(change.node) }

    /// Its approximate size in memory, in bytes, without its events.
    fileprivate var memorySize: Int { 384 + (change.new.textBytes ?? 0) + (change.old.textBytes ?? 0) }
}

/// The changes that at least one watcher may still read, oldest first. Used on the I/O thread only.
///
/// Every watcher reads it from its own position. While all keep up, each change stays until all have read it. For
/// watchers that are far behind, only the newest change of each tweak stays: so its size is bounded by the number of
/// tweaks, however many watchers do not read.
final class EventFeed {
    private var entries: [FeedEntry] = []
    /// The newest entry of each tweak, and the newest one that changed the value rather than only a layer.
    private var newest: [ObjectIdentifier: (any: FeedEntry, ofValue: FeedEntry?)] = [:]
    private(set) var end: UInt64 = 1
    private var bytes = 0
    private var renderedBytes = 0
    /// The number of entries and bytes after it was last compacted.
    private var kept = (count: 0, bytes: 0)

    private static let minCount = 1_024
    private static let minBytes = 1_048_576
    /// The maximum size of the stored events, in bytes; beyond it they are written again when they are read.
    private static let maxRenderedBytes = 1_048_576

    var count: Int { entries.count }

    var memorySize: Int { bytes + renderedBytes }

    /// Whether it has grown so much that changes should be folded.
    var isLarge: Bool {
        entries.count >= max(Self.minCount, 2 * kept.count) || bytes >= max(Self.minBytes, 2 * kept.bytes)
    }

    /// Whether enough entries were added for looking which ones all have read.
    var mayShrink: Bool { entries.count >= max(64, 2 * kept.count) }

    func append(_ change: WatchedChange, in layer: TweakLayer) -> FeedEntry {
        let entry = FeedEntry(change, in: layer, at: end)
        entries.append(entry)
        note(entry)
        bytes += entry.memorySize
        end += 1
        return entry
    }

    private func note(_ entry: FeedEntry) {
        let ofValue = entry.change.isReported ? entry : newest[entry.key]?.ofValue
        newest[entry.key] = (entry, ofValue)
    }

    /// The first entry at this position or after it.
    func entry(from position: UInt64) -> FeedEntry? {
        guard let first = entries.first, position < end else { return nil }
        if position <= first.position { return first }
        // Mostly nothing between was folded.
        let offset = Int(clamping: position - first.position)
        if offset < entries.count, entries[offset].position == position { return entries[offset] }
        let index = entries.endOfFirstPart { $0.position < position }
        return index < entries.count ? entries[index] : nil
    }

    /// The event of an entry; all sessions with the same format share it.
    func event(_ entry: FeedEntry, _ encoder: ReplyEncoder) -> [UInt8] {
        let format = (encoder.isJSON ? 1 : 0) + (encoder.usesCRLF ? 2 : 0) + (encoder.hasText ? 4 : 0)
        if let event = entry.rendered[format] { return event }
        var event: [UInt8] = []
        encoder.append(entry.event, to: &event)
        if renderedBytes + event.count > Self.maxRenderedBytes { forgetEvents() }
        entry.rendered[format] = event
        renderedBytes += event.count + 64
        return event
    }

    private func forgetEvents() {
        for entry in entries { entry.rendered = [:] }
        renderedBytes = 0
    }

    /// Removes what all have read, and folds what only late watchers will read.
    /// - Parameter first: The first position that a watcher has not read.
    func compact(unreadFrom first: UInt64) {
        // Watchers that are only a little behind get every change, unless these are long.
        let recent = bytes >= Self.minBytes ? end : end - min(end, UInt64(Self.minCount) / 2)
        let remaining = entries.filter { entry in
            if entry.position < first { return false }
            if entry.position >= recent { return true }
            let newest = newest[entry.key]
            return newest?.any === entry || newest?.ofValue === entry
        }
        if remaining.count < entries.count { replace(remaining) }
        kept = (count, bytes)
    }

    private func replace(_ remaining: [FeedEntry]) {
        entries = remaining
        newest = [:]
        bytes = 0
        renderedBytes = 0
        for entry in entries {
            note(entry)
            bytes += entry.memorySize
            renderedBytes += entry.rendered.values.reduce(0) { $0 + $1.count + 64 }
        }
    }
}
