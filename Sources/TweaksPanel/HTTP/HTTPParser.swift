// Parses HTTP/1.1 and 1.0 requests strictly: the part of RFC 9112 that the panel needs.

/// The limits of the parts of a request, in bytes.
package struct HTTPLimits: Equatable, Sendable {
    /// The request line without its end; 414 above it.
    package var requestLine = 8 * 1_024
    /// One header line without its end; 431 above it.
    package var headerLine = 8 * 1_024
    /// All header lines with their ends; 431 above it.
    package var headers = 16 * 1_024
    /// The number of headers; 431 above it.
    package var headerCount = 100
    /// The body; 413 above it. Checked when the body begins, after `HTTPEvent.head`.
    package var body = 1_024 * 1_024

    package init() {}
}

/// An event of the parser.
package enum HTTPEvent: Equatable, Sendable {
    /// The head of a request whose body follows. Emitted before `limits.body` is checked, so that the limit can depend
    /// on the client; the body is still empty. A response to it must end the connection, since the body is on its way.
    /// A request without a body has no such event.
    case head(HTTPRequest)
    /// The client waits for `100 Continue` before it sends the body, whose length is acceptable.
    case expectsContinue
    /// A complete request.
    case request(HTTPRequest)
    /// An invalid request. If it ends the connection, it is the last event.
    case failure(HTTPFailure)
}

/// Splits a byte stream into requests. The events do not depend on how the bytes were split into packets.
///
/// Every failure ends the connection, because the bytes after it cannot be parsed reliably. The owner limits the time
/// of a request (`hasBegun`), and appends bytes no faster than it consumes requests.
package struct HTTPParser: Sendable {
    /// May be changed between events.
    package var limits: HTTPLimits
    private var input = HTTPInput()
    private var phase = Phase.requestLine
    /// The bytes of header lines so far.
    private var headerBytes = 0
    /// An empty line before the request was skipped; some old clients send one after a body.
    private var hasSkippedLine = false

    /// The part that is parsed next.
    private enum Phase: Sendable {
        case requestLine
        /// A header line, or the empty line after them.
        case headers
        /// The check of the body's length.
        case bodyLength(Int)
        case body(Int)
        case failed
    }

    /// The parsed part of the current request.
    private var head: HTTPHead?

    package init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// The number of bytes that are not parsed.
    package var count: Int { input.count }

    /// Whether bytes of another request have been received.
    package var hasBegun: Bool {
        if case .requestLine = phase { return input.count > 0 }
        return !hasFailed
    }

    /// Whether the connection must end; further bytes are ignored.
    package var hasFailed: Bool {
        if case .failed = phase { true } else { false }
    }

    /// Appends received bytes.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        if !hasFailed { input.append(bytes) }
    }

    /// The next event, or nil when more bytes are needed.
    package mutating func next() -> HTTPEvent? {
        do throws(HTTPFailure) {
            while true {
                switch phase {
                case .failed: return nil
                case .requestLine: guard try parseRequestLine() else { return nil }
                case .headers:
                    guard let line = try parseHeaderLine() else { return nil }
                    if line.isEmpty { return try finishHead() }
                case .bodyLength(let length): if try beginBody(length) { return .expectsContinue }
                case .body(let length):
                    guard let body = input.consume(length) else { return nil }
                    return finish(Array(body))
                }
            }
        } catch {
            phase = .failed
            head = nil
            input.removeAll()
            return .failure(error)
        }
    }

    // MARK: The request line

    private mutating func parseRequestLine() throws(HTTPFailure) -> Bool {
        let line: ArraySlice<UInt8>?
        do throws(HTTPInput.Fault) {
            line = try input.line(limit: limits.requestLine, .ascii)
        } catch {
            throw requestLineFailure(error)
        }
        guard let line else { return false }
        if line.isEmpty, !hasSkippedLine {
            hasSkippedLine = true
            return true
        }
        head = try HTTPHead(line)
        phase = .headers
        return true
    }

    private func requestLineFailure(_ fault: HTTPInput.Fault) -> HTTPFailure {
        // The first byte of a TLS handshake record.
        if input.first == 0x16 { return .malformed("TLS is not supported; use http://") }
        guard fault == .tooLong else { return Self.failure(fault, in: "the request line") }
        guard input.unfinishedLine.contains(HTTPSyntax.space) else {
            return .malformed("the first line is not a request; write METHOD /path HTTP/1.1")
        }
        return HTTPFailure(
            .uriTooLong, "too-long",
            "the request line has more than \(limits.requestLine) bytes; write a shorter target",
            endsConnection: true)
    }

    private static func failure(_ fault: HTTPInput.Fault, in line: String) -> HTTPFailure {
        switch fault {
        case .bareLineFeed: .malformed("\(line) ends with LF alone; end lines with CR LF")
        case .bareReturn: .malformed("\(line) has a CR without LF; end lines with CR LF")
        case .badByte, .tooLong:
            .malformed("\(line) has a byte that is not allowed there; leave it out, or encode it")
        }
    }

    // MARK: Headers

    private mutating func parseHeaderLine() throws(HTTPFailure) -> ArraySlice<UInt8>? {
        let line: ArraySlice<UInt8>?
        do throws(HTTPInput.Fault) {
            line = try input.line(limit: min(limits.headerLine, limits.headers - headerBytes), .text)
        } catch {
            if error != .tooLong { throw Self.failure(error, in: "a header") }
            throw headersTooLarge("the headers have more than \(limits.headers) bytes, or one \(limits.headerLine)")
        }
        guard let line, !line.isEmpty else { return line }
        if head?.request.headers.count ?? 0 >= limits.headerCount {
            throw headersTooLarge("there are more than \(limits.headerCount) headers")
        }
        headerBytes += line.count + 2
        try head?.append(line)
        return line
    }

    private func headersTooLarge(_ reason: String) -> HTTPFailure {
        HTTPFailure(
            .headersTooLarge, "too-long", "\(reason); send fewer, or delete the cookies of this host",
            endsConnection: true)
    }

    private mutating func finishHead() throws(HTTPFailure) -> HTTPEvent? {
        guard let length = try head?.finish() else { return nil }
        if length == 0 { return finish([]) }
        phase = .bodyLength(length)
        return head.map { .head($0.request) }
    }

    // MARK: The body

    /// Checks the length of the body. Returns whether the client waits for `100 Continue`.
    private mutating func beginBody(_ length: Int) throws(HTTPFailure) -> Bool {
        if length > limits.body {
            throw HTTPFailure(
                .contentTooLarge, "too-long", "the body has \(length) bytes; send at most \(limits.body)",
                endsConnection: true)
        }
        phase = .body(length)
        return try head?.expectsContinue() ?? false
    }

    private mutating func finish(_ body: [UInt8]) -> HTTPEvent? {
        guard var request = head.take()?.request else { return nil }
        request.body = body
        headerBytes = 0
        hasSkippedLine = false
        phase = .requestLine
        input.compact()
        return .request(request)
    }
}

