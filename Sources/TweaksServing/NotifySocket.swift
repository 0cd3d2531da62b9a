// Sends datagrams to a Unix socket named by a path or, on Linux, by an abstract name.

import TweaksInterface
import TweaksSystem
import TweaksServer

/// The socket that `NOTIFY_SOCKET` names.
struct NotifySocket: Sendable {
    private let text: String
    /// The name in a socket address: a path, or a zero byte and a name.
    private let name: [UInt8]

    private static let capacity = MemoryLayout.size(ofValue: sockaddr_un().sun_path)

    init(_ text: String) throws(ServerError) {
        self.text = text
        let isAbstract = text.hasPrefix("@")
        guard isAbstract || text.hasPrefix("/") else {
            throw Self.error(text, "only absolute paths and abstract names (@name) are supported; use one of them")
        }
        name = isAbstract ? [0] + text.utf8.dropFirst() : Array(text.utf8)
        guard name.count > 1 else { throw Self.error(text, "it names nothing; unset it") }
        // A path needs a terminating zero byte.
        let maxLength = isAbstract ? Self.capacity : Self.capacity - 1
        guard name.count <= maxLength else {
            throw Self.error(text, "a socket's address holds at most \(maxLength) bytes; use a shorter one")
        }
        guard isAbstract ? !name.dropFirst().contains(0) : !name.contains(0) else {
            throw Self.error(text, "there is a zero byte in it; use another one")
        }
    }

    private static func error(_ text: String, _ problem: String) -> ServerError {
        ServerError("NOTIFY_SOCKET=\(text): \(problem)")
    }

    /// Sends the assignments as one datagram, without blocking.
    /// - Returns: The error; nil if it was sent.
    func send(_ assignments: [String]) -> String? {
        let message = Array(assignments.joined(separator: "\n").utf8)
        let number = Self.open()
        if number < 0 { return failure() }
        defer { close(number) }
        let count = withAddress { sendto(number, message, message.count, Self.flags, $0, $1) }
        return count == message.count ? nil : failure()
    }

    private func failure() -> String {
        let code = errno
        let reason = code == EAGAIN ? "the service manager does not read" : errorText(code)
        return Self.error(text, "\(reason); it was not notified").description
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
