// Stores the changes that watchers have not read yet, once for all of them, and folds those that they read late.

import Tweaks
import TweaksWire

/// A change in the feed, with its event in each format that a session has read.
final class FeedEntry {
    /// Increases from entry to entry.
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
    /// The position of the next entry.
    private(set) var end: UInt64 = 1
    private var bytes = 0
    private var renderedBytes = 0
    /// The number of entries and bytes after it was last compacted.
    private var kept = (count: 0, bytes: 0)

    private static let minCount = 1_024
    private static let minBytes = 1_048_576
    /// The maximum size of the stored events, in bytes; beyond it they are written again when they are read.
    private static let maxRenderedBytes = 1_048_576

    /// The number of entries.
    var count: Int { entries.count }

    /// Its approximate size in memory, in bytes.
    var memorySize: Int { bytes + renderedBytes }

    /// Whether it has grown so much that changes should be folded.
    var isLarge: Bool {
        entries.count >= max(Self.minCount, 2 * kept.count) || bytes >= max(Self.minBytes, 2 * kept.bytes)
    }

    /// Whether enough entries were added for looking which ones all have read.
    var mayShrink: Bool { entries.count >= max(64, 2 * kept.count) }

    /// Adds a change.
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
