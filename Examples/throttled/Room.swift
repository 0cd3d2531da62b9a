// Everybody who is connected.

import TweaksDaemon

/// All connections and what they share. It belongs to the service's thread, so nothing in here needs a lock.
struct Room {
    private var connections: [Connection] = []
    private var desk = Desk()
    private var listener: Listener?
    /// Set when there was no descriptor for a new connection: when to try again.
    private var acceptAgain: Instant?
    private var buffer = [UInt8](repeating: 0, count: 16_384)

    /// So many who were rejected may be on their way out at once; others wait to be told.
    private static let porch = 64

    init(_ listener: Listener) { self.listener = listener }

    /// Whether it is closed, and the last one has gone.
    var isDone: Bool { listener == nil && connections.isEmpty }

    var counts: Counts { desk.counts }

    // MARK: Waiting

    /// Puts everybody into the set: first the door, then the connections in their order.
    func join(_ polls: inout PollSet) {
        let isOpen = acceptAgain == nil && connections.count < Limits.connections.value + Self.porch
        polls.add(listener?.socket, read: isOpen)
        for connection in connections { connection.join(&polls) }
    }

    /// When somebody wants a turn, even if nothing comes.
    var nextTurn: Instant? {
        (connections.map(\.nextTurn) + [acceptAgain].compactMap { $0 }).min()
    }

    // MARK: Turns

    /// Gives everybody a turn; `first` is the door's place in the set.
    mutating func turn(_ polls: PollSet, from first: Int, at now: Instant) {
        for index in connections.indices {
            connections[index].turn(polls.isReady(first + 1 + index), at: now, at: &desk, through: &buffer)
        }
        connections.removeAll { connection in
            let isOver = connection.isOver(at: now)
            if isOver { Log.info("\(connection.client) left") }
            return isOver
        }
        if let time = acceptAgain, now >= time { acceptAgain = nil }
        if polls.isReady(first).read { admit(at: now) }
        desk.counts.connections = open
    }

    /// Lets in, or rejects, who stands at the door. Not too many at once: the others have a turn, too.
    private mutating func admit(at now: Instant) {
        for _ in 0..<Self.porch {
            switch listener?.nextArrival() {
            case .client(let socket, let client)?: welcome(socket, client, at: now)
            case .exhausted?:
                Log.error("no descriptor for a new connection; raise the limit, or lower \(Limits.connections.path)")
                acceptAgain = now + .seconds(1)
                return
            case .nobody?, nil: return
            }
        }
    }

    private mutating func welcome(_ socket: Socket, _ client: String, at now: Instant) {
        let isFull = open >= Limits.connections.value
        if isFull { desk.counts.rejected += 1 } else { desk.counts.accepted += 1 }
        Log.info("\(client) \(isFull ? "rejected" : "connected")")
        let conversation =
            isFull ? Conversation(refusing: client, at: now) : Conversation(with: client, at: now)
        var connection = Connection(socket, client, conversation)
        connection.turn((read: true, write: true), at: now, at: &desk, through: &buffer)
        connections.append(connection)
    }

    /// How many are connected, without those on their way out.
    private var open: Int { connections.count { !$0.conversation.isLeaving } }

    // MARK: Orders

    /// Ends all conversations; returns how many.
    mutating func dropAll(_ words: String, at now: Instant) -> Int {
        let count = open
        for index in connections.indices { connections[index].end(words, at: now) }
        return count
    }

    /// Lets nobody in any more, and ends all conversations.
    mutating func close(at now: Instant) -> Int {
        listener = nil
        acceptAgain = nil
        return dropAll("closing the service stops", at: now)
    }

    mutating func zero() { desk.zero() }
}
