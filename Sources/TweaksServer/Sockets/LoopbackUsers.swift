// Finds the user at the other end of a TCP connection of this machine, where the kernel says it.

import TweaksSystem

/// Asks the kernel which user owns the client's end of a connection on loopback (Linux, sock_diag(7)). It only tells
/// clients apart, for quotas, and gives no rights. Elsewhere, and in a sandbox without netlink sockets, it knows none.
final class LoopbackUsers {
    private var socket: Descriptor?
    /// Whether the kernel has answered a question about our own end: without its module it knows no connection at all,
    /// and each question would look for the module.
    private var isProven = false

    init() {
        #if os(Linux)
            let number = tweaks_diag_open()
            socket = number < 0 ? nil : Descriptor(number)
        #endif
    }

    /// The user at the other end; nil if the kernel does not say it. Never blocks.
    func user(of connection: Int32) -> UInt32? {
        #if os(Linux)
            guard let number = socket?.number else { return nil }
            if !isProven {
                isProven = tweaks_diag_user(number, connection, 0) >= 0
                guard isProven else {
                    socket = nil
                    return nil
                }
            }
            return UInt32(exactly: tweaks_diag_user(number, connection, 1))
        #else
            return nil
        #endif
    }
}
