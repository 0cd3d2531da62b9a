// Parses server addresses and connects sockets to them.

import TweaksSystem
import TweaksTerminal

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
    }

    /// Opens a connected socket.
    func connectedSocket() throws(ConnectError) -> Int32 {
        switch self {
        case .unix(let path): try Self.connected(path)
        case .tcp(let host, let port): try Self.connected(host, port)
        }
    }

    private static func connected(_ path: String) throws(ConnectError) -> Int32 {
        var address = sockaddr_un()
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw ConnectError(code: ENAMETOOLONG, text: "the path is too long for a socket")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return try withUnsafePointer(to: &address) { pointer throws(ConnectError) in
            // A sockaddr_un begins like a sockaddr, as the socket calls require.
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(ConnectError) in
                try connected(AF_UNIX, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// Connects to the first of the host's addresses that accepts.
    private static func connected(_ host: String, _ port: String) throws(ConnectError) -> Int32 {
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
                    return try connected(entry.pointee.ai_family, address, entry.pointee.ai_addrlen)
                }
            } catch {
                connectError = error
            }
            next = entry.pointee.ai_next
        }
        throw connectError
    }

    private static func connected(
        _ family: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
    ) throws(ConnectError) -> Int32 {
        let number = socket(family, System.stream, 0)
        if number < 0 { throw ConnectError(code: errno, text: errorText()) }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        // Linux applies this to connect(2), too; elsewhere the system's own limit holds.
        setTime(of: number, SO_SNDTIMEO, seconds: 3)
        if connect(number, address, length) != 0 {
            let code = errno
            close(number)
            let isLate = code == EINPROGRESS || code == EAGAIN
            throw ConnectError(code: code, text: isLate ? "it does not accept connections" : errorText(code))
        }
        setTime(of: number, SO_SNDTIMEO, seconds: 0)
        var on: Int32 = 1
        setsockopt(number, SOL_SOCKET, SO_KEEPALIVE, &on, socklen_t(MemoryLayout<Int32>.size))
        if family != AF_UNIX {
            setsockopt(number, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
        }
        return number
    }

    private static func setTime(of number: Int32, _ option: Int32, seconds: Int) {
        var time = timeval()
        time.tv_sec = .init(seconds)
        setsockopt(number, SOL_SOCKET, option, &time, socklen_t(MemoryLayout<timeval>.size))
    }
}
