// Stores the sessions of a server by descriptor.

/// A table of sessions, used on the I/O thread only. A descriptor's number is reused as soon as it is closed.
final class SessionTable {
    private var slots: [Session?] = []
    private(set) var count = 0
    /// The number of ended sessions that only wait for their peer to close.
    var lingeringCount = 0
    /// The number of the newest session.
    private var newest: UInt64 = 0
    /// Sessions with higher numbers were opened in this round.
    private var newestBeforeRound: UInt64 = 0

    /// All sessions.
    var all: [Session] { slots.compactMap(\.self) }

    /// The session on a descriptor.
    subscript(descriptor: Int32) -> Session? {
        let position = Int(descriptor)
        return slots.indices.contains(position) ? slots[position] : nil
    }

    /// Returns a new session number.
    func makeNumber() -> UInt64 {
        newest += 1
        return newest
    }

    func insert(_ session: Session) {
        let position = Int(session.id.descriptor)
        while slots.count <= position { slots.append(nil) }
        slots[position] = session
        count += 1
    }

    func remove(_ session: Session) {
        slots[Int(session.id.descriptor)] = nil
        count -= 1
    }

    func beginRound() { newestBeforeRound = newest }

    /// Whether it was opened after the last wait.
    func isFromThisRound(_ session: Session) -> Bool { session.id.number > newestBeforeRound }
}
