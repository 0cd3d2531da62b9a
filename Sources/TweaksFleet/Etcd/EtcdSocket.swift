// Connects to etcd, sends and receives, with blocking socket calls.

import TweaksSystem

/// The parsed URL of a request: `http://HOST[:PORT]/PATH`.
struct EtcdAddress: Hashable, Sendable {
    let host: String
    let port: UInt16
    let path: String
    /// The value of the `Host` header.
    let authority: String

    /// Returns nil for other URLs.
    init?(_ url: String) {
        guard url.hasPrefix("http://") else { return nil }
        let rest = url.dropFirst(7)
        let authority = String(rest.prefix { $0 != "/" })
        // An IPv6 address is in brackets and contains colons.
        let end = authority.lastIndex(of: "]") ?? authority.startIndex
        let colon = authority[end...].lastIndex(of: ":")
        let name = authority[..<(colon ?? authority.endIndex)]
        let host = String(name.hasPrefix("[") && name.hasSuffix("]") ? name.dropFirst().dropLast() : name)
        // Without brackets, the only colon is the one in front of the port.
        guard host.contains(":") == name.hasPrefix("["), name.hasPrefix("[") == name.hasSuffix("]") else { return nil }
        guard let port = colon.map({ UInt16(authority[authority.index(after: $0)...]) }) ?? 80, !host.isEmpty else {
            return nil
        }
        let path = rest.dropFirst(authority.count)
        (self.host, self.port, self.authority) = (host, port, authority)
        self.path = path.isEmpty ? "/" : String(path)
    }
}

/// Socket calls. The caller of `connect` owns the descriptor, until it passes it on.
enum EtcdSocket {
    #if canImport(Darwin)
        private static let sendFlags: Int32 = 0
    #else
        private static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    /// Connects to the first address of a host that accepts.
    /// - Parameter timeout: The time limit for each address, in milliseconds.
    static func connect(_ address: EtcdAddress, timeout: Int32 = 5_000) throws(EtcdTransportError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = stream
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(address.host, String(address.port), &hints, &list)
        guard result == 0, let first = list else {
            throw unreachable("\(address.host) has no address: \(String(cString: gai_strerror(result)))")
        }
        defer { freeaddrinfo(first) }
        var problem = "it has no address"
        for entry in sequence(first: first, next: { $0.pointee.ai_next }) {
            let socket = socket(entry.pointee.ai_family, stream, 0)
            guard socket >= 0 else { throw unreachable("no socket: \(errorText()); allow more open files") }
            prepare(socket)
            let error = begin(socket, entry.pointee, timeout)
            if error == 0 { return socket }
            close(socket)
            problem = "cannot connect: \(errorText(error))"
        }
        throw unreachable(problem)
    }

    private static func unreachable(_ text: String) -> EtcdTransportError {
        EtcdTransportError(.unreachable(text), mayHaveTakenEffect: false)
    }

    /// Connects with a time limit.
    /// - Returns: An error number; 0 on success.
    private static func begin(_ socket: Int32, _ entry: addrinfo, _ timeout: Int32) -> Int32 {
        let flags = fcntl(socket, F_GETFL)
        _ = fcntl(socket, F_SETFL, flags | O_NONBLOCK)
        defer { _ = fcntl(socket, F_SETFL, flags) }
        if TweaksSystem.connect(socket, entry.ai_addr, entry.ai_addrlen) == 0 { return 0 }
        guard errno == EINPROGRESS || errno == EINTR else { return errno }
        var watched = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
        var count: Int32 = 0
        repeat { count = poll(&watched, 1, timeout) } while count < 0 && errno == EINTR
        if count == 0 { return ETIMEDOUT }
        var (error, length): (Int32, socklen_t) = (0, socklen_t(MemoryLayout<Int32>.size))
        return getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Sets socket options: no inheritance by child processes, no delay, and keepalive probes that detect a dead
    /// connection within a minute.
    private static func prepare(_ socket: Int32) {
        _ = fcntl(socket, F_SETFD, FD_CLOEXEC)
        #if canImport(Darwin)
            set(socket, SOL_SOCKET, SO_NOSIGPIPE, 1)
            let idle = TCP_KEEPALIVE
        #else
            let idle = TCP_KEEPIDLE
        #endif
        set(socket, Int32(IPPROTO_TCP), TCP_NODELAY, 1)
        set(socket, SOL_SOCKET, SO_KEEPALIVE, 1)
        set(socket, Int32(IPPROTO_TCP), idle, 30)
        set(socket, Int32(IPPROTO_TCP), TCP_KEEPINTVL, 10)
        set(socket, Int32(IPPROTO_TCP), TCP_KEEPCNT, 3)
    }

    private static func set(_ socket: Int32, _ level: Int32, _ name: Int32, _ value: Int32) {
        var value = value
        setsockopt(socket, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends all bytes.
    static func send(_ bytes: [UInt8], to socket: Int32) -> Bool {
        bytes.withUnsafeBytes { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let part = UnsafeRawBufferPointer(rebasing: rest)
                let count = TweaksSystem.send(socket, part.baseAddress, part.count, sendFlags)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
    }

    /// Waits for bytes.
    /// - Returns: The received bytes; none at the end, nil if the connection is broken.
    static func receive(_ socket: Int32, into buffer: inout [UInt8]) -> ArraySlice<UInt8>? {
        while true {
            let count = buffer.withUnsafeMutableBytes { recv(socket, $0.baseAddress, $0.count, 0) }
            if count < 0, errno == EINTR { continue }
            return count < 0 ? nil : buffer.prefix(count)
        }
    }

    /// Whether an idle connection has been closed or has received unexpected data.
    static func isStale(_ socket: Int32) -> Bool {
        var watched = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        return poll(&watched, 1, 0) != 0
    }
}
