// Opens and connects sockets, and sends datagrams to Unix sockets.

/// The reason why a socket is not connected.
package struct SocketError: Error, Hashable, Sendable {
    /// The error number; 0 where a host has no address.
    package let code: Int32
    package let text: String

    fileprivate init(_ code: Int32, _ text: String? = nil) {
        self.code = code
        self.text = text ?? errorText(code)
    }
}

/// Socket calls whose details differ between systems.
package enum Sockets {
    /// Flags of a send that raises no SIGPIPE; on Darwin an option of the socket prevents it.
    #if canImport(Darwin)
        fileprivate static let sendFlags: Int32 = 0
    #else
        fileprivate static let sendFlags = Int32(MSG_NOSIGNAL)
    #endif
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
        fileprivate static let datagram = Int32(SOCK_DGRAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
        fileprivate static let datagram = SOCK_DGRAM
    #endif

    /// Opens a socket that child processes do not inherit.
    /// - Returns: Below 0 on failure.
    fileprivate static func open(_ family: Int32, _ kind: Int32) -> Int32 {
        #if canImport(Glibc)
            return socket(family, kind | Int32(SOCK_CLOEXEC.rawValue), 0)
        #elseif !canImport(Darwin)
            return socket(family, kind | SOCK_CLOEXEC, 0)
        #else
            let number = socket(family, kind, 0)
            if number < 0 { return number }
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            set(number, level: SOL_SOCKET, SO_NOSIGPIPE, to: 1)
            return number
        #endif
    }

    /// Sets an option that is a number.
    package static func set(_ number: Int32, level: Int32, _ name: Int32, to value: Int32) {
        var value = value
        setsockopt(number, level, name, &value, socklen_t(MemoryLayout<Int32>.size))
    }

    /// Sends all bytes; false when the connection is broken.
    package static func send(_ bytes: [UInt8], to number: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { TweaksSystem.send(number, $0.baseAddress, $0.count, sendFlags) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            rest = rest.dropFirst(count)
        }
        return true
    }

    // MARK: Connecting

    /// Connects to the first address of a host that accepts. Small writes are sent at once.
    /// - Parameter milliseconds: The time limit for each address; nil is none.
    package static func connect(
        host: String, port: String, milliseconds: Int32?
    ) throws(SocketError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = stream
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, port, &hints, &list)
        guard result == 0, let first = list else { throw SocketError(0, String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(first) }
        var last = SocketError(0, "the host has no address")
        for entry in sequence(first: first, next: { $0.pointee.ai_next }) {
            guard let address = entry.pointee.ai_addr else { continue }
            do throws(SocketError) {
                let number = try connect(
                    family: entry.pointee.ai_family, address, entry.pointee.ai_addrlen, milliseconds: milliseconds)
                set(number, level: Int32(IPPROTO_TCP), TCP_NODELAY, to: 1)
                return number
            } catch {
                last = error
            }
        }
        throw last
    }

    /// Connects to a Unix socket.
    /// - Parameter milliseconds: The time limit; nil is none.
    package static func connect(path: String, milliseconds: Int32?) throws(SocketError) -> Int32 {
        guard let address = UnixAddress(Array(path.utf8)) else {
            throw SocketError(ENAMETOOLONG, "the path is empty or too long for a socket")
        }
        return try address.withPointer { pointer, length throws(SocketError) in
            try connect(family: AF_UNIX, pointer, length, milliseconds: milliseconds)
        }
    }

    private static func connect(
        family: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, milliseconds: Int32?
    ) throws(SocketError) -> Int32 {
        let number = open(family, stream)
        if number < 0 { throw SocketError(errno, "no socket: \(errorText()); allow more open files") }
        let flags = fcntl(number, F_GETFL)
        // Linux does not report when the backlog of a Unix socket has room again: there the call itself must wait.
        let waitsInCall = family == AF_UNIX && milliseconds != 0
        if !waitsInCall { _ = fcntl(number, F_SETFL, flags | O_NONBLOCK) }
        setSendTimeout(of: number, milliseconds ?? 0)
        var code = TweaksSystem.connect(number, address, length) == 0 ? 0 : errno
        if waitsInCall {
            // After a signal nothing is under way, and the end of the time is reported as by a full buffer.
            while code == EINTR { code = TweaksSystem.connect(number, address, length) == 0 ? 0 : errno }
            if code == EAGAIN { code = ETIMEDOUT }
        } else if code == EINPROGRESS || code == EINTR {
            code = wait(for: number, milliseconds)
        }
        if code != 0 {
            close(number)
            throw SocketError(code)
        }
        setSendTimeout(of: number, 0)
        _ = fcntl(number, F_SETFL, flags)
        set(number, level: SOL_SOCKET, SO_KEEPALIVE, to: 1)
        return number
    }

    /// Waits until a connection is made.
    /// - Returns: An error number; 0 on success.
    private static func wait(for number: Int32, _ milliseconds: Int32?) -> Int32 {
        var watched = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
        var count: Int32 = 0
        repeat { count = poll(&watched, 1, milliseconds ?? -1) } while count < 0 && errno == EINTR
        if count == 0 { return ETIMEDOUT }
        var error: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(number, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? error : errno
    }

    /// Limits the time of calls that send, and on Linux of those that connect; 0 is no limit.
    private static func setSendTimeout(of number: Int32, _ milliseconds: Int32) {
        var time = timeval()
        time.tv_sec = .init(milliseconds / 1_000)
        time.tv_usec = .init(milliseconds % 1_000 * 1_000)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}

/// The address of a Unix socket: a path or, on Linux, a zero byte and an abstract name.
private struct UnixAddress: Sendable {
    private let name: [UInt8]

    private static let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// The maximum number of bytes of a name; a path needs a terminating zero byte.
    static func maxLength(isAbstract: Bool) -> Int { isAbstract ? capacity : capacity - 1 }

    /// Nil for a name that is empty or too long, or a path with a zero byte.
    init?(_ name: [UInt8]) {
        let isAbstract = name.first == 0
        guard !name.isEmpty, name.count <= Self.maxLength(isAbstract: isAbstract), !name.dropFirst().contains(0) else {
            return nil
        }
        self.name = name
    }

    /// Calls `body` with the C address. Its length ends with the name, because an abstract name includes all bytes.
    func withPointer<Result, Failure: Error>(
        _ body: (UnsafePointer<sockaddr>, socklen_t) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let offset = MemoryLayout<sockaddr_un>.size - Self.capacity
        let end = offset + name.count + (name[0] == 0 ? 0 : 1)
        return try withUnsafePointer(to: &address) { pointer throws(Failure) in
            // A sockaddr_un has the layout of sockaddr at its start, as the socket calls require.
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer throws(Failure) in
                try body(pointer, socklen_t(end))
            }
        }
    }
}

/// A Unix datagram socket to send to, named by a path or, on Linux, by an abstract name.
package struct UnixDatagrams: Sendable {
    private let address: UnixAddress

    /// The maximum number of bytes of a name.
    package static func maxLength(isAbstract: Bool) -> Int { UnixAddress.maxLength(isAbstract: isAbstract) }

    /// - Parameter name: A path, or a zero byte and a name. Nil if it is empty or too long, or a path with a zero byte.
    package init?(_ name: [UInt8]) {
        guard let address = UnixAddress(name) else { return nil }
        self.address = address
    }

    /// Sends one datagram, without blocking.
    /// - Returns: The error number; nil if it was sent.
    package func send(_ message: [UInt8]) -> Int32? {
        let number = Sockets.open(AF_UNIX, Sockets.datagram)
        if number < 0 { return errno }
        defer { close(number) }
        let flags = Sockets.sendFlags | Int32(MSG_DONTWAIT)
        let count = address.withPointer { sendto(number, message, message.count, flags, $0, $1) }
        return count == message.count ? nil : errno
    }
}
