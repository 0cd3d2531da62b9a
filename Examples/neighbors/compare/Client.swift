// Talks to all servers of a comparison in the same way: blocking, by lines.

import Foundation

/// A failure of a comparison: the subject and what is wrong.
struct Failure: Error, CustomStringConvertible {
    let description: String
}

/// A connection to a port of this machine that counts the lines of replies which begin with a character.
final class Client {
    private let descriptor: Int32
    private var buffer = [UInt8](repeating: 0, count: 65_536)
    private var isAtLineStart = true

    init(_ port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { connect(descriptor, $0, size) }
        }
        if result != 0 { throw Failure(description: "nothing listens at port \(port)") }
        // A reply that never comes is an error, and not the end of all.
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { throw Failure(description: "a server has closed the connection") }
            sent += count
        }
    }

    /// Reads until this many lines have begun with the mark.
    func receive(_ mark: Character, _ wanted: Int = 1) throws {
        let mark = mark.asciiValue
        var missing = wanted
        while missing > 0 {
            let count = read(descriptor, &buffer, buffer.count)
            if count < 0 { throw Failure(description: "a server has not answered within 30 seconds") }
            if count == 0 { throw Failure(description: "a server has closed the connection") }
            for byte in buffer[..<count] {
                if isAtLineStart, byte == mark { missing -= 1 }
                isAtLineStart = byte == UInt8(ascii: "\n")
            }
        }
    }

    /// What arrives first of the answer; for a server that may not be ready.
    func answer(_ text: String) throws -> String {
        try send(text)
        let count = read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer[..<max(count, 0)], as: UTF8.self)
    }

    func ask(_ text: String, _ mark: Character, replies: Int = 1) throws {
        try send(text)
        try receive(mark, replies)
    }
}
