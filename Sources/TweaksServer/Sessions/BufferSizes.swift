// Divides the memory for buffers between the sessions: the more there are, the less each has.

import Tweaks

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
