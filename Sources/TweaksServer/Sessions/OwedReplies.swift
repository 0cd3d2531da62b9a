// Replies that wait for the disk, and those behind them: replies come in the order of the requests.

import Tweaks
import TweaksWire

/// A queue of replies, each with the dialect of its time.
struct OwedReplies {
    private var replies: [(reply: Reply, encoder: ReplyEncoder)] = []
    private var head = 0
    /// What they take in memory, roughly.
    private(set) var heldBytes = 0

    /// What they hold together with others.
    var pinnedBytes: Int { replies[head...].reduce(0) { $0 + ($1.reply.pin?.bytes ?? 0) } }

    /// So many replies to one session wait at most; then no more of its lines are run.
    private static let limit = 1_024
    /// Nor with more than this: some hold long texts.
    private static let mostBytes = 1_048_576

    var isEmpty: Bool { head == replies.count }
    var isFull: Bool { replies.count - head >= Self.limit || heldBytes >= Self.mostBytes }

    mutating func append(_ reply: Reply, _ encoder: ReplyEncoder) {
        replies.append((reply, encoder))
        heldBytes += reply.heldBytes
    }

    /// Puts an error in the place of what was read; what was changed is answered as it was.
    mutating func withhold(_ error: TweakError) {
        for index in replies.indices.dropFirst(head) where replies[index].reply.isReading {
            heldBytes -= replies[index].reply.heldBytes
            replies[index].reply = .error(error)
            heldBytes += replies[index].reply.heldBytes
        }
    }

    /// Takes the first reply if nothing keeps it any more; with the reason where the disk has refused.
    mutating func popReady(_ status: SaveStatus?) -> (Reply, ReplyEncoder)? {
        guard head < replies.count else { return nil }
        let (reply, encoder) = replies[head]
        var ready = reply
        if let revision = reply.awaits, let status {
            switch status.answer(for: revision) {
            case .pending: return nil
            case .saved: break
            case .unsaved(let reason): ready = reply.unsaved(reason)
            }
        }
        head += 1
        heldBytes -= reply.heldBytes
        if head == replies.count || head >= Self.limit { compact() }
        return (ready, encoder)
    }

    private mutating func compact() {
        replies.removeSubrange(..<head)
        head = 0
    }
}

extension Reply {
    /// Whether it shows something and has changed nothing.
    fileprivate var isReading: Bool {
        if case .none = body { false } else { awaits == nil }
    }
}
