// A blocking connection that counts reply lines: the load generator for both servers of a comparison.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A client on 127.0.0.1, or on a Unix socket.
final class Connection {
    struct Failure: Error {}

    let descriptor: Int32
    fileprivate var buffer: [UInt8]
    private var isAtLineStart = true

    private init(_ family: Int32, _ size: Int) {
        buffer = [UInt8](repeating: 0, count: size)
        #if canImport(Glibc)
            descriptor = socket(family, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(family, SOCK_STREAM, 0)
        #endif
    }

    convenience init(unix path: String) throws {
        self.init(AF_UNIX, 65_536)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.utf8.count < MemoryLayout.size(ofValue: address.sun_path) else { throw Failure() }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.utf8) }
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        if result != 0 { throw Failure() }
    }

    convenience init(port: UInt16, buffer size: Int = 65_536) throws {
        self.init(AF_INET, size)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
        let result = withUnsafePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        if result != 0 { throw Failure() }
        var on: Int32 = 1
        setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_NODELAY, &on, socklen_t(MemoryLayout<Int32>.size))
    }

    deinit { close(descriptor) }

    func send(_ bytes: [UInt8]) throws {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count <= 0 { throw Failure() }
            sent += count
        }
    }

    /// Reads until the wanted number of lines that begin with a character has arrived; nil counts every line.
    func receive(_ wanted: Int, linesBeginningWith mark: Character? = nil) throws {
        let mark = mark?.asciiValue
        var missing = wanted
        while missing > 0 {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { throw Failure() }
            for byte in buffer[..<count] {
                if isAtLineStart, mark == nil || byte == mark { missing -= 1 }
                isAtLineStart = byte == 10
            }
        }
        // A line is counted at its first byte; read the rest of the last one, too.
        while !isAtLineStart {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { throw Failure() }
            isAtLineStart = buffer[count - 1] == 10
        }
    }
}

extension Connection {
    /// Sends a request and reads until the wanted number of lines that begin with a character has arrived.
    func ask(_ request: [UInt8], replies: Int = 1, linesBeginningWith mark: Character = "o") throws {
        try send(request)
        try receive(replies, linesBeginningWith: mark)
    }

    /// Does the same with text.
    func ask(_ request: String, replies: Int = 1, linesBeginningWith mark: Character = "o") throws {
        try ask(Array(request.utf8), replies: replies, linesBeginningWith: mark)
    }

    /// The times of equal requests, one after the other, in nanoseconds.
    func latencies(_ count: Int, _ request: String) throws -> [Double] {
        let bytes = Array(request.utf8)
        return try (0..<count).map { _ in try Measure.nanoseconds { try ask(bytes) } }
    }

    /// Opens a connection that watches a tweak.
    static func watching(_ path: String, port: UInt16) throws -> Connection {
        let connection = try Connection(port: port)
        try connection.ask("watch \(path)\n")
        return connection
    }

    /// Reads until the wanted number of statuses, `ok` or `error`, has arrived.
    func receiveStatuses(_ wanted: Int) throws {
        var missing = wanted
        // Body lines begin with a space, a quote, or a path; no path here begins with these letters.
        while missing > 0 || !isAtLineStart {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { throw Failure() }
            for byte in buffer[..<count] {
                if isAtLineStart, byte == UInt8(ascii: "o") || byte == UInt8(ascii: "e") { missing -= 1 }
                isAtLineStart = byte == 10
            }
        }
    }

    /// Reads the next bytes.
    func receiveSome() throws -> ArraySlice<UInt8> {
        let count = read(descriptor, &buffer, buffer.count)
        if count <= 0 { throw Failure() }
        return buffer[..<count]
    }

    /// Waits for an HTTP response with a JSON object as body, which arrives in one piece.
    func receiveBody() throws {
        var hasBody = false
        while !hasBody {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { throw Failure() }
            hasBody = buffer[..<count].contains(UInt8(ascii: "{"))
        }
    }
}
