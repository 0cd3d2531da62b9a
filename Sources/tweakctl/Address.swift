// Where a process listens, and how to get a connected socket there.

import TweaksSystem
import TweaksTerminal

/// The place of a server.
enum Address: Equatable {
    case unix(path: String)
    case tcp(host: String, port: String)

    /// Reads `HOST:PORT`, `[::1]:PORT`, or a port alone, which is one of this machine.
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

    /// As people write it.
    var text: String {
        switch self {
        case .unix(let path): path
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// What tokens for it are kept under: the same place by the same name, wherever one stands.
    var cacheKey: String {
        switch self {
        case .unix(let path): ThisProcess.absolute(path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
        case .tcp: text.lowercased()
        }
    }

    /// Why there is no connection.
    struct Refusal: Error {
        let code: Int32
        let text: String
    }

    /// A connected socket.
    func connectedSocket() throws(Refusal) -> Int32 {
        switch self {
        case .unix(let path): try Self.connected(path)
        case .tcp(let host, let port): try Self.connected(host, port)
        }
    }

    private static func connected(_ path: String) throws(Refusal) -> Int32 {
        var address = sockaddr_un()
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw Refusal(code: ENAMETOOLONG, text: "the path is too long for a socket")
        }
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return try withUnsafePointer(to: &address) { pointer throws(Refusal) in
            // A sockaddr_un begins like a sockaddr: that is the contract of the socket calls.
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address throws(Refusal) in
                try connected(AF_UNIX, address, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// The first of the host's addresses that answers.
    private static func connected(_ host: String, _ port: String) throws(Refusal) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = System.stream
        var list: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(host, port, &hints, &list)
        guard result == 0, let list else { throw Refusal(code: 0, text: String(cString: gai_strerror(result))) }
        defer { freeaddrinfo(list) }
        var refusal = Refusal(code: 0, text: "the host has no address")
        var next: UnsafeMutablePointer<addrinfo>? = list
        while let entry = next {
            do throws(Refusal) {
                if let address = entry.pointee.ai_addr {
                    return try connected(entry.pointee.ai_family, address, entry.pointee.ai_addrlen)
                }
            } catch {
                refusal = error
            }
            next = entry.pointee.ai_next
        }
        throw refusal
    }

    private static func connected(
        _ family: Int32, _ address: UnsafePointer<sockaddr>, _ length: socklen_t
    ) throws(Refusal) -> Int32 {
        let number = socket(family, System.stream, 0)
        if number < 0 { throw Refusal(code: errno, text: errorText()) }
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
        // Linux obeys this in connect(2), too; elsewhere the system's own limit holds.
        setTime(of: number, SO_SNDTIMEO, seconds: 3)
        if connect(number, address, length) != 0 {
            let code = errno
            close(number)
            let isLate = code == EINPROGRESS || code == EAGAIN
            throw Refusal(code: code, text: isLate ? "it does not accept connections" : errorText(code))
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
