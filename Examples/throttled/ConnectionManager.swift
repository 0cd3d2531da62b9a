// Accepts connections, enforces the connection limit, and serves all clients.

import TweaksDaemon

/// All connections and their shared state. Only the service's thread uses it, so it needs no lock.
struct ConnectionManager {
    private var connections: [Connection] = []
    private var handler = RequestHandler()
    private var listener: Listener?
    /// The time to accept again, set when there was no descriptor for a new connection.
    private var acceptRetry: Instant?
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// This many connections beyond the limit may receive the refusal at once; others wait in the listen queue.
    private static let rejectionLimit = 64

    init(_ listener: Listener) { self.listener = listener }

    /// Whether the listener is closed and all connections have ended.
    var isDone: Bool { listener == nil && connections.isEmpty }

    var counts: Counts { handler.counts }

    // MARK: Polling

    /// Adds all sockets to the set: first the listener, then the connections in their order.
    func register(in polls: inout PollSet) {
        let isAccepting = acceptRetry == nil && connections.count < Limits.connections.value + Self.rejectionLimit
        polls.add(listener?.socket, read: isAccepting)
        for connection in connections { connection.register(in: &polls) }
    }

    /// The time of the next timeout, also without input.
    var nextDeadline: Instant? {
        (connections.map(\.nextDeadline) + [acceptRetry].compactMap { $0 }).min()
    }

    // MARK: Processing

    /// Serves all connections, then accepts new ones; `first` is the listener's index in the set.
    mutating func process(_ polls: PollSet, from first: Int, at now: Instant) {
        for index in connections.indices {
            connections[index].process(polls.isReady(first + 1 + index), at: now, with: &handler, buffer: &buffer)
        }
        connections.removeAll { connection in
            let isFinished = connection.isFinished(at: now)
            if isFinished { Log.info("\(connection.client) disconnected") }
            return isFinished
        }
        if let time = acceptRetry, now >= time { acceptRetry = nil }
        if polls.isReady(first).read { acceptClients(at: now) }
        handler.counts.connections = openCount
    }

    /// Accepts or rejects waiting clients; a limited number, so that the other connections are served, too.
    private mutating func acceptClients(at now: Instant) {
        for _ in 0..<Self.rejectionLimit {
            switch listener?.acceptNext() {
            case .client(let socket, let client)?: add(socket, client, at: now)
            case .outOfDescriptors?:
                Log.error("no descriptor for a new connection; raise the limit, or lower \(Limits.connections.path)")
                acceptRetry = now + .seconds(1)
                return
            case .wouldBlock?, nil: return
            }
        }
    }

    private mutating func add(_ socket: Socket, _ client: String, at now: Instant) {
        let isFull = openCount >= Limits.connections.value
        if isFull { handler.counts.rejected += 1 } else { handler.counts.accepted += 1 }
        Log.info("\(client) \(isFull ? "rejected" : "connected")")
        let conversation =
            isFull ? Conversation(refusing: client, at: now) : Conversation(with: client, at: now)
        var connection = Connection(socket, client, conversation)
        connection.process((read: true, write: true), at: now, with: &handler, buffer: &buffer)
        connections.append(connection)
    }

    /// The number of connections that are not closing.
    private var openCount: Int { connections.count { !$0.conversation.isClosing } }

    // MARK: Operations

    /// Closes all connections after a last message; returns how many.
    mutating func dropAll(_ message: String, at now: Instant) -> Int {
        let count = openCount
        for index in connections.indices { connections[index].end(message, at: now) }
        return count
    }

    /// Closes the listener and all connections.
    mutating func close(at now: Instant) -> Int {
        listener?.stop()
        listener = nil
        acceptRetry = nil
        return dropAll("closing the service stops", at: now)
    }

    mutating func resetCounts() { handler.resetCounts() }
}
