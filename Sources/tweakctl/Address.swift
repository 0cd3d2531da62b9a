// Parses server addresses and connects sockets to them.

import TweaksSystem

/// The address of a server.
enum Address: Equatable {
    case unix(path: String)
    case tcp(host: String, port: String)

    /// Parses `HOST:PORT`, `[::1]:PORT`, or a port alone, which means this machine.
    init(hostAndPort text: String) throws(Failure) {
        let colon = text.lastIndex(of: ":")
        var host = colon.map { String(text[..<$0]) } ?? ""
        let port = colon.map { String(text[text.index(after: $0)...]) } ?? text
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard let number = UInt16(port), number > 0 else {
            throw Failure(.usage, "-H \(text): write HOST:PORT, as in -H 127.0.0.1:7777")
        }
        self = .tcp(host: host.isEmpty ? "localhost" : host, port: String(number))
    }

    /// The address as a user writes it.
    var text: String {
        switch self {
        case .unix(let path): path
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The key of saved tokens: the same for each spelling of an address, from any working directory.
    var cacheKey: String {
        switch self {
        case .unix(let path): ThisProcess.absolute(path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
        case .tcp: text.lowercased()
        }
    }

    /// An error of connecting.
    struct ConnectError: Error {
        let code: Int32
        let text: String
        /// Whether something listens there that does not accept connections in time.
        var isTimeout: Bool { [EAGAIN, EINPROGRESS, ETIMEDOUT].contains(code) }
    }

    /// Opens a connected socket.
    /// - Parameter milliseconds: The timeout for each of a host's addresses; 0 does not wait, nil waits without a limit.
    func connectedSocket(within milliseconds: Int32?) throws(ConnectError) -> Int32 {
        switch self {
        case .unix(let path): try Self.connected(path, milliseconds)
        case .tcp(let host, let port): try Self.connected(host, port, milliseconds)
        }
    }

    private static func connected(_ path: String, _ milliseconds: Int32?) throws(ConnectError) -> Int32 {
        var address = sockaddr_un()
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw ConnectError(code: ENAMETOOLONG, text: "the path is too long for a socket")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return try withUnsafePointer(to: &address) { pointer throws(ConnectError) in
            // A sockaddr_un begins like a sockaddr, as the socket calls require.
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(ConnectError) in
                try connected(AF_UNIX, address, socklen_t(MemoryLayout<sockaddr_un>.size), milliseconds)
            }
        }
    }

    /// Connects to the first of the host's addresses that accepts.
    private static func connected(
        _ host: String, _ port: String, _ milliseconds: Int32?
    ) throws(ConnectError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = System.stream
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, port, &hints, &list)
        guard result == 0, let list else { throw ConnectError(code: 0, text: String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(list) }
        var connectError = ConnectError(code: 0, text: "the host has no address")
        var next: UnsafeMutablePointer<addrinfo>? = list
        while let entry = next {
            do throws(ConnectError) {
                if let address = entry.pointee.ai_addr {
                    return try connected(entry.pointee.ai_family, address, entry.pointee.ai_addrlen, milliseconds)
                }
            } catch {
                connectError = error
            }
            next = entry.pointee.ai_next
        }
        throw connectError
    }

    private static func connected(
        _ family: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t, _ milliseconds: Int32?
    ) throws(ConnectError) -> Int32 {
        let number = socket(family, System.stream, 0)
        if number < 0 { throw ConnectError(code: errno, text: errorText()) }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        // A full backlog of a Unix socket blocks connect(2); without waiting, it is an error there.
        let flags = fcntl(number, F_GETFL)
        if milliseconds == 0 { _ = fcntl(number, F_SETFL, flags | O_NONBLOCK) }
        // Linux applies this to connect(2), too; elsewhere the system's own limit holds.
        setTimeout(of: number, milliseconds ?? 0)
        if connect(number, address, length) != 0 {
            let error = ConnectError(code: errno, text: errorText())
            close(number)
            throw error.isTimeout ? ConnectError(code: error.code, text: "it does not accept connections") : error
        }
        setTimeout(of: number, 0)
        _ = fcntl(number, F_SETFL, flags)
        var on: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<Int32>.size))
        if family != AF_UNIX {
            setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        return number
    }

    /// Limits the time of calls that send; 0 is no limit.
    private static func setTimeout(of number: Int32, _ milliseconds: Int32) {
        var time = timeval()
        time.tv_sec = .init(milliseconds / 1_000)
        time.tv_usec = .init(milliseconds % 1_000 * 1_000)
        setsockopt(number, SOL_SOCKET, SO_SNDTIMEO, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}
