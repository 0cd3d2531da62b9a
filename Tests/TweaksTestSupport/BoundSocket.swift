// Binds sockets for tests that play a service manager, another server, or a crashed one.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A bound socket; deallocation closes it and keeps its file.
package final class BoundSocket: Sendable {
    /// What the socket accepts.
    package enum Kind: Sendable { case datagrams, packets, clients, nothing }

    /// The path of its file, or `@` and its name in the abstract namespace of Linux.
    package let address: String
    /// Its port; 0 for a Unix socket.
    package let port: Int
    private let number: Int32

    /// Binds a Unix socket.
    package init(_ address: String, for kind: Kind) throws {
        (self.address, port) = (address, 0)
        number = makeSocket(AF_UNIX, kind == .datagrams ? datagramType : kind == .packets ? packetType : streamType)
        if number < 0 { throw ClientError.system("socket", errno) }
        setReceiveTimeout(number, milliseconds: TestClient.timeout)
        var place = sockaddr_un()
        place.sun_family = sa_family_t(AF_UNIX)
        let name = address.hasPrefix("@") ? [0] + Array(address.utf8.dropFirst()) : Array(address.utf8) + [0]
        withUnsafeMutableBytes(of: &place.sun_path) { $0.copyBytes(from: name) }
        let length = socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2) + socklen_t(name.count)
        let isBound = withUnsafePointer(to: &place) { pointer in
            // A sockaddr_un begins like a sockaddr: that is the contract of the socket calls.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { bind(number, $0, length) == 0 }
        }
        if !isBound { throw ClientError.system("bind", errno) }
        if kind == .clients || kind == .packets, systemListen(number, 5) != 0 {
            throw ClientError.system("listen", errno)
        }
    }

    /// The loopback addresses.
    package enum Loopback: Sendable { case version4, version6 }

    /// Listens on a port of a loopback address; 0 picks a free one.
    /// - Parameter backlog: Nil: it keeps the port and does not listen, so that connections are refused.
    package init(loopback: Loopback, port wanted: Int = 0, backlog: Int32? = 5) throws {
        let isVersion6 = loopback == .version6
        number = makeSocket(isVersion6 ? AF_INET6 : AF_INET, streamType)
        if number < 0 { throw ClientError.system("socket", errno) }
        setReceiveTimeout(number, milliseconds: TestClient.timeout)
        // The port of a server that has just stopped has connections that linger.
        if wanted != 0 { setOption(number, SOL_SOCKET, SO_REUSEADDR) }
        if isVersion6 {
            var place = sockaddr_in6()
            place.sin6_family = sa_family_t(AF_INET6)
            place.sin6_addr = in6addr_loopback
            place.sin6_port = UInt16(wanted).bigEndian
            try Self.listen(number, &place, backlog)
            port = Int(UInt16(bigEndian: place.sin6_port))
        } else {
            var place = sockaddr_in()
            place.sin_family = sa_family_t(AF_INET)
            place.sin_addr.s_addr = inet_addr("127.0.0.1")
            place.sin_port = UInt16(wanted).bigEndian
            try Self.listen(number, &place, backlog)
            port = Int(UInt16(bigEndian: place.sin_port))
        }
        address = "\(isVersion6 ? "[::1]" : "127.0.0.1"):\(port)"
    }

    /// Binds and listens, and stores the assigned port in the address.
    private static func listen<Address>(_ number: Int32, _ place: inout Address, _ backlog: Int32?) throws {
        var length = socklen_t(MemoryLayout<Address>.size)
        let isBound = withUnsafeMutablePointer(to: &place) { pointer in
            // A sockaddr_in begins like a sockaddr: that is the contract of the socket calls.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(number, $0, length) == 0 && (backlog.map { systemListen(number, $0) } ?? 0) == 0
                    && getsockname(number, $0, &length) == 0
            }
        }
        if !isBound { throw ClientError.system("bind", errno) }
    }

    deinit {
        // A program that is being started has the socket from fork to exec, and would accept clients until then.
        shutDown()
        _ = systemClose(number)
    }

    /// Stops accepting clients; a pending call of ``accepted()`` fails.
    package func shutDown() { _ = shutdown(number, Int32(SHUT_RDWR)) }

    /// Waits for the next datagram.
    package func next() throws -> String {
        var bytes = [UInt8](repeating: 0, count: 8_192)
        let count = uninterrupted { recv(number, &bytes, bytes.count, 0) }
        if count < 0 { throw ClientError.system("recv", errno) }
        return String(decoding: bytes[..<count], as: UTF8.self)
    }

    /// Whether no datagram has arrived.
    package var isEmpty: Bool {
        var byte: UInt8 = 0
        return uninterrupted { recv(number, &byte, 1, Int32(MSG_DONTWAIT)) } < 0
    }

    /// Waits for the next client; the caller closes its connection.
    package func accepted() throws -> Int32 {
        let peer = uninterrupted { accept(number, nil, nil) }
        if peer < 0 { throw ClientError.system("accept", errno) }
        _ = fcntl(peer, F_SETFD, FD_CLOEXEC)
        return peer
    }
}

/// A listening socket of this process, as a program that is being started has it from fork to exec.
///
/// ```swift
/// let inherited = try InheritedListener(port: port)
/// server.stop()
/// withExtendedLifetime(inherited) { #expect(throws: ClientError.self) { try TestClient(port: port) } }
/// ```
package final class InheritedListener: Sendable {
    private let number: Int32

    package init(port: Int) throws {
        // Other tests hold thousands of connections, and the lowest free number may be beyond those.
        let listener = (0..<getdtablesize()).first { Self.isListening($0) && Self.port(of: $0) == port }
        guard let listener else { throw ClientError.system("listener of port \(port)", EBADF) }
        number = fcntl(listener, F_DUPFD_CLOEXEC, 0)
        if number < 0 { throw ClientError.system("fcntl", errno) }
    }

    deinit { _ = systemClose(number) }

    private static func isListening(_ number: Int32) -> Bool {
        var isListening: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(number, SOL_SOCKET, SO_ACCEPTCONN, &isListening, &length) == 0 && isListening != 0
    }

    private static func port(of number: Int32) -> Int? {
        var place = sockaddr_in()
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isKnown = withUnsafeMutablePointer(to: &place) { pointer in
            // A sockaddr_in begins like a sockaddr: that is the contract of the socket calls.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(number, $0, &length) == 0 }
        }
        return isKnown && place.sin_family == sa_family_t(AF_INET) ? Int(UInt16(bigEndian: place.sin_port)) : nil
    }
}

/// listen(2), under a name that does not collide with a method.
private func systemListen(_ number: Int32, _ backlog: Int32) -> Int32 { listen(number, backlog) }