/// The unparsed bytes of a connection. Results do not depend on how the bytes were split into packets.
struct HTTPInput: Sendable {
    /// The reasons why a line is invalid.
    enum Fault: Error {
        case tooLong
        /// LF without CR.
        case bareLineFeed
        /// CR without LF.
        case bareReturn
        /// A byte that this kind of line may not contain.
        case badByte
    }

    /// The bytes that a line may contain.
    enum Alphabet {
        /// Visible ASCII and the space.
        case ascii
        /// Also the tab and bytes outside ASCII.
        case text

        fileprivate func contains(_ byte: UInt8) -> Bool {
            switch self {
            case .ascii: (0x20...0x7E).contains(byte)
            case .text: !HTTPSyntax.isControl(byte) || byte == HTTPSyntax.tab
            }
        }
    }

    private var buffer: [UInt8] = []
    /// The first byte that is not consumed.
    private var start = 0
    /// The end of the bytes that were scanned: valid, and without a line end.
    private var scanned = 0

    /// The number of bytes that are not consumed.
    var count: Int { buffer.count - start }

    var first: UInt8? { start < buffer.count ? buffer[start] : nil }

    mutating func append(_ bytes: some Sequence<UInt8>) {
        compact()
        buffer.append(contentsOf: bytes)
    }

    /// The next line without its end, or nil when more bytes are needed. Throws at the first invalid byte.
    mutating func line(limit: Int, _ alphabet: Alphabet) throws(Fault) -> ArraySlice<UInt8>? {
        while scanned < buffer.count {
            let byte = buffer[scanned]
            if scanned > start, buffer[scanned - 1] == UInt8(ascii: "\r") {
                if byte != UInt8(ascii: "\n") { throw .bareReturn }
                return consume(to: scanned - 1, skipping: 2)
            }
            if byte == UInt8(ascii: "\n") { throw .bareLineFeed }
            if byte != UInt8(ascii: "\r") {
                if scanned - start >= limit { throw .tooLong }
                if !alphabet.contains(byte) { throw .badByte }
            }
            scanned += 1
        }
        return nil
    }

    /// Consumes a number of bytes; nil when more bytes are needed.
    mutating func consume(_ count: Int) -> ArraySlice<UInt8>? {
        count <= self.count ? consume(to: start + count, skipping: 0) : nil
    }

    private mutating func consume(to end: Int, skipping count: Int) -> ArraySlice<UInt8> {
        defer {
            start = end + count
            scanned = start
        }
        return buffer[start..<end]
    }

    /// The scanned part of an incomplete line.
    var unfinishedLine: ArraySlice<UInt8> { buffer[start..<scanned] }

    /// Drops consumed bytes once there are as many as remain, so that moving the rest has amortized constant cost.
    mutating func compact() {
        if count == 0 {
            // An idle connection must not keep the buffer of a large request.
            buffer.removeAll(keepingCapacity: buffer.capacity <= 1_024)
        } else if start >= max(count, 4_096) {
            buffer.removeSubrange(..<start)
        } else {
            return
        }
        scanned -= start
        start = 0
    }

    /// Drops all bytes.
    mutating func removeAll() { self = HTTPInput() }
}
