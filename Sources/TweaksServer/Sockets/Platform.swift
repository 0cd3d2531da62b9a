// Wraps the socket calls that differ between Linux and Apple systems, and their addresses.

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

    /// Creates two connected stream sockets of this process; nil if it has no descriptors left.
    static func makePair() -> (Int32, Int32)? {
        var numbers: [Int32] = [-1, -1]
        #if canImport(Darwin)
            let kind = stream
        #elseif canImport(Musl)
            let kind = stream | SOCK_CLOEXEC
        #else
            let kind = stream | Int32(SOCK_CLOEXEC.rawValue)
        #endif
        guard socketpair(AF_UNIX, kind, 0, &numbers) == 0 else { return nil }
        for number in numbers { prepare(number) }
        return (numbers[0], numbers[1])
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
        var size: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
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
            var uid = uid_t()
            var gid = gid_t()
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

    static func text(of path: String) -> String? {
        let file = try? Folder.anywhere.open(path, for: .reading, FileRules(.anyone))
        return (try? file?.head(65_536)).map { String(decoding: $0, as: UTF8.self) }
    }
}

/// An address of a Unix socket or of TCP.
enum SocketAddress: Equatable {
    case unix(path: String)
    /// Four bytes.
    case version4([UInt8], port: UInt16)
    /// Sixteen bytes.
    case version6([UInt8], port: UInt16)

    /// 127.0.0.1
    static func loopback4(port: UInt16) -> SocketAddress { .version4([127, 0, 0, 1], port: port) }

    /// ::1
    static func loopback6(port: UInt16) -> SocketAddress {
        .version6([UInt8](repeating: 0, count: 15) + [1], port: port)
    }

    /// A numeric address, `192.0.2.1` or `2001:db8::1`; nil for anything else.
    init?(_ text: String, port: UInt16) {
        var bytes = [UInt8](repeating: 0, count: 16)
        if inet_pton(AF_INET, text, &bytes) == 1 {
            self = .version4(Array(bytes.prefix(4)), port: port)
        } else if inet_pton(AF_INET6, text, &bytes) == 1 {
            self = .version6(bytes, port: port)
        } else {
            return nil
        }
    }

    /// Whether it is reachable only from this machine.
    var isLoopback: Bool {
        switch self {
        case .unix: true
        case .version4(let bytes, _): bytes.first == 127
        case .version6(let bytes, _): bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1
        }
    }

    var family: Int32 {
        switch self {
        case .unix: AF_UNIX
        case .version4: AF_INET
        case .version6: AF_INET6
        }
    }

    /// The maximum path length of a Unix socket, in bytes.
    static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Calls `body` with the address as a C structure.
    func withCAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        switch self {
        case .unix(let path):
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8.prefix(Self.longestPath)) }
            return Self.lend(&address, body)
        case .version4(let bytes, let port):
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin_addr) { $0.copyBytes(from: bytes) }
            return Self.lend(&address, body)
        case .version6(let bytes, let port):
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            withUnsafeMutableBytes(of: &address.sin6_addr) { $0.copyBytes(from: bytes) }
            return Self.lend(&address, body)
        }
    }

    private static func lend<Address, Result>(
        _ address: inout Address, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result
    ) -> Result {
        withUnsafePointer(to: &address) { pointer in
            // A sockaddr_xx begins like a sockaddr: that is the contract of the socket calls.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// The numeric host and the port of a TCP socket: its own, or its peer's.
    static func of(_ descriptor: Int32, peer: Bool = false) -> (host: String, port: UInt16)? {
        var storage = sockaddr_storage()
        var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
        var host = [CChar](repeating: 0, count: 256)
        var port = [CChar](repeating: 0, count: 16)
        let isKnown = withUnsafeMutablePointer(to: &storage) { storage in
            storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                (peer ? getpeername(descriptor, address, &length) : getsockname(descriptor, address, &length)) == 0
                    && getnameinfo(
                        address, length, &host, socklen_t(host.count), &port, socklen_t(port.count),
                        NI_NUMERICHOST | NI_NUMERICSERV) == 0
            }
        }
        guard isKnown, let number = UInt16(text(port)) else { return nil }
        let isVersion6 = storage.ss_family == sa_family_t(AF_INET6)
        return (isVersion6 ? "[\(text(host))]" : text(host), number)
    }

    private static func text(_ bytes: [CChar]) -> String {
        String(decoding: bytes.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension Platform {
    /// The number of files and sockets that this process may open: the soft limit, as `ulimit -n` shows it.
    static var descriptorLimit: Int {
        #if canImport(Glibc)
            let resource = RLIMIT_NOFILE.rawValue
        #else
            let resource = RLIMIT_NOFILE
        #endif
        var limits = rlimit()
        guard getrlimit(.init(resource), &limits) == 0 else { return .max }
        return Int(clamping: limits.rlim_cur)
    }
}

extension TweakServerLimits {
    /// The server's own descriptors: its listeners, the poller, the reserve, and the slots reserved for operators.
    private static let ownDescriptors = 16

    /// Returns the effective limits for a number of descriptors: after the program's reserve, they are for sessions and
    /// for connections being refused.
    package func fitted(to descriptors: Int) -> TweakServerLimits {
        var fitted = self
        let available = Int(Double(min(descriptors, 1 << 40)) * (1 - reserve))
        fitted.refusedSessions = min(refusedSessions, max(available / 8, 1))
        let most = max(available - fitted.refusedSessions - Self.ownDescriptors, 1)
        if sessions <= most { return fitted }
        fitted.sessions = most
        // The same ratio as before, so that one peer never takes all.
        // A program may allow any number of sessions: `.max` means no limit.
        let share = min(Double(sessionsPerPeer) / Double(sessions), 1) * Double(most)
        fitted.sessionsPerPeer = min(sessionsPerPeer, max(Int(share), 1))
        fitted.unauthenticatedSessions = min(unauthenticatedSessions, max(most / 4, 1))
        return fitted
    }

    /// The number of descriptors that allows the configured limits.
    private var descriptorsWanted: Int {
        let all = Double(sessions) + Double(refusedSessions) + Double(Self.ownDescriptors)
        return Int(exactly: (all / (1 - reserve)).rounded(.up)) ?? .max
    }

    private var reserve: Double { min(max(descriptorReserve, 0), 0.99) }

    /// The warning if fewer sessions are possible than configured.
    func warning(_ inForce: TweakServerLimits, descriptors: Int) -> String? {
        if inForce.sessions >= sessions { return nil }
        return "at most \(inForce.sessions) sessions, \(inForce.sessionsPerPeer) of one user, token or address: this "
            + "process may open \(descriptors) files, and \(Int((reserve * 100).rounded())) % of them are kept for the "
            + "program; for \(sessions) sessions set LimitNOFILE, or ulimit -n, to \(descriptorsWanted)"
    }
}
