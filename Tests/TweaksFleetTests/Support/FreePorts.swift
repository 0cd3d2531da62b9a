// Finds ports that nobody listens on.

import Foundation
import TweaksSystem

enum FreePorts {
    /// All are held at the same time, so that they differ.
    static func take(_ count: Int) throws -> [UInt16] {
        var sockets: [Int32] = []
        defer { for socket in sockets { close(socket) } }
        return try (0..<count).map { _ in
            let (socket, port) = try bound()
            sockets.append(socket)
            return port
        }
    }

    /// A socket with a port, and which.
    static func bound() throws -> (Int32, UInt16) {
        #if canImport(Glibc)
            let socket = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            let socket = socket(AF_INET, SOCK_STREAM, 0)
        #endif
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isBound = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(socket, $0, length) == 0 && getsockname(socket, $0, &length) == 0
            }
        }
        guard isBound else { throw EtcdCluster.Failure(description: "no free port: \(errorText())") }
        return (socket, UInt16(bigEndian: address.sin_port))
    }
}
