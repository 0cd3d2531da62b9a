// A client connection that never blocks.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A connection that records all bytes sent and received.
final class RawClient {
    private let number: Int32
    private(set) var sent: [UInt8] = []
    private(set) var received: [UInt8] = []
    private(set) var hasEnded = false
    private var chunk = [UInt8](repeating: 0, count: 65_536)

    init(_ path: String) throws(Finding) {
        #if canImport(Glibc)
            number = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        #else
            number = socket(AF_UNIX, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { throw Finding("connect: \(errno)") }
        _ = fcntl(number, F_SETFL, O_NONBLOCK)
    }

    deinit { close(number) }

    /// Sends what fits; inputs are short. Sends nothing when the server has closed.
    func send(_ bytes: ArraySlice<UInt8>) {
        #if canImport(Darwin)
            let flags: Int32 = 0
        #else
            let flags = Int32(MSG_NOSIGNAL)
        #endif
        let count = bytes.withUnsafeBytes { systemSend(number, $0.baseAddress, $0.count, flags) }
        if count > 0 { sent += bytes.prefix(count) }
    }

    /// Receives what is available.
    func receive() {
        while !hasEnded {
            let count = recv(number, &chunk, chunk.count, 0)
            if count == 0 || count < 0 && errno != EAGAIN { hasEnded = true }
            if count <= 0 { return }
            received += chunk[..<count]
        }
    }

    /// Whether the server has not read all sent bytes yet.
    var hasUnread: Bool {
        #if os(Linux)
            var count: Int32 = 0
            // SIOCOUTQ, which Swift does not import; for a Unix socket: the bytes that the peer has not read.
            return !hasEnded && ioctl(number, 0x5411, &count) == 0 && count > 0
        #else
            return false
        #endif
    }

    func endInput() { shutdown(number, Int32(SHUT_WR)) }
}

/// send(2), under a name that does not collide with a method.
private func systemSend(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(number, bytes, count, flags)
}

/// The path of a socket in a private directory.
final class SocketPath: Sendable {
    let path: String

    init() {
        var template = Array("/tmp/tweaks-fuzz-XXXXXX".utf8CString)
        let made = mkdtemp(&template) != nil
        let directory = template.dropLast().map { UInt8(bitPattern: $0) }
        path = made ? "\(String(decoding: directory, as: UTF8.self))/s" : "/tmp/tweaks-fuzz"
    }
}
