// Counts the memory that clients occupy, and keeps it within the budget: the greediest loses first.

import Tweaks
import TweaksWire

/// Bytes of memory that are held for one session, or for all together.
struct MemoryUse: Equatable {
    /// In the server.
    var own = 0
    /// In full send buffers of the kernel.
    var unsent = 0
    /// What receive buffers of the kernel may hold that are not read.
    var unread = 0

    static func + (one: MemoryUse, other: MemoryUse) -> MemoryUse {
        MemoryUse(own: one.own + other.own, unsent: one.unsent + other.unsent, unread: one.unread + other.unread)
    }

    static func - (one: MemoryUse, other: MemoryUse) -> MemoryUse {
        MemoryUse(own: one.own - other.own, unsent: one.unsent - other.unsent, unread: one.unread - other.unread)
    }
}

/// The memory account of a server. Sessions and the kernel's buffers of their connections may use what values and history
/// leave, and at least a quarter.
struct MemoryAccount {
    let limit: Int
    /// What is held for single sessions.
    private(set) var sessions = MemoryUse()
    /// The bytes that all send buffers of the kernel may hold at their present sizes.
    var reserved = 0
    /// The bytes shared between replies.
    let pinned = PinnedBytes.Total()

    init(limit: Int) { self.limit = limit }

    /// The bytes that sessions may always use.
    private var share: Int { limit / 4 }
    /// The limit of the history, which forgets its oldest commits beyond it.
    var historyShare: Int { limit / 4 }
    /// The most that samples of figures may take.
    var figureShare: Int { limit / 4 }

    /// The bytes that are held for sessions, by them or by the replies to several.
    var held: Int { sessions.own + sessions.unsent + sessions.unread + pinned.bytes }

    /// Charges what a session holds now, in place of what it was charged before.
    mutating func charge(_ use: MemoryUse, to session: Session) {
        if use == session.memory { return }
        sessions = sessions + (use - session.memory)
        session.memory = use
    }

    /// The bytes that sessions have to free.
    /// - Parameter others: The bytes held otherwise; evaluated only when needed.
    func excess(_ others: () -> Int) -> Int {
        let used = held + max(reserved - sessions.unsent, 0)
        if used <= share { return 0 }
        return max(used - max(limit - others(), share), 0)
    }

    /// Whether texts of this size may grow by so many bytes.
    func allows(_ growth: Int, to bytes: Int) -> Bool { growth <= 0 || bytes + growth <= limit / 2 }
}

// MARK: - Holders of memory

extension Session {
    /// The bytes that the session holds now. Another holder is another line.
    private var ownBytes: Int {
        var bytes = output.memorySize
        bytes += dialect.memorySize
        bytes += events.memorySize
        bytes += replies.memorySize
        bytes += credentials.scopeBytes
        bytes += batch?.memorySize ?? 0
        bytes += work.memorySize
        return bytes
    }

    /// What is held for the session now.
    fileprivate var memoryNow: MemoryUse {
        var use = MemoryUse()
        if connection.phase == .closed { return use }
        use.own = ownBytes
        // What does not fit waits in the output. The buffer may have been larger when it was filled.
        if !output.isEmpty { use.unsent = max(memory.unsent, connection.sendBytes) }
        // Nothing tells how much arrives meanwhile.
        if !connection.interest.contains(.read), !input.hasEnded { use.unread = connection.receiveBytes }
        return use
    }

    /// The bytes that ending it could free; others may share its snapshot, or read the same changes.
    fileprivate var reclaimableBytes: Int {
        memory.own + replies.pinnedBytes + (events.position?.pinnedBytes ?? 0)
    }
}

extension Executor {
    /// The bytes held for no single session: values, history, the changes that watchers have not read, figures over time.
    private var stateBytes: Int {
        let used = registry.memorySize
        return used.values + used.history + hub.memorySize
    }

    /// All bytes that count, for `stats`.
    var heldBytes: Int { memory.held + stateBytes }

    /// The bytes that sessions have to free.
    fileprivate var excessBytes: Int { memory.excess { stateBytes } }

    /// Whether texts may grow by so many bytes.
    func hasRoom(for growth: Int) -> Bool { memory.allows(growth, to: registry.memorySize.values) }

    /// Throws if the texts would take too much memory after a batch.
    func refuseGrowth(_ batch: TweakBatch) throws(TweakError) {
        // Small batches skip the exact check.
        let most = batch.textBytes
        if most < 256 || hasRoom(for: most) || hasRoom(for: registry.textGrowth(batch)) { return }
        throw .tooMany(
            .memoryBytes,
            "texts that were set may take \(memory.limit / 2) bytes of memory, and this would be more; reset some, or raise "
                + "memoryBytes; nothing was changed")
    }

    /// Counts the memory of a snapshot while replies are generated from it.
    func pin(_ snapshot: TweakSnapshot) -> PinnedBytes {
        if let lastPin, lastPinnedRevision == snapshot.revision { return lastPin }
        let pin = PinnedBytes(snapshot.memorySize, in: memory.pinned)
        lastPin = pin
        lastPinnedRevision = snapshot.revision
        return pin
    }
}

