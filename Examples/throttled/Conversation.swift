// Implements the protocol of one connection as a state machine, without socket and clock.

import TweaksDaemon

/// Requests and replies of one client; a line is parsed after the previous one was answered.
///
/// While a reply is delayed, or the client does not read, no more input is read. So the memory of one client is bounded
/// by a line, a chunk of input, and a few replies.
struct Conversation {
    /// The bytes to send.
    private(set) var output: [UInt8] = []

    private let client: String
    private var input = LineSplitter()
    private var pending: (answer: Answer, since: Instant)?
    /// The time when the client last sent a line or read a reply.
    private var lastActivity: Instant
    /// Set when the conversation is closing: no more lines are parsed, and output must be sent by then.
    private var deadline: Instant?

    /// With this many bytes of output, no more lines are answered until some are sent.
    private static let outputLimit = 16_384

    /// Begins with a greeting.
    init(with client: String, at now: Instant) {
        self.client = client
        lastActivity = now
        if !Replies.greeting.value.isEmpty { send(Replies.greeting.value) }
    }

    /// Refuses the connection and closes it.
    init(refusing client: String, at now: Instant) {
        self.client = client
        lastActivity = now
        send("busy too many connections")
        close(by: now + Limits.grace.value)
    }

    // MARK: State

    /// Whether to read more input. While closing, input is read and discarded: closing a socket with unread input
    /// resets the connection, and the last reply may be lost.
    var wantsInput: Bool {
        !input.hasEnded && (isClosing || pending == nil && output.count < Self.outputLimit)
    }

    var isClosing: Bool { deadline != nil }

    /// Whether the last byte of output was sent.
    var isDrained: Bool { isClosing && output.isEmpty }

    /// Whether the conversation has ended.
    func isFinished(at now: Instant) -> Bool {
        if let deadline, now >= deadline { return true }
        return isDrained && input.hasEnded
    }

    /// The time of the next timeout, also without input.
    var nextDeadline: Instant {
        if let deadline { return deadline }
        if let pending { return pending.since + Replies.delay.value }
        return lastActivity + Limits.idle.value
    }

    // MARK: Input and output

    mutating func receive(_ bytes: ArraySlice<UInt8>) {
        if !isClosing { input.append(bytes) }
    }

    mutating func endInput() { input.end() }

    /// Removes output that was sent.
    mutating func sent(_ count: Int, at now: Instant) {
        output.removeFirst(count)
        lastActivity = now
    }

    // MARK: Processing

    /// Answers the requests that can be answered by now.
    mutating func advance(to now: Instant, with handler: inout RequestHandler) {
        deliver(at: now)
        while let line = nextLine() {
            pending = (handler.answer(line, of: client, at: now), now)
            deliver(at: now)
        }
        if isClosing || pending != nil { return }
        if input.isExhausted {
            close(by: now + Limits.idle.value)
        } else if now >= lastActivity + Limits.idle.value {
            end("closing idle for \(TweakValue.duration(Limits.idle.value).text)", at: now)
        }
    }

    /// Sends a delayed reply at once, then a last message, and closes.
    mutating func end(_ message: String, at now: Instant) {
        if isClosing { return }
        if let pending { send(pending.answer.line) }
        pending = nil
        send(message)
        close(by: now + Limits.grace.value)
    }

    private mutating func nextLine() -> LineSplitter.Line? {
        guard pending == nil, !isClosing, output.count < Self.outputLimit else { return nil }
        return input.next(limit: Limits.line.value)
    }

    /// Sends the pending answer, if the current delay has passed.
    private mutating func deliver(at now: Instant) {
        guard let (answer, since) = pending, !answer.isResult || now >= since + Replies.delay.value else { return }
        pending = nil
        lastActivity = now
        send(answer.line)
        if answer == .bye { close(by: now + Limits.grace.value) }
    }

    private mutating func close(by time: Instant) { deadline = time }

    private mutating func send(_ line: String) { output += Array("\(line)\n".utf8) }
}
