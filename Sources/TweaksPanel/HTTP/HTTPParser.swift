// Bytes to requests: HTTP/1.1 and 1.0 as in RFC 9112, no more of it than is needed, and strict.

/// Cuts a byte stream into requests. What comes out does not depend on how the bytes were chopped into packets.
///
/// Whatever it refuses ends the connection: a client that gets this far into the wrong has no second try on the same bytes.
/// Those who own it say how long a request may take (`hasBegun`), and add bytes no faster than requests are taken out.
package struct HTTPParser: Sendable {
    /// May be changed between events.
    package var limits: HTTPLimits
    private var input = HTTPInput()
    private var phase = Phase.before
    /// The bytes of header lines that have come.
    private var headerBytes = 0
    /// An empty line came before the request; some old clients end bodies by one.
    private var hasSkippedLine = false

    /// What comes next.
    private enum Phase: Sendable {
        /// The request line.
        case before
        /// A header line, or the empty line behind them.
        case headers
        /// Whether so many bytes of a body are acceptable.
        case measuring(Int)
        /// The body.
        case body(Int)
        case failed
    }

    /// What has come of the request.
    private var head: HTTPHead?
    private var request: HTTPRequest?

    package init(limits: HTTPLimits = HTTPLimits()) { self.limits = limits }

    /// How many bytes wait.
    package var count: Int { input.count }

    /// Whether there is more than the end of the last request: bytes of one that is not whole, or was not taken out.
    package var hasBegun: Bool {
        if case .before = phase { return input.count > 0 }
        return !hasFailed
    }

    /// Whether the connection has to end; more bytes are not looked at.
    package var hasFailed: Bool {
        if case .failed = phase { true } else { false }
    }

    /// Adds bytes as they arrived.
    package mutating func append(_ bytes: some Sequence<UInt8>) {
        if !hasFailed { input.append(bytes) }
    }

    /// The next event, or nil when more bytes are needed.
    package mutating func next() -> HTTPEvent? {
        do throws(HTTPFailure) {
            while true {
                switch phase {
                case .failed: return nil
                case .before: guard try takeRequestLine() else { return nil }
                case .headers:
                    guard let line = try takeHeaderLine() else { return nil }
                    if line.isEmpty { return try finishHead() }
                case .measuring(let length): if try measure(length) { return .expectsContinue }
                case .body(let length):
                    guard let body = input.take(length) else { return nil }
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

    private mutating func takeRequestLine() throws(HTTPFailure) -> Bool {
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
        // A TLS record that holds a handshake.
        if input.first == 0x16 { return .malformed("this is TLS, and it is not spoken here; use http://") }
        guard fault == .tooLong else { return Self.failure(fault, in: "the request line") }
        guard input.unfinishedLine.contains(HTTPSyntax.blank) else {
            return .malformed("the first line is no request; write METHOD /path HTTP/1.1")
        }
        return HTTPFailure(
            .uriTooLong, "too-long",
            "the request line has more than \(limits.requestLine) bytes; write a shorter target",
            endsConnection: true)
    }

    private static func failure(_ fault: HTTPInput.Fault, in line: String) -> HTTPFailure {
        switch fault {
        case .bareLineFeed: .malformed("\(line) ends by LF alone; end lines by CR LF")
        case .bareReturn: .malformed("\(line) holds a CR without LF; end lines by CR LF")
        case .badByte, .tooLong:
            .malformed("\(line) holds a byte that is not allowed there; leave it out, or encode it")
        }
    }

    // MARK: Headers

    private mutating func takeHeaderLine() throws(HTTPFailure) -> ArraySlice<UInt8>? {
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
        let length = try head.bodyLength()
        let request = try head.request()
        self.request = request
        if length == 0 { return finish() }
        phase = .measuring(length)
        return .head(request)
    }

    // MARK: The body

    /// Whether the client waits to hear that it may send the body.
    private mutating func measure(_ length: Int) throws(HTTPFailure) -> Bool {
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
        (head, request, headerBytes, hasSkippedLine, phase) = (nil, nil, 0, false, .before)
        input.compact()
        return event
    }
}
