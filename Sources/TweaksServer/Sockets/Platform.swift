// Wraps the socket calls that differ between Linux and Apple systems.

import TweaksSystem

/// Constants and calls under one name for all systems.
package enum Platform {
    #if canImport(Darwin)
        static let stream = SOCK_STREAM
        static let sendFlags: Int32 = 0  // SO_NOSIGPIPE is set on the socket instead.
    #elseif canImport(Musl)
        static let stream = SOCK_STREAM
        static let sendFlags = Int32(MSG_NOSIGNAL)
    #else
        static let stream = Int32(SOCK_STREAM.rawValue)
        static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif

    /// Creates a stream socket that is closed on exec: on Linux atomically, so that no concurrently started program
    /// inherits it.
    static func makeSocket(_ family: Int32) -> Int32 {
        #if canImport(Darwin)
            let number = socket(family, stream, 0)
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            return number
        #elseif canImport(Musl)
            socket(family, stream | SOCK_CLOEXEC, 0)
        #else
            socket(family, stream | Int32(SOCK_CLOEXEC.rawValue), 0)
        #endif
    }

    /// Makes a descriptor non-blocking, closed on exec, and free of SIGPIPE.
    static func prepare(_ descriptor: Int32) {
        _ = fcntl(descriptor, F_SETFL, fcntl(descriptor, F_GETFL) | O_NONBLOCK)
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            var on: Int32 = 1
            setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
        #endif
    }

    /// Makes a descriptor stand for what another one has opened; what it stood for is closed.
    static func replace(_ descriptor: Int32, by other: Int32) -> Bool {
        #if os(Linux)
            // Atomic close-on-exec, as in accepting.
            tweaks_duplicate(other, descriptor) >= 0
        #else
            dup2(other, descriptor) >= 0 && fcntl(descriptor, F_SETFD, FD_CLOEXEC) >= 0
        #endif
    }

    /// Sets the kernel's send buffer of a connection, in bytes as the kernel counts them; it no longer enlarges it.
    static func setSendBuffer(_ descriptor: Int32, _ bytes: Int) { setBuffer(descriptor, SO_SNDBUF, bytes) }

    /// Sets the receive buffer of the connections that a TCP listener will get; the kernel does not enlarge it.
    static func setReceiveBuffer(ofConnectionsTo listener: Int32, _ bytes: Int) {
        setBuffer(listener, SO_RCVBUF, bytes)
    }

    private static func setBuffer(_ descriptor: Int32, _ option: Int32, _ bytes: Int) {
        // Linux doubles what is set, for its own bookkeeping.
        #if canImport(Darwin)
            let factor = 1
        #else
            let factor = 2
        #endif
        var size = Int32(clamping: bytes / factor)
        setsockopt(descriptor, SOL_SOCKET, option, &size, socklen_t(MemoryLayout<Int32>.size))
    }

    /// The kernel's receive buffer of a connection, in bytes as the kernel counts them.
    static func receiveBuffer(_ descriptor: Int32) -> Int {
        var (size, length) = (Int32(0), socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(descriptor, SOL_SOCKET, SO_RCVBUF, &size, &length) == 0 ? Int(size) : 0
    }

    /// The bytes of a TCP connection that the kernel keeps because the peer has no room for them.
    /// - Parameter withSent: Also those that were sent and that the peer's kernel has not accepted yet.
    static func unsentBytes(_ descriptor: Int32, withSent: Bool = false) -> Int {
        #if os(Linux)
            // SIOCOUTQ and SIOCOUTQNSD of linux/sockios.h.
            var count: Int32 = 0
            return ioctl(descriptor, withSent ? 0x5411 : 0x894B, &count) == 0 ? Int(count) : 0
        #else
            // Those under way count as well there, and a client that reads must get them.
            return 0
        #endif
    }

    /// Makes closing a TCP connection a reset, which discards what the kernel keeps of it.
    static func resetWhenClosed(_ descriptor: Int32) {
        var option = linger(l_onoff: 1, l_linger: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &option, socklen_t(MemoryLayout<linger>.size))
    }

    /// Opens a descriptor only to reserve its number.
    static func openNull() -> Int32 { open("/dev/null", O_RDONLY | O_CLOEXEC) }

    /// The user at the other end of a Unix socket when it connected.
    package struct PeerUser: Equatable, Sendable {
        package let user: UInt32
        package let group: UInt32
        package let process: Int32?
    }

    /// The user at the other end of a Unix socket, as the kernel reports it.
    static func peerUser(_ descriptor: Int32) -> PeerUser? {
        #if canImport(Darwin)
            var (uid, gid) = (uid_t(), gid_t())
            guard getpeereid(descriptor, &uid, &gid) == 0 else { return nil }
            var process = pid_t()
            var length = socklen_t(MemoryLayout<pid_t>.size)
            let isKnown = getsockopt(descriptor, SOL_LOCAL, LOCAL_PEERPID, &process, &length) == 0
            return PeerUser(user: uid, group: gid, process: isKnown ? process : nil)
        #else
            var peer = tweaks_peer()
            guard tweaks_peer_of(descriptor, &peer) == 0 else { return nil }
            return PeerUser(user: peer.uid, group: peer.gid, process: peer.pid)
        #endif
    }

    /// The supplementary groups of that user; none if the kernel does not report them.
    static func peerGroups(_ descriptor: Int32) -> [UInt32] {
        #if canImport(Darwin)
            var credentials = xucred()
            var length = socklen_t(MemoryLayout<xucred>.size)
            guard getsockopt(descriptor, SOL_LOCAL, LOCAL_PEERCRED, &credentials, &length) == 0 else { return [] }
            return withUnsafeBytes(of: credentials.cr_groups) { groups in
                Array(groups.bindMemory(to: gid_t.self).prefix(Int(credentials.cr_ngroups)))
            }
        #else
            // Linux allows a user 65,536 groups; real users have few, so the kernel is asked for the count first.
            var length: UInt32 = 0
            _ = tweaks_peer_groups_of(descriptor, nil, &length)
            var groups = [UInt32](repeating: 0, count: Int(length) / MemoryLayout<UInt32>.size)
            guard !groups.isEmpty, tweaks_peer_groups_of(descriptor, &groups, &length) == 0 else { return [] }
            return Array(groups.prefix(Int(length) / MemoryLayout<UInt32>.size))
        #endif
    }

    /// The text of a small system file; nil if there is none.
    static func text(of path: String) -> String? {
        let file = try? Folder.anywhere.open(path, for: .reading, FileRules(.anyone))
        return (try? file?.head(65_536)).map { String(decoding: $0, as: UTF8.self) }
    }
}
