// A socket and the conversation on it.

/// One client: carries bytes between its socket and its conversation.
struct Connection {
    let client: String
    let socket: Socket
    private(set) var conversation: Conversation
    /// Whether the socket takes no more for now.
    private var isBlocked = false
    /// Set when all is said: how long the client has to close its side.
    private var lingering: Instant?
    private var isBroken = false

    init(_ socket: Socket, _ client: String, _ conversation: Conversation) {
        self.socket = socket
        self.client = client
        self.conversation = conversation
    }

    /// What it waits for.
    func join(_ polls: inout PollSet) {
        polls.add(socket, read: conversation.wantsInput, write: !conversation.output.isEmpty)
    }

    /// When it wants a turn, whatever its socket does.
    var nextTurn: Instant { min(conversation.nextTurn, lingering ?? conversation.nextTurn) }

    /// Whether it can be let go of.
    func isOver(at now: Instant) -> Bool {
        if let lingering, now >= lingering { return true }
        return isBroken || conversation.isOver(at: now)
    }

    /// Reads once, answers as much as the client takes, and ends it when all is said.
    mutating func turn(
        _ ready: (read: Bool, write: Bool), at now: Instant, at desk: inout Desk, through buffer: inout [UInt8]
    ) {
        if ready.write { isBlocked = false }
        if ready.read, conversation.wantsInput { read(through: &buffer) }
        repeat { conversation.advance(to: now, at: &desk) } while flush(at: now)
        if conversation.isSilent, lingering == nil {
            socket.endOutput()
            lingering = now + .milliseconds(500)
        }
    }

    mutating func end(_ words: String, at now: Instant) { conversation.end(words, at: now) }

    private mutating func read(through buffer: inout [UInt8]) {
        switch socket.receive(into: &buffer) {
        case .bytes(let count): conversation.receive(buffer[..<count])
        case .notNow: break
        case .ended: conversation.endOfInput()
        }
    }

    /// True when all there was is sent, and there may be more to answer.
    private mutating func flush(at now: Instant) -> Bool {
        guard !isBlocked, !isBroken, !conversation.output.isEmpty else { return false }
        switch socket.transmit(conversation.output) {
        case .bytes(let count): conversation.sent(count, at: now)
        case .notNow: isBlocked = true
        case .ended: isBroken = true
        }
        return !isBlocked && !isBroken
    }
}
