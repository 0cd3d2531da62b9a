// Wraps the socket calls of the soak's clients.

import Foundation

enum SoakSocket {
    #if canImport(Glibc)
        private static let stream = Int32(SOCK_STREAM.rawValue)
    #else
        private static let stream = SOCK_STREAM
    #endif

    /// Opens a non-blocking connection; nil when it is refused.
    static func open(_ target: SoakClient.Target, isLocal: Bool) -> Int32? {
        let number = socket(isLocal ? AF_UNIX : AF_INET, stream, 0)
        if number < 0 { return nil }
        _ = fcntl(number, F_SETFL, fcntl(number, F_GETFL) | O_NONBLOCK)
        let result = isLocal ? connect(number, path: target.socketPath) : connect(number, port: target.port)
        if result == 0 || errno == EINPROGRESS { return number }
        close(number)
        return nil
    }

    private static func connect(_ number: Int32, path: String) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        return connect(number, &address)
    }

    private static func connect(_ number: Int32, port: UInt16) -> Int32 {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        return connect(number, &address)
    }

    private static func connect<Address>(_ number: Int32, _ address: inout Address) -> Int32 {
        withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Foundation.connect(number, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
    }

    /// Sends as much as possible; nil when the connection has ended.
    static func send(_ number: Int32, _ bytes: ArraySlice<UInt8>) -> Int? {
        if bytes.isEmpty { return 0 }
        let count = bytes.withUnsafeBytes { Foundation.send(number, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        return errno == EAGAIN || errno == EINTR ? 0 : nil
    }

    /// Makes close(2) send a reset.
    static func closeWithReset(_ number: Int32) {
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
    }
}
