// A blocking connection that counts the lines of what it is answered: the load generator for both servers.

#if canImport(Darwin)
    import Darwin
#elseif canImport(Musl)
    import Musl
#else
    import Glibc
#endif

/// A client on 127.0.0.1.
final class Connection {
    struct Failure: Error {}

    let descriptor: Int32
    fileprivate var buffer: [UInt8]
    private var isAtLineStart = true

    init(port: UInt16, buffer size: Int = 65_536) throws {
        buffer = [UInt8](repeating: 0, count: size)
        #if canImport(Glibc)
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        #else
            descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #endif
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

    /// Waits until so many lines have come that begin with a byte; any line for nil.
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
        // A line counts from its first byte; the rest of the last one has to be there, too.
        while !isAtLineStart {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { throw Failure() }
            isAtLineStart = buffer[count - 1] == 10
        }
    }
}

extension Connection {
    /// Waits until so many statuses have come, `ok` or `error`.
    func receiveStatuses(_ wanted: Int) throws {
        var missing = wanted
        // Body lines begin with a blank, a quote, or a path; none of ours begins with these letters.
        while missing > 0 || !isAtLineStart {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { throw Failure() }
            for byte in buffer[..<count] {
                if isAtLineStart, byte == UInt8(ascii: "o") || byte == UInt8(ascii: "e") { missing -= 1 }
                isAtLineStart = byte == 10
            }
        }
    }

    /// Whatever comes next.
    func receiveSome() throws -> ArraySlice<UInt8> {
        let count = read(descriptor, &buffer, buffer.count)
        if count <= 0 { throw Failure() }
        return buffer[..<count]
    }

    /// Waits for a reply of HTTP that ends with a brace.
    func receiveBody() throws {
        var hasBody = false
        while !hasBody {
            let count = read(descriptor, &buffer, buffer.count)
            if count <= 0 { throw Failure() }
            hasBody = buffer[..<count].contains(UInt8(ascii: "{"))
        }
    }
}
