// Sends replies in the order of the requests, and prompts.

import Tweaks
import TweaksWire

extension Session {
    /// Writes a reply, or the beginning of a long one; or keeps it until the disk has what it promises.
    func send(_ reply: Reply) {
        if reply.awaits == nil, replies.isEmpty { return write(reply, dialect.encoder) }
        replies.append(reply, dialect.encoder)
    }

    /// Writes the replies that need wait no longer, as far as there is room.
    func settle(_ status: SaveStatus?, unsentLimit: Int) {
        replies.isSettling = false
        while replies.rest == nil, !replies.queueIsEmpty {
            if output.count >= unsentLimit { return replies.isSettling = true }
            guard let (reply, encoder) = replies.popReady(status) else { return }
            write(reply, encoder)
        }
    }

    private func write(_ reply: Reply, _ encoder: ReplyEncoder) {
        var rest: ReplyEncoder.Remainder?
        output.append { rest = dialect.write(reply, encoder, to: &$0) }
        if let rest { replies.begin(rest, of: reply) } else { replyEnded() }
    }

    /// Goes on with a long reply.
    func sendMore(budget: Int) {
        guard let rest = replies.rest else { return }
        var more: ReplyEncoder.Remainder?
        output.append { more = dialect.write(rest, budget: budget, to: &$0) }
        replies.goOn(with: more)
        if more == nil { replyEnded() }
    }

    private func replyEnded() {
        if isOpen { sendPrompt() }
    }

    func sendPrompt() {
        if isInteractive { output.append { appendPrompt(to: &$0) } }
    }

    /// The prompt of an interactive session; a star says that a batch is open.
    func appendPrompt(to bytes: inout [UInt8]) {
        // Behind a reply that waits comes a prompt of its own.
        guard isInteractive, !dialect.encoder.isJSON, replies.queueIsEmpty else { return }
        bytes.append(batch == nil ? "> " : "*> ")
    }

    /// Puts an error in the place of what was read for this session and not sent yet.
    func withhold(_ error: TweakError) {
        replies.withhold(error)
        guard let rest = replies.rest.take() else { return }
        output.append { dialect.cut(rest, error, to: &$0) }
        if isOpen { sendPrompt() }
    }

    /// Ends the line at a prompt.
    func leavePrompt() {
        let encoder = dialect.encoder
        if isInteractive, !encoder.isJSON { output.append { encoder.endLine(&$0) } }
    }

    /// Lets go of everything that was to be sent.
    func forgetOutput() {
        replies = PendingReplies()
        events = PendingEvents(watchBytes: events.watchBytes)
        batch = nil
        dialect.forgetInput()
        isInteractive = false
        let encoder = dialect.encoder
        if output.forget() { output.append { encoder.endLine(&$0) } }
    }
}
