// Connects one client's socket with its conversation.

/// One client connection: transfers bytes between the socket and the conversation.
struct Connection {
    let client: String
    let socket: Socket
    private(set) var conversation: Conversation
    /// Whether the socket's send buffer is full.
    private var isBlocked = false
    /// The deadline for the client to close its side, set when all output is sent.
    private var lingerDeadline: Instant?
    private var isBroken = false

    init(_ socket: Socket, _ client: String, _ conversation: Conversation) {
        self.socket = socket
        self.client = client
        self.conversation = conversation
    }

    /// Adds the socket to the set, with the events it waits for.
    func register(in polls: inout PollSet) {
        polls.add(socket, read: conversation.wantsInput, write: !conversation.output.isEmpty)
    }

    /// The time of the next timeout.
    var nextDeadline: Instant { min(conversation.nextDeadline, lingerDeadline ?? conversation.nextDeadline) }

    /// Whether the connection can be closed.
    func isFinished(at now: Instant) -> Bool {
        if let lingerDeadline, now >= lingerDeadline { return true }
        return isBroken || conversation.isFinished(at: now)
    }

    /// Reads once, answers while the socket accepts output, and shuts down the output after the last reply.
    mutating func process(
        _ ready: (read: Bool, write: Bool), at now: Instant, with handler: inout RequestHandler, buffer: inout [UInt8]
    ) {
        if ready.write { isBlocked = false }
        if ready.read, conversation.wantsInput { read(into: &buffer) }
        repeat { conversation.advance(to: now, with: &handler) } while flush(at: now)
        if conversation.isDrained, lingerDeadline == nil {
            socket.shutdownOutput()
            lingerDeadline = now + .milliseconds(500)
        }
    }

    mutating func end(_ message: String, at now: Instant) { conversation.end(message, at: now) }

    private mutating func read(into buffer: inout [UInt8]) {
        switch socket.receive(into: &buffer) {
        case .bytes(let count): conversation.receive(buffer[..<count])
        case .wouldBlock: break
        case .closed: conversation.endInput()
        }
    }

    /// Sends the output; true when all of it was sent, so that more requests can be answered.
    private mutating func flush(at now: Instant) -> Bool {
        guard !isBlocked, !isBroken, !conversation.output.isEmpty else { return false }
        switch socket.transmit(conversation.output) {
        case .bytes(let count): conversation.sent(count, at: now)
        case .wouldBlock: isBlocked = true
        case .closed: isBroken = true
        }
        return !isBlocked && !isBroken
    }
}
