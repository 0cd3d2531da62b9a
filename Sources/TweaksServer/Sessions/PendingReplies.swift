// Queues replies in the order of requests: the rest of a long one, then those that wait for the disk or for others.

import Tweaks
import TweaksWire

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

    /// Its approximate size in memory, in bytes.
    var memorySize: Int { queueBytes + (rest == nil ? 0 : restBytes) }

    /// The bytes of snapshots that it shares with others.
    var pinnedBytes: Int { queue[head...].reduce(rest?.pin?.bytes ?? 0) { $0 + ($1.reply.pin?.bytes ?? 0) } }

    /// The maximum number of waiting replies; at this number no more requests begin.
    private static let limit = 1_024
    /// The maximum size of waiting replies, in bytes.
    private static let maxQueueBytes = 1_048_576

    var queueIsEmpty: Bool { head == queue.count }
    /// Whether every request has been answered.
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

    /// Stores the rest of a reply.
    mutating func begin(_ rest: ReplyEncoder.Remainder, of reply: Reply) {
        (self.rest, restBytes) = (rest, reply.memorySize)
    }

    /// Updates the rest of a reply.
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