// MARK: - The budget

extension EventLoop {
    func chargeMemory(_ session: Session) { executor.memory.charge(session.memoryNow, to: session) }

    func enforceMemoryBudget() {
        while executor.excessBytes > 0, let session = greediestSession() {
            evictForMemory(session)
            if hub.isFollowed { hub.trim() }
        }
    }

    /// The largest session of the peer that holds most: splitting over many sessions gives no advantage.
    private func greediestSession() -> Session? {
        let all = sessions.all.filter { $0.connection.phase != .closed && $0.reclaimableBytes > 0 }
        var byPeer: [ObjectIdentifier: Int] = [:]
        for session in all { byPeer[ObjectIdentifier(session.account), default: 0] += session.reclaimableBytes }
        let most = byPeer.max { $0.value < $1.value }?.key
        return all.filter { ObjectIdentifier($0.account) == most }.max { $0.reclaimableBytes < $1.reclaimableBytes }
    }

    /// Ends a session and frees its memory at once: the client does not read it anyway.
    private func evictForMemory(_ session: Session) {
        let text =
            "clients may use \(limits.memoryBytes) bytes of memory, and this session used the most, "
            + "\(session.reclaimableBytes); read replies as they come"
        let error = TweakError(.tooMany, text, limit: .memoryBytes)
        session.forgetOutput()
        if session.dialect.acceptsErrorInReply, session.isOpen {
            fail(error, session)
            advance(session)
        } else {
            // Inside a response the error would be taken for a part of it, and a client that does not read would miss
            // it.
            executor.count(error)
            executor.apply(.end(.init(error)), session)
            close(session, isOverdue: true)
        }
        chargeMemory(session)
    }
}

// MARK: - Buffers

/// The sizes of the buffers of one session, in the server and in the kernel: the more sessions there are, the less each
/// has.
struct BufferSizes: Equatable {
    /// The number of unsent bytes above which it is no longer read from and its events wait.
    let unsent: Int
    /// The kernel's send buffer, as the kernel counts it.
    let send: Int
    /// The kernel's receive buffer of a new TCP connection, as the kernel counts it. That of a Unix socket is the peer's
    /// send buffer.
    let receive: Int

    /// The number of sessions that share the budget at least. A client that does not read keeps what its buffer held when
    /// there were few sessions.
    static let leastSessions = 64
    /// The smallest send buffer that Linux grants, and the largest that makes anything faster on one machine.
    private static let sendRange = (smallest: 4_608, largest: 262_144)
    /// Windows are half as large. Larger ones make nothing faster on one machine.
    private static let receiveRange = (smallest: 8_192, largest: 65_536)
    /// Fewer unsent bytes would only cause more system calls.
    private static let leastUnsent = 4_096

    /// - Parameter sessions: The number of sessions that share the budget.
    init(_ limits: TweakServerLimits, sessions: Int) {
        let share = limits.memoryBytes / max(sessions, 1)
        unsent = min(limits.unsentBytes, max(share / 4, Self.leastUnsent))
        // Less than a sixteenth of the budget for all: the kernel may exceed them by half.
        send = min(max(share / 64 * 3, Self.sendRange.smallest), Self.sendRange.largest)
        // Connections keep theirs: a smaller one would discard what arrives in the window that was promised before.
        receive = min(max(share / 16, Self.receiveRange.smallest), Self.receiveRange.largest)
    }
}

extension EventLoop {
    /// Sets the buffers of a new session, or of all if their number has changed much.
    func fitBuffers(_ new: Session? = nil) {
        let count = sessions.count
        let before = buffers
        if count > bufferShares || bufferShares > BufferSizes.leastSessions && count < bufferShares / 4 {
            let powerOfTwo = count <= 1 ? 1 : 1 << (Int.bitWidth - (count - 1).leadingZeroBitCount)
            bufferShares = max(powerOfTwo, BufferSizes.leastSessions)
            buffers = BufferSizes(limits, sessions: bufferShares)
        }
        executor.memory.reserved = count * buffers.send
        if buffers != before {
            for session in sessions.all { setBuffers(of: session) }
            setListenerBuffers()
        } else if let new {
            setBuffers(of: new)
        }
        // It may have waited to be accepted since there were fewer sessions.
        if let new, !new.identity.peer.isLocal {
            new.connection.receiveBytes = Platform.receiveBuffer(new.connection.descriptor.number)
        }
    }

    /// Sets the receive buffer that new TCP connections inherit.
    func setListenerBuffers() {
        for listener in listeners where !listener.isUnix {
            Platform.setReceiveBuffer(ofConnectionsTo: listener.descriptor.number, buffers.receive)
        }
    }

    private func setBuffers(of session: Session) {
        session.connection.sendBytes = buffers.send
        Platform.setSendBuffer(session.connection.descriptor.number, buffers.send)
    }
}
