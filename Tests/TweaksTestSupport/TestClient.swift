// A blocking client of the line protocol, with timeouts.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
package import TweaksServer

/// An error of a client.
package enum ClientError: Error, Equatable {
    /// A system call failed.
    case system(String, Int32)
    /// Nothing arrived within the timeout; with the bytes received so far.
    case timeout(String)
    /// The connection ended too early; with the bytes received so far.
    case ended(String)
}

/// A connection to a server. Tests wait in its reads and never sleep.
package final class TestClient {
    /// How long a read may wait before the test counts as hung, in milliseconds: a task of the program waits behind all
    /// tests that the pool has not run yet, for minutes.
    package static let timeout: Int32 = 600_000

    package let number: Int32
    /// Bytes that were received and not yet returned.
    private var buffer: [UInt8] = []
    private var start = 0
    private var isSending = false
    private var isReset = false
    /// An object that must live as long as the connection.
    private let owner: AnyObject?
    /// The server, if it has no thread: it takes turns while this client waits.
    private let server: SteppedServer?

    /// Connects to a Unix socket.
    package init(unix path: String, owner: AnyObject? = nil, server: SteppedServer? = nil) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        (self.owner, self.server) = (owner, server)
        number = try Self.connected(AF_UNIX, &address)
    }

    /// Connects to a port of 127.0.0.1, or of another numeric address.
    package init(
        port: Int, address text: String = "127.0.0.1", owner: AnyObject? = nil, server: SteppedServer? = nil
    ) throws {
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = UInt16(port).bigEndian
        address.sin_addr.s_addr = inet_addr(text)
        (self.owner, self.server) = (owner, server)
        number = try Self.connected(AF_INET, &address)
    }

    /// Connects to a port of ::1.
    package init(port6 port: Int, owner: AnyObject? = nil, server: SteppedServer? = nil) throws {
        var address = sockaddr_in6()
        address.sin6_family = sa_family_t(AF_INET6)
        address.sin6_port = UInt16(port).bigEndian
        address.sin6_addr = in6addr_loopback
        (self.owner, self.server) = (owner, server)
        number = try Self.connected(AF_INET6, &address)
    }

    /// Wraps a connection that a test has accepted.
    package init(accepted number: Int32) {
        self.number = number
        (owner, server) = (nil, nil)
    }

    deinit {
        // A process that another test is starting keeps the descriptor open until it calls exec; shutdown also ends a
        // send in progress.
        if isSending || !isReset { shutdown(number, Int32(SHUT_RDWR)) }
        _ = systemClose(number)
    }

    private static func connected<Address>(_ family: Int32, _ address: inout Address) throws -> Int32 {
        let number = makeSocket(family)
        if number < 0 { throw ClientError.system("socket", errno) }
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(number, $0, socklen_t(MemoryLayout<Address>.size))
            }
        }
        if result != 0 {
            let code = errno
            _ = systemClose(number)
            throw ClientError.system("connect", code)
        }
        if family != AF_UNIX { setOption(number, Int32(IPPROTO_TCP), TCP_NODELAY) }
        return number
    }

    // MARK: Sending

    /// Sends all bytes. A server without a thread has processed them when this returns.
    package func send(_ bytes: [UInt8]) throws {
        guard let server else { return try Self.send(bytes, to: number) }
        var rest = bytes[...]
        while true {
            rest = try Self.sendSome(rest, to: number, sendFlags | Int32(MSG_DONTWAIT))
            if rest.isEmpty { break }
            guard waits(for: Int16(POLLOUT)) else { throw ClientError.timeout("send") }
        }
        server.settle()
    }

    private static func send(_ bytes: [UInt8], to number: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty { rest = try sendSome(rest, to: number, sendFlags) }
    }

    /// - Returns: The bytes that are not sent yet.
    private static func sendSome(
        _ bytes: ArraySlice<UInt8>, to number: Int32, _ flags: Int32
    ) throws -> ArraySlice<UInt8> {
        let count = bytes.withUnsafeBytes { systemSend(number, $0.baseAddress, $0.count, flags) }
        if count >= 0 { return bytes.dropFirst(count) }
        guard errno == EINTR || errno == EAGAIN else { throw ClientError.system("send", errno) }
        return bytes
    }

    /// Sends text on another thread, as the server may not read it soon; the gate opens when all is sent.
    package func sendMeanwhile(_ text: String) -> Gate {
        // A duplicate: this descriptor's number may belong to another test before all is sent.
        let (copy, sent) = (fcntl(number, F_DUPFD_CLOEXEC, 0), Gate())
        isSending = true
        Thread.detachNewThread {
            try? Self.send(Array(text.utf8), to: copy)
            _ = systemClose(copy)
            sent.open()
        }
        return sent
    }

    /// Sends text.
    package func send(_ text: String) throws { try send(Array(text.utf8)) }

    /// Sends each byte separately.
    package func sendBytewise(_ bytes: [UInt8]) throws {
        for byte in bytes { try send([byte]) }
    }

    /// Shuts down the sending direction, like `nc -N`.
    package func endInput() {
        shutdown(number, Int32(SHUT_WR))
        server?.settle()
    }

    /// Aborts the connection on deallocation: a TCP peer gets a reset.
    package func reset() {
        isReset = true
        var linger = linger(l_onoff: 1, l_linger: 0)
        setsockopt(number, SOL_SOCKET, SO_LINGER, &linger, socklen_t(MemoryLayout<linger>.size))
        shutdown(number, Int32(SHUT_RD))
    }

    // MARK: Receiving

    /// The next line, without its LF.
    package func line() throws -> String {
        while true {
            if let end = buffer.lineEnd(from: start) {
                defer { start = end + 1 }
                return String(decoding: buffer[start..<end], as: UTF8.self)
            }
            guard try receive() else { throw ClientError.ended(pending) }
        }
    }

    /// So many lines.
    package func lines(_ count: Int) throws -> [String] { try (0..<count).map { _ in try line() } }

    /// Everything up to and with a text.
    package func read(through text: String) throws -> String {
        let wanted = Array(text.utf8)
        while true {
            if let end = buffer[start...].firstRange(of: wanted)?.upperBound {
                defer { start = end }
                return String(decoding: buffer[start..<end], as: UTF8.self)
            }
            guard try receive() else { throw ClientError.ended(pending) }
        }
    }

    /// The next bytes, as many as requested.
    package func bytes(_ count: Int) throws -> [UInt8] {
        while buffer.count - start < count {
            guard try receive() else { throw ClientError.ended(pending) }
        }
        defer { start += count }
        return Array(buffer[start..<start + count])
    }

    /// Everything until the server ends the connection.
    package func rest() throws -> String {
        while try receive() {}
        defer { start = buffer.count }
        return pending
    }

    /// The lines of everything until the server ends the connection.
    package func restOfLines() throws -> [String] {
        let lines = try rest().splitLines()
        return lines.last == "" ? lines.dropLast() : lines
    }

    private var pending: String { String(decoding: buffer[start...], as: UTF8.self) }

    /// Reads once; false at the end.
    private func receive() throws -> Bool {
        if start == buffer.count { (buffer, start) = ([], 0) }
        guard waits(for: Int16(POLLIN)) else { throw ClientError.timeout(pending) }
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = uninterrupted { recv(number, &chunk, chunk.count, 0) }
        if count < 0 { throw ClientError.system("recv", errno) }
        buffer += chunk[..<count]
        return count > 0
    }

    /// Waits for an event of poll(2), or POLLHUP or POLLERR. False when it times out.
    private func waits(for event: Int16) -> Bool {
        guard let server else { return isReady(event, within: Self.timeout) }
        let end = ContinuousClock.now + .milliseconds(Int64(Self.timeout))
        while !isReady(event, within: 0) {
            if ContinuousClock.now > end { return false }
            // The turn ends early when a socket is ready or another thread wakes the server.
            server.turn(timeout: 100)
        }
        return true
    }

    private func isReady(_ event: Int16, within milliseconds: Int32) -> Bool {
        var entry = pollfd(fd: number, events: event, revents: 0)
        return uninterrupted { poll(&entry, 1, milliseconds) } > 0
    }

    /// Whether bytes can be read without waiting.
    package var hasInput: Bool { isReady(Int16(POLLIN), within: 0) }

    /// The complete lines that have arrived, without waiting for more.
    package func arrivedLines() throws -> [String] {
        while hasInput, try receive() {}
        var lines: [String] = []
        while buffer[start...].contains(UInt8(ascii: "\n")) { lines.append(try line()) }
        return lines
    }

    /// The number of bytes that had arrived when the client began to read, without waiting for more.
    package func arrivedBytes() throws -> Int {
        let before = buffer.count
        while hasInput, try receive() {}
        return buffer.count - before
    }

    /// Waits until the server has closed both directions of the connection. Works for Unix sockets only.
    package func waitUntilClosed() throws {
        guard waits(for: 0) else { throw ClientError.timeout(pending) }
    }

    // MARK: Requests

    /// Sends a line and returns the reply: body lines and status line, without events.
    @discardableResult
    package func ask(_ text: String) throws -> [String] {
        try send(text + "\n")
        return try reply()
    }

    /// The lines up to the next status line.
    package func reply() throws -> [String] {
        var lines: [String] = []
        while true {
            lines.append(try line())
            if let last = lines.last, last == "ok" || last.hasPrefix("ok ") || last.hasPrefix("error ") { return lines }
        }
    }
}

extension String {
    /// The lines between LFs; the last one is what follows the last LF, often empty.
    package func splitLines() -> [String] {
        let bytes = Array(utf8)
        var lines: [String] = []
        var start = 0
        while let end = bytes.lineEnd(from: start) {
            lines.append(String(decoding: bytes[start..<end], as: UTF8.self))
            start = end + 1
        }
        return lines + [String(decoding: bytes[start...], as: UTF8.self)]
    }
}

extension [UInt8] {
    /// The index of the next LF. It uses memchr(3), because tests are not optimized and some replies are long.
    fileprivate func lineEnd(from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base + start, 10, count - start) else { return nil }
            return base.distance(to: found)
        }
    }
}
