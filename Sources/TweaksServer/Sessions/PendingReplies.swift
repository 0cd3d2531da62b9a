// Replies on their way: the rest of a long one, those that wait for the disk, and those behind them, in the order of requests.

import Tweaks
import TweaksWire

/// A queue of replies, each with the encoder of its time.
struct PendingReplies: ~Copyable {
    private var queue: [(reply: Reply, encoder: ReplyEncoder)] = []
    private var head = 0
    private var queueBytes = 0
    /// The rest of a long reply, which comes first.
    var rest: ReplyEncoder.Remainder?
    private var restBytes = 0
    /// The session is in the list of those that hear of what the disk has.
    var isOwed = false
    /// Some of those in the queue may be ready, and there was no room for them, or a long reply came first.
    var isSettling = false

    /// What they take in memory, roughly.
    var heldBytes: Int { queueBytes + (rest == nil ? 0 : restBytes) }

    /// What they hold together with others.
    var pinnedBytes: Int { queue[head...].reduce(rest?.pin?.bytes ?? 0) { $0 + ($1.reply.pin?.bytes ?? 0) } }

    /// So many replies to one session wait at most; then no more of its requests are begun.
    private static let limit = 1_024
    /// Nor with more than this: some hold long texts.
    private static let mostBytes = 1_048_576

    var queueIsEmpty: Bool { head == queue.count }
    /// Whether everything that was asked for has been answered.
    var isEmpty: Bool { rest == nil && queueIsEmpty }

    /// Whether another reply may come.
    /// - Parameter pipelined: Behind others.
    func haveRoom(pipelined: Bool) -> Bool {
        if rest != nil { return false }
        return queueIsEmpty || pipelined && queue.count - head < Self.limit && queueBytes < Self.mostBytes
    }

    mutating func append(_ reply: Reply, _ encoder: ReplyEncoder) {
        queue.append((reply, encoder))
        queueBytes += reply.heldBytes
    }

    /// Notes what remains of a reply.
    mutating func begin(_ rest: ReplyEncoder.Remainder, of reply: Reply) {
        (self.rest, restBytes) = (rest, reply.heldBytes)
    }

    /// Notes what still remains of it.
    mutating func goOn(with rest: ReplyEncoder.Remainder?) {
        self.rest = rest
        // The disk may have what those behind it wait for, and does not say so again.
        if rest == nil { isSettling = !queueIsEmpty }
    }

    /// Puts an error in the place of what was read; what was changed is answered as it was.
    mutating func withhold(_ error: TweakError) {
        for index in queue.indices.dropFirst(head) where queue[index].reply.isReading {
            queueBytes -= queue[index].reply.heldBytes
            queue[index].reply = .error(error)
            queueBytes += queue[index].reply.heldBytes
        }
    }

    /// Takes the first reply if nothing keeps it any more; with the reason where the disk has refused.
    mutating func popReady(_ status: SaveStatus?) -> (Reply, ReplyEncoder)? {
        guard head < queue.count else { return nil }
        let (reply, encoder) = queue[head]
        var ready = reply
        if let revision = reply.awaits, let status {
            switch status.answer(for: revision) {
            case .pending: return nil
            case .saved: break
            case .unsaved(let reason): ready = reply.unsaved(reason)
            }
        }
        head += 1
        queueBytes -= reply.heldBytes
        if head == queue.count || head >= Self.limit { compact() }
        return (ready, encoder)
    }

    private mutating func compact() {
        queue.removeSubrange(..<head)
        head = 0
    }
}

extension Reply {
    /// Whether it shows something and has changed nothing.
    fileprivate var isReading: Bool {
        if case .none = body { false } else { awaits == nil }
    }
}
