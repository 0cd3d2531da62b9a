// The other end of a session: a client whose every call blocks until it is done.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif
import Foundation
package import TweaksServer

/// What goes wrong for a client.
package enum ClientError: Error, Equatable {
    /// A system call failed.
    case system(String, Int32)
    /// Nothing came for very long; with what had come.
    case timeout(String)
    /// The connection ended where more was expected; with what had come.
    case ended(String)
}

/// A connection to a server. Each test waits in its reads, never by the clock.
package final class TestClient {
    /// How long a read may wait before the test counts as hung.
    package static let patience: Int32 = 120_000

    package let number: Int32
    /// Bytes that were read and not handed out.
    private var buffer: [UInt8] = []
    private var start = 0
    private var isSending = false
    private var isReset = false
    /// Whatever must live as long as the connection.
    private let owner: AnyObject?
    /// The server at the other end, where it has no thread: its turns are taken while this end waits.
    private let server: SteppedServer?

    /// Connects to a Unix socket.
    package init(unix path: String, owner: AnyObject? = nil, server: SteppedServer? = nil) throws {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        (self.owner, self.server) = (owner, server)
        number = try Self.connected(AF_UNIX, &address)
    }

    /// Connects to a port of 127.0.0.1, or of another address in numbers.
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

    /// Takes over a connection that a test has accepted.
    package init(accepted number: Int32) {
        self.number = number
        (owner, server) = (nil, nil)
    }

    deinit {
        // A process that another test starts just now holds the number until it runs its program; and what is still being
        // sent ends as well.
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

    /// Sends all bytes. A server without a thread has done what it can with them when this returns.
    package func send(_ bytes: [UInt8]) throws {
        guard let server else { return try Self.send(bytes, to: number) }
        var rest = bytes[...]
        while true {
            rest = try Self.sendSome(rest, to: number, sendFlags | Int32(MSG_DONTWAIT))
            if rest.isEmpty { return server.settle() }
            guard waits(for: Int16(POLLOUT)) else { throw ClientError.timeout("send") }
        }
    }

    private static func send(_ bytes: [UInt8], to number: Int32) throws {
        var rest = bytes[...]
        while !rest.isEmpty { rest = try sendSome(rest, to: number, sendFlags) }
    }

    /// - Returns: What is still to be sent.
    private static func sendSome(
        _ bytes: ArraySlice<UInt8>, to number: Int32, _ flags: Int32
    ) throws -> ArraySlice<UInt8> {
        let count = bytes.withUnsafeBytes { systemSend(number, $0.baseAddress, $0.count, flags) }
        if count >= 0 { return bytes.dropFirst(count) }
        guard errno == EINTR || errno == EAGAIN else { throw ClientError.system("send", errno) }
        return bytes
    }

    /// Sends on another thread what the server may not take for long; the gate opens when it is sent.
    package func sendMeanwhile(_ text: String) -> Gate {
        // A descriptor of its own: the number of this one may be another test's before all is sent.
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

    /// Sends each byte by itself.
    package func drip(_ bytes: [UInt8]) throws {
        for byte in bytes { try send([byte]) }
    }

    /// Says that nothing more will be sent, as `nc -N` does.
    package func endInput() {
        shutdown(number, Int32(SHUT_WR))
        server?.settle()
    }

    /// Breaks the connection off: TCP's peer gets a reset.
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

    /// So many bytes.
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
        while true {
            let count = recv(number, &chunk, chunk.count, 0)
            if count < 0, errno == EINTR { continue }
            if count < 0 { throw ClientError.system("recv", errno) }
            buffer += chunk[..<count]
            return count > 0
        }
    }

    /// Waits for an event of poll(2); POLLHUP and POLLERR count always. False when it does not come.
    private func waits(for event: Int16) -> Bool {
        guard let server else { return isReady(event, within: Self.patience) }
        let end = ContinuousClock.now + .milliseconds(Int64(Self.patience))
        while !isReady(event, within: 0) {
            if ContinuousClock.now > end { return false }
            // The turn ends early when a socket is ready or another thread wakes the server.
            server.turn(patience: 100)
        }
        return true
    }

    private func isReady(_ event: Int16, within patience: Int32) -> Bool {
        var entry = pollfd(fd: number, events: event, revents: 0)
        while true {
            let count = poll(&entry, 1, patience)
            if count < 0, errno == EINTR { continue }
            return count > 0
        }
    }

    /// Whether something is there to be read, now.
    package var hasInput: Bool { isReady(Int16(POLLIN), within: 0) }

    /// Waits until the server has let go of the connection, both directions of it. Of a Unix socket only.
    package func waitUntilGone() throws {
        guard waits(for: 0) else { throw ClientError.timeout(pending) }
    }

    // MARK: Asking

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
    /// The lines between LFs; behind the last LF stands an empty one.
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
    /// Where the next LF stands. By the C library: tests are not optimised, and some replies are long.
    fileprivate func lineEnd(from start: Int) -> Int? {
        withUnsafeBytes { bytes in
            guard let base = bytes.baseAddress, let found = memchr(base + start, 10, count - start) else { return nil }
            return base.distance(to: found)
        }
    }
}
