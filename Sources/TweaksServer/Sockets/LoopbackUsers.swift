// Finds the user at the other end of a TCP connection of this machine, where the kernel says it.

import TweaksSystem

/// Asks the kernel which user owns the client's end of a connection on loopback (Linux, sock_diag(7)). It only tells
/// clients apart, for quotas, and gives no rights. Elsewhere, and in a sandbox without netlink sockets, it knows none.
final class LoopbackUsers {
    private var socket: Descriptor?
    /// Whether the kernel has named the owner of a connection of our own: without its module it knows no connection at
    /// all, and each question would look for the module. Clients have no influence on that proof.
    private var isProven = false
    /// The proofs that may still fail; a lack of descriptors or memory may be over soon.
    private var attemptsLeft = 8

    init() {
        #if os(Linux)
            let number = tweaks_diag_open()
            socket = number < 0 ? nil : Descriptor(number)
        #endif
    }

    /// The user at the other end; nil if the kernel does not say it. Never blocks.
    func user(of connection: Int32) -> UInt32? {
        #if os(Linux)
            guard let number = socket?.number, isProven || prove(number) else { return nil }
            return UInt32(exactly: tweaks_diag_user(number, connection, 1))
        #else
            return nil
        #endif
    }

    #if os(Linux)
        /// Asks about a connection of our own; gives up after several failures.
        private func prove(_ number: Int32) -> Bool {
            isProven = tweaks_diag_works(number) != 0
            if isProven { return true }
            attemptsLeft -= 1
            if attemptsLeft == 0 { socket = nil }
            return false
        }
    #endif
}
