// Connects to a server, sends request lines, and assembles its answers and events.

import Tweaks
import TweaksSystem

/// One line of the server, classified.
enum ServerLine: Equatable {
    /// A line of a reply's body.
    case body(String)
    /// The last line of a reply; in JSON the whole reply.
    case ok(String)
    /// The last line of the reply to a refused request.
    case error(String)
    /// A change of a watched tweak.
    case event(String)

    /// Control characters never reach the terminal: the server filters them, but another program may be listening
    /// there.
    init(_ line: String) {
        // An interactive session prints prompts before its answers; no line begins like one otherwise.
        var rest = line.utf8[...]
        while let prompt = ["> ", "*> "].first(where: { rest.starts(with: $0.utf8) }) {
            rest = rest.dropFirst(prompt.utf8.count)
        }
        let text = Quoting.sanitized(String(Substring(rest)))
        if text == "ok" || text.hasPrefix("ok ") || text.hasPrefix("{\"ok\":true") {
            self = .ok(text)
        } else if text.hasPrefix("error ") || text.hasPrefix("{\"ok\":false") {
            self = .error(text)
        } else if text.hasPrefix("event ") || text.hasPrefix("{\"event\":") {
            self = .event(text)
        } else {
            self = .body(text)
        }
    }
}

/// A connected socket and its buffered input. Blocking; to avoid waiting, call `System.wait` first.
final class Connection {
    let number: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var scanned = 0
    /// Whether the peer has closed the connection.
    private(set) var hasEnded = false
    /// Whether the peer has sent anything.
    private(set) var hasReceived = false
    /// Whether it was closed here because the peer sent a longer answer than any server does.
    private(set) var isOversized = false
    /// Whether it counts as ended because an answer did not arrive in time.
    private(set) var hasTimedOut = false
    /// The lines of an answer that is not complete.
    private var body: [String] = []
    private var bodySize = 0
    private let jsonLimit: Int
    /// The maximum size of an answer in bytes; one with its text says everything twice.
    private var sizeLimit: Int { wantsFields ? 2 * jsonLimit : jsonLimit }
    /// Whether replies are to be JSON that has their text, too, as after `json text`. An older server replies in text.
    var wantsFields = false

    /// Connects.
    /// - Parameters:
    ///   - milliseconds: The timeout of connecting; nil waits without a limit.
    ///   - sizeLimit: The maximum size of an answer in bytes; 50,000 tweaks in JSON have about as many.
    init(
        _ address: Address, within milliseconds: Int32? = Timeout.standard.milliseconds, sizeLimit: Int = 16 << 20
    ) throws(SocketError) {
        number = try address.connectedSocket(within: milliseconds)
        jsonLimit = sizeLimit
    }

    deinit { close(number) }

    /// Sends a line. A peer that does not read blocks it, until the deadline at most.
    private func send(_ line: String, before deadline: ContinuousClock.Instant?) {
        var rest = Array((line + "\n").utf8)[...]
        while let count = sendSome(Array(rest)) {
            rest = rest.dropFirst(count)
            if rest.isEmpty { return }
            if !System.wait([(number, .write)], milliseconds: Self.left(deadline))[0].canWrite { return }
        }
    }

    /// The milliseconds until a deadline.
    private static func left(_ deadline: ContinuousClock.Instant?) -> Int32? {
        deadline.map { Int32(max(0, min(($0 - .now) / .milliseconds(1), Double(Int32.max))).rounded(.up)) }
    }

