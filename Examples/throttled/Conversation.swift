// One client's exchange: bytes in, bytes out, and the time. No socket and no clock in sight.

import TweaksDaemon

/// What a client says and is told, in turn: a line is begun when the one before it is answered.
///
/// While a reply is held back, or the client does not read, nothing more is read from it: what one client can make
/// the service remember is a line, a chunk of input, and a few replies.
struct Conversation {
    /// What is to be sent.
    private(set) var output: [UInt8] = []

    private let client: String
    private var input = LineSplitter()
    private var waiting: (answer: Answer, since: Instant)?
    /// When the client last sent a line or read a reply.
    private var active: Instant
    /// Set when it is coming to its end: no line is begun any more, and what is owed is sent by then or never.
    private var deadline: Instant?

    /// So many bytes of output are enough; more is made when they are sent.
    private static let enough = 16_384

    /// Begins with a greeting.
    init(with client: String, at now: Instant) {
        self.client = client
        active = now
        if !Replies.greeting.value.isEmpty { say(Replies.greeting.value) }
    }

    /// Begins and ends with a refusal.
    init(refusing client: String, at now: Instant) {
        self.client = client
        active = now
        say("busy too many connections")
        leave(by: now + Limits.grace.value)
    }

    // MARK: What the socket asks

    /// Whether it takes more input. When it is coming to its end it does, to throw it away: a connection that is
    /// closed on unread input is reset, and the last reply may be lost.
    var wantsInput: Bool {
        !input.hasEnded && (isLeaving || waiting == nil && output.count < Self.enough)
    }

    var isLeaving: Bool { deadline != nil }

    /// Whether nothing will be said any more.
    var isSilent: Bool { isLeaving && output.isEmpty }

    /// Whether there is no more to it.
    func isOver(at now: Instant) -> Bool {
        if let deadline, now >= deadline { return true }
        return isSilent && input.hasEnded
    }

    /// When it wants a turn, even if nothing comes from the client.
    var nextTurn: Instant {
        if let deadline { return deadline }
        if let waiting { return waiting.since + Replies.delay.value }
        return active + Limits.idle.value
    }

    // MARK: What the socket tells

    mutating func receive(_ bytes: ArraySlice<UInt8>) {
        if !isLeaving { input.append(bytes) }
    }

    mutating func endOfInput() { input.end() }

    /// So many bytes of the output are sent.
    mutating func sent(_ count: Int, at now: Instant) {
        output.removeFirst(count)
        active = now
    }

    // MARK: Its turn

    /// Answers what can be answered by now.
    mutating func advance(to now: Instant, at desk: inout Desk) {
        deliver(at: now)
        while let line = nextLine() {
            waiting = (desk.answer(line, of: client, at: now), now)
            deliver(at: now)
        }
        if isLeaving || waiting != nil { return }
        if input.isExhausted {
            leave(by: now + Limits.idle.value)
        } else if now >= active + Limits.idle.value {
            end("closing idle for \(TweakValue.duration(Limits.idle.value).text)", at: now)
        }
    }

    /// Says a last word. A reply that is held back goes before it, now.
    mutating func end(_ words: String, at now: Instant) {
        if isLeaving { return }
        if let waiting { say(waiting.answer.line) }
        waiting = nil
        say(words)
        leave(by: now + Limits.grace.value)
    }

    private mutating func nextLine() -> LineSplitter.Line? {
        guard waiting == nil, !isLeaving, output.count < Self.enough else { return nil }
        return input.next(limit: Limits.line.value)
    }

    /// Says the answer that waits, if its time has come by the delay of now.
    private mutating func deliver(at now: Instant) {
        guard let (answer, since) = waiting, !answer.isWork || now >= since + Replies.delay.value else { return }
        waiting = nil
        active = now
        say(answer.line)
        if answer == .bye { leave(by: now + Limits.grace.value) }
    }

    private mutating func leave(by time: Instant) { deadline = time }

    private mutating func say(_ line: String) { output += Array("\(line)\n".utf8) }
}
