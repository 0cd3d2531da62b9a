// Sends replies in the order of the requests, and prompts.

import Tweaks
import TweaksWire

extension Session {
    /// Writes a reply or the start of a long one, or queues it until the disk has its revision.
    func send(_ reply: Reply) {
        if reply.durableRevision == nil, replies.isEmpty { return write(reply, dialect.encoder) }
        replies.append(reply, dialect.encoder)
    }

    /// Writes the replies that are ready, while there is room.
    func sendReadyReplies(_ durability: DurabilityTracker, unsentLimit: Int) {
        replies.mayHaveReadyReplies = false
        while replies.rest == nil, !replies.queueIsEmpty {
            if output.count >= unsentLimit { return replies.mayHaveReadyReplies = true }
            guard let (reply, encoder) = replies.popReady(durability) else { return }
            write(reply, encoder)
        }
    }

    private func write(_ reply: Reply, _ encoder: ReplyEncoder) {
        var rest: ReplyEncoder.Remainder?
        output.append { rest = dialect.write(reply, encoder, to: &$0) }
        if let rest { replies.begin(rest, of: reply) } else { replyEnded() }
    }

    /// Continues a long reply.
    func sendMore(budget: Int) {
        guard let rest = replies.rest else { return }
        var more: ReplyEncoder.Remainder?
        output.append { more = dialect.write(rest, budget: budget, to: &$0) }
        replies.updateRest(to: more)
        if more == nil { replyEnded() }
    }

    private func replyEnded() {
        if isOpen { sendPrompt() }
    }

    func sendPrompt() {
        if isInteractive { output.append { appendPrompt(to: &$0) } }
    }

    /// Appends the prompt of an interactive session; a star marks an open batch.
    func appendPrompt(to bytes: inout [UInt8]) {
        // A waiting reply will be followed by its own prompt.
        guard isInteractive, !dialect.encoder.isJSON, replies.queueIsEmpty else { return }
        bytes.append(batch == nil ? "> " : "*> ")
    }

    /// Replaces values that were read for this session and not sent yet by an error.
    func withhold(_ error: TweakError) {
        replies.withhold(error)
        guard let rest = replies.rest.take() else { return }
        output.append { dialect.abort(rest, error, to: &$0) }
        if isOpen { sendPrompt() }
    }

    /// Ends the line of a prompt.
    func leavePrompt() {
        let encoder = dialect.encoder
        if isInteractive, !encoder.isJSON { output.append { encoder.endLine(&$0) } }
    }

    /// Discards all pending output.
    func forgetOutput() {
        replies = PendingReplies()
        events = PendingEvents(watchBytes: events.watchBytes, at: events.position)
        batch = nil
        dialect.forgetInput()
        isInteractive = false
        let encoder = dialect.encoder
        if output.forget() { output.append { encoder.endLine(&$0) } }
    }
}