    /// Sends as much as possible without waiting.
    /// - Returns: The number of bytes sent; nil when the connection is broken.
    func sendSome(_ bytes: [UInt8]) -> Int? {
        let count = bytes.withUnsafeBytes { systemSend(number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        hasEnded = true
        return nil
    }

    /// The next complete answer or event, if there is one.
    func nextMessage() -> ServerMessage? {
        while let line = nextLine() {
            switch line {
            case .body(let text):
                body.append(text)
                // 32 bytes for the array element of each text.
                bodySize += text.utf8.count + 32
                if bodySize > sizeLimit { rejectOversizedAnswer() }
            case .event(let text): return .event(wantsFields ? Answer.text(ofEvent: text) : text)
            case .ok(let text): return .answer(finish(text, isRefusal: false))
            case .error(let text): return .answer(finish(text, isRefusal: true))
            }
        }
        return nil
    }

    private func finish(_ status: String, isRefusal: Bool) -> Answer {
        defer { forgetBody() }
        let answer = Answer(body: body, status: status, isRefusal: isRefusal)
        return wantsFields ? answer.withFields : answer
    }

    private func forgetBody() {
        body = []
        bodySize = 0
    }

    /// Closes the connection and drops the oversized answer.
    private func rejectOversizedAnswer() {
        isOversized = true
        hangUp()
    }

    /// Shuts the socket down, so that the peer notices, and drops buffered input.
    func hangUp() {
        shutdown(number, Int32(SHUT_RDWR))
        hasEnded = true
        buffer = []
        start = 0
        scanned = 0
        forgetBody()
    }

    /// The next complete line, if there is one.
    private func nextLine() -> ServerLine? {
        while scanned < buffer.count {
            if buffer[scanned] == UInt8(ascii: "\n") {
                var end = scanned
                if end > start, buffer[end - 1] == UInt8(ascii: "\r") { end -= 1 }
                let line = String(decoding: buffer[start..<end], as: UTF8.self)
                scanned += 1
                start = scanned
                return ServerLine(line)
            }
            scanned += 1
        }
        return nil
    }

    /// Reads what has arrived; waits for input if there is none.
    func receive() {
        if start > 0 {
            buffer.removeSubrange(..<start)
            scanned -= start
            start = 0
        }
        guard let bytes = System.read(number), !bytes.isEmpty else {
            hasEnded = true
            return
        }
        buffer += bytes
        hasReceived = true
        if buffer.count > sizeLimit { rejectOversizedAnswer() }
    }

    /// Waits for the next answer or event; nil when the connection has ended, or the deadline passes first.
    private func message(before deadline: ContinuousClock.Instant?) -> ServerMessage? {
        while true {
            if let message = nextMessage() { return message }
            if hasEnded { return nil }
            if deadline != nil, !System.wait([(number, .read)], milliseconds: Self.left(deadline))[0].canRead {
                return nil
            }
            receive()
        }
    }

    /// Sends a request and waits for the whole answer.
    /// - Parameters:
    ///   - milliseconds: The timeout for the whole answer; nil waits without a limit.
    ///   - withFields: Whether the answer is to have its fields, if the server is not too old for that.
    ///   - isExtended: Asked when the timeout has passed: whether to wait as long again.
    /// - Returns: The answer; nil when the connection ends or the timeout passes. The connection counts as ended then,
    ///   too: the late answer would be taken for that to the next request.
    func ask(
        _ line: String, within milliseconds: Int32? = nil, withFields: Bool = false,
        onEvent: (String) -> Void = { _ in }, isExtended: () -> Bool = { false }
    ) -> Answer? {
        // The server might still execute the request, and its answer could not be read.
        if hasEnded { return nil }
        forgetBody()
        // Without waiting between the two.
        var awaitsFields = withFields && !wantsFields
        let line = awaitsFields ? "\(Answer.fieldsRequest)\n\(line)" : line
        if withFields { wantsFields = true }
        func deadline() -> ContinuousClock.Instant? { milliseconds.map { .now + .milliseconds($0) } }
        var end = deadline()
        send(line, before: end)
        while true {
            switch message(before: end) {
            case .answer(let answer)? where awaitsFields && (!answer.isRefusal || answer.errorCode == .usage):
                awaitsFields = false
                continue
            case .answer(let answer)?: return answer
            case .event(let text)?: onEvent(text)
            case nil where hasEnded: return nil
            case nil: break
            }
            // A stream of events must not extend the timeout.
            guard let passed = end, .now >= passed else { continue }
            guard isExtended() else {
                giveUp()
                return nil
            }
            end = deadline()
        }
    }

    /// Ends the connection because an answer did not arrive in time.
    func giveUp() {
        hasEnded = true
        hasTimedOut = true
    }

    /// Why the connection has ended, for messages.
    var endReason: String {
        if hasTimedOut { return "does not answer" }
        return isOversized
            ? "sends an answer of more than \(sizeLimit >> 20) MiB, as no process does; the connection is closed"
            : "has ended the connection"
    }
}

/// send(2), under a name that no method shadows.
private func systemSend(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(number, bytes, count, flags)
}

/// The address of a server.
enum Address: Equatable {
    case unix(path: String)
    case tcp(host: String, port: String)

    /// Parses `HOST:PORT`, `[::1]:PORT`, or a port alone, which means this machine.
    init(hostAndPort text: String) throws(Failure) {
        let colon = text.lastIndex(of: ":")
        var host = colon.map { String(text[..<$0]) } ?? ""
        let port = colon.map { String(text[text.index(after: $0)...]) } ?? text
        if host.hasPrefix("["), host.hasSuffix("]") { host = String(host.dropFirst().dropLast()) }
        guard let number = UInt16(port), number > 0 else {
            throw Failure(.usage, "-H \(text): write HOST:PORT, as in -H 127.0.0.1:7777")
        }
        self = .tcp(host: host.isEmpty ? "localhost" : host, port: String(number))
    }

    /// The address as a user writes it.
    var text: String {
        switch self {
        case .unix(let path): path
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        }
    }

    /// The key of saved tokens: the same for each spelling of an address, from any working directory.
    var cacheKey: String {
        switch self {
        case .unix(let path): ThisProcess.absolute(path.hasPrefix("./") ? String(path.dropFirst(2)) : path)
        case .tcp: text.lowercased()
        }
    }

    /// Opens a connected socket.
    /// - Parameter milliseconds: The timeout for each of a host's addresses; 0 does not wait, nil waits without a limit.
    func connectedSocket(within milliseconds: Int32?) throws(SocketError) -> Int32 {
        switch self {
        case .unix(let path): try Sockets.connect(path: path, milliseconds: milliseconds)
        case .tcp(let host, let port): try Sockets.connect(host: host, port: port, milliseconds: milliseconds)
        }
    }
}

extension SocketError {
    /// Whether something listens there that does not accept connections in time.
    var isTimeout: Bool { [EAGAIN, EINPROGRESS, ETIMEDOUT].contains(code) }
    /// The same, in words.
    var reason: String { isTimeout ? "it does not accept connections" : text }
}
