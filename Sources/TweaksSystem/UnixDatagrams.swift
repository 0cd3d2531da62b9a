// Sends datagrams to a Unix socket named by a path or, on Linux, by an abstract name.

/// The address of a Unix datagram socket.
package struct UnixDatagrams: Sendable {
    /// A path, or a zero byte and a name.
    private let name: [UInt8]

    private static let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    /// The maximum number of bytes of a name; a path needs a terminating zero byte.
    package static func maxLength(isAbstract: Bool) -> Int { isAbstract ? capacity : capacity - 1 }

    /// Nil for a name that is empty or too long, or a path with a zero byte.
    package init?(_ name: [UInt8]) {
        let isAbstract = name.first == 0
        guard !name.isEmpty, name.count <= Self.maxLength(isAbstract: isAbstract), !name.dropFirst().contains(0) else {
            return nil
        }
        self.name = name
    }

    /// Sends one datagram, without blocking.
    /// - Returns: The error number; nil if it was sent.
    package func send(_ message: [UInt8]) -> Int32? {
        let number = Self.open()
        if number < 0 { return errno }
        defer { close(number) }
        let count = withAddress { sendto(number, message, message.count, Self.flags, $0, $1) }
        return count == message.count ? nil : errno
    }

    /// Calls `body` with the C address. Its length ends with the name, because an abstract name includes all bytes.
    private func withAddress(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Int) -> Int {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        let end = Self.pathOffset + name.count + (name[0] == 0 ? 0 : 1)
        return withUnsafePointer(to: &address) { pointer in
            // A sockaddr_un has the layout of sockaddr at its start, as the socket calls require.
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(end)) }
        }
    }

    private static let pathOffset = MemoryLayout<sockaddr_un>.size - capacity

    // MARK: System differences

    #if canImport(Darwin)
        private static let flags: Int32 = MSG_DONTWAIT

        private static func open() -> Int32 {
            let number = socket(AF_UNIX, SOCK_DGRAM, 0)
            var on: Int32 = 1
            setsockopt(number, SOL_SOCKET, SO_NOSIGPIPE, &on, socklen_t(MemoryLayout<Int32>.size))
            _ = fcntl(number, F_SETFD, FD_CLOEXEC)
            return number
        }
    #else
        private static let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)

        private static func open() -> Int32 {
            #if canImport(Musl)
                return socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)
            #else
                return socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
            #endif
        }
    #endif
}
