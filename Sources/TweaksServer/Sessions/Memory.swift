// Counts the memory that clients occupy, and keeps it within the budget: the greediest loses first.

import Tweaks
import TweaksWire

/// The memory budget of a server. Sessions and the kernel's buffers of their connections may use what values and history
/// leave, and at least a quarter.
struct MemoryBudget {
    let limit: Int
    /// The bytes held by single sessions.
    var sessions = 0
    /// The bytes in full send buffers of the kernel.
    var kernel = 0
    /// The bytes that all buffers of the kernel may hold at their present sizes.
    var reserved = 0
    /// The bytes that receive buffers of the kernel may hold which are not read.
    var unread = 0
    /// The bytes shared between sessions.
    let pinned = PinnedBytes.Total()

    init(limit: Int) { self.limit = limit }

    /// The bytes that sessions may always use.
    private var share: Int { limit / 4 }
    /// The limit of the history, which forgets its oldest commits beyond it.
    var historyShare: Int { limit / 4 }

    /// The bytes that sessions have to free.
    /// - Parameter others: The bytes held otherwise; evaluated only when needed.
    func excess(_ others: () -> Int) -> Int {
        let used = sessions + pinned.bytes + max(kernel, reserved) + unread
        if used <= share { return 0 }
        return max(used - max(limit - others(), share), 0)
    }

    /// Whether texts of this size may grow by so many bytes.
    func allows(_ growth: Int, to bytes: Int) -> Bool { growth <= 0 || bytes + growth <= limit / 2 }
}

extension Session {
    /// The bytes that the session holds now.
    var memory: Int {
        var bytes =
            output.memorySize + dialect.memorySize + events.memorySize + replies.memorySize + credentials.scopeBytes
        if let batch { bytes += batch.memorySize }
        switch work {
        case .running(let running): return bytes + (running.proposal?.memorySize ?? 0)
        case .sweeping(let sweep, _): return bytes + sweep.memorySize
        default: return bytes
        }
    }

    /// The bytes that ending it could free; others may share its snapshot, or read the same changes.
    var reclaimableBytes: Int {
        accounts.memorySize + replies.pinnedBytes + (events.position?.pinnedBytes ?? 0)
    }
}

extension Executor {
    /// The bytes held outside sessions.
    var stateBytes: Int {
        let used = registry.memorySize
        return used.values + used.history + hub.memorySize
    }

    /// Whether texts may grow by so many bytes.
    func hasRoom(for growth: Int) -> Bool { memory.allows(growth, to: registry.memorySize.values) }

    /// Throws if the texts would take too much memory after a batch.
    func refuseGrowth(_ batch: TweakBatch) throws(TweakError) {
        // Small batches skip the exact check.
        let most = batch.textBytes
        if most < 256 || hasRoom(for: most) || hasRoom(for: registry.textGrowth(batch)) { return }
        throw TweakError(
            .tooMany,
            "texts that were set may take \(memory.limit / 2) bytes of memory, and this would be more; reset some, or raise "
                + "memoryBytes; nothing was changed", limit: .memoryBytes)
    }
}

extension EventLoop {
    /// Updates the count of bytes that a session holds.
    func updateMemoryUse(_ session: Session) {
        let isClosed = session.connection.phase == .closed
        executor.memory.sessions += session.accounts.hold(isClosed ? 0 : session.memory)
        // What does not fit waits in the output. The buffer may have been larger when it was filled.
        let isFull = !isClosed && !session.output.isEmpty
        let kernel = isFull ? max(session.connection.kernelBytes, session.connection.sendBytes) : 0
        // Nothing tells how much arrives meanwhile.
        let isUnread = !isClosed && !session.connection.interest.contains(.read) && !session.input.hasEnded
        let unread = isUnread ? session.connection.receiveBytes : 0
        executor.memory.kernel += kernel - session.connection.kernelBytes
        executor.memory.unread += unread - session.connection.unreadBytes
        (session.connection.kernelBytes, session.connection.unreadBytes) = (kernel, unread)
    }

    /// Ends sessions until the memory in use is within the budget.
    func enforceMemoryBudget() {
        while executor.memory.excess({ executor.stateBytes }) > 0, let session = largestSession() {
            evictForMemory(session)
            if hub.isFollowed { hub.trim() }
        }
    }

    /// The largest session of the peer that holds most: splitting over many sessions gives no advantage.
    private func largestSession() -> Session? {
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
        updateMemoryUse(session)
    }
}

/// The sizes of the buffers of one session, in the server and in the kernel.
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
            bufferShares = max(count.roundedUpToPowerOfTwo, BufferSizes.leastSessions)
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
        if let new, new.identity.peer.transport != .unix {
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

extension Int {
    /// The lowest power of two that is not lower.
    fileprivate var roundedUpToPowerOfTwo: Int {
        self <= 1 ? 1 : 1 << (Int.bitWidth - (self - 1).leadingZeroBitCount)
    }
}
