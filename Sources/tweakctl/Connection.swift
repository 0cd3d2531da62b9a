// Sends request lines to a server and assembles its answers and events.

import TweaksSystem
import Tweaks

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
    private let sizeLimit: Int

    /// Connects.
    /// - Parameters:
    ///   - milliseconds: The timeout of connecting; nil waits without a limit.
    ///   - sizeLimit: The maximum size of an answer in bytes; 50,000 tweaks in JSON have about as many.
    init(
        _ address: Address, within milliseconds: Int32? = Timeout.standard.milliseconds, sizeLimit: Int = 16 << 20
    ) throws(Address.ConnectError) {
        number = try address.connectedSocket(within: milliseconds)
        self.sizeLimit = sizeLimit
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
            case .event(let text): return .event(text)
            case .ok(let text): return .answer(finish(text, isRefusal: false))
            case .error(let text): return .answer(finish(text, isRefusal: true))
            }
        }
        return nil
    }

    private func finish(_ status: String, isRefusal: Bool) -> Answer {
        defer { forgetBody() }
        return Answer(body: body, status: status, isRefusal: isRefusal)
    }

    private func forgetBody() { (body, bodySize) = ([], 0) }

    /// Closes the connection and drops the oversized answer.
    private func rejectOversizedAnswer() {
        isOversized = true
        hangUp()
    }

    /// Shuts the socket down, so that the peer notices, and drops buffered input.
    func hangUp() {
        shutdown(number, Int32(SHUT_RDWR))
        (hasEnded, buffer, start, scanned) = (true, [], 0, 0)
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
    ///   - isExtended: Asked when the timeout has passed: whether to wait as long again.
    /// - Returns: The answer; nil when the connection ends or the timeout passes. The connection counts as ended then,
    ///   too: the late answer would be taken for that to the next request.
    func ask(
        _ line: String, within milliseconds: Int32? = nil, onEvent: (String) -> Void = { _ in },
        isExtended: () -> Bool = { false }
    ) -> Answer? {
        // The server might still execute the request, and its answer could not be read.
        if hasEnded { return nil }
        forgetBody()
        func deadline() -> ContinuousClock.Instant? { milliseconds.map { .now + .milliseconds($0) } }
        var end = deadline()
        send(line, before: end)
        while true {
            switch message(before: end) {
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
    func giveUp() { (hasEnded, hasTimedOut) = (true, true) }

    /// Why the connection has ended, for messages.
    var endReason: String {
        if hasTimedOut { return "does not answer" }
        return isOversized
            ? "sends an answer of more than \(sizeLimit >> 20) MiB, as no process does; the connection is closed"
            : "has ended the connection"
    }
}

/// A complete message of a server.
enum ServerMessage: Equatable {
    case answer(Answer)
    case event(String)
}

/// The answer to one request.
struct Answer: Equatable {
    var body: [String]
    var status: String
    var isRefusal: Bool

    /// A copy with another body.
    func replacing(body: [String]) -> Answer { Answer(body: body, status: status, isRefusal: isRefusal) }

    /// The value of a `  name: value` line of the body.
    func field(_ name: String) -> String? {
        body.first { $0.hasPrefix("  \(name): ") }.map { String($0.dropFirst(name.utf8.count + 4)) }
    }

    /// The revision of `ok rev N…`.
    var revision: UInt64? {
        let words = status.split(separator: " ")
        return words.count >= 3 && words[1] == "rev" ? UInt64(words[2]) : nil
    }
}

/// send(2), under a name that no method shadows.
private func systemSend(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(number, bytes, count, flags)
}
