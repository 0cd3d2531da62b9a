// Parses HTTP/1.1 and 1.0 requests strictly: the part of RFC 9112 that the panel needs.

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

    /// The parsed parts of the current request.
    private var head: HTTPHead?
    private var request: HTTPRequest?

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
                    request?.body = Array(body)
                    return finish()
                }
            }
        } catch {
            phase = .failed
            (head, request) = (nil, nil)
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
        head = HTTPHead(try HTTPRequestLine(line))
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
        if head?.headers.count ?? 0 >= limits.headerCount {
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
        guard let head else { return nil }
        let request = try head.request()
        let length = try head.bodyLength()
        self.request = request
        if length == 0 { return finish() }
        phase = .bodyLength(length)
        return .head(request)
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

    private mutating func finish() -> HTTPEvent? {
        let event = request.map { HTTPEvent.request($0) }
        (head, request, headerBytes, hasSkippedLine, phase) = (nil, nil, 0, false, .requestLine)
        input.compact()
        return event
    }
}
