// A connection to a server: lines go out, lines come in.

import TweaksSystem
import Tweaks
import TweaksTerminal

/// One line of the server, by what it means.
enum ServerLine: Equatable {
    /// A line of a reply's body.
    case body(String)
    /// The end of a reply; in JSON the whole of it.
    case ok(String)
    /// The same for a request that was refused.
    case error(String)
    /// News of what is watched.
    case event(String)

    /// Control characters cannot reach the terminal: the server filters them, and a stranger may stand in its place.
    init(_ line: String) {
        // An interactive session has prompts in front of its answers; no line begins so by itself.
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

/// A connected socket and what has arrived on it. Blocking; whoever must not wait looks with `System.wait` before.
final class Connection {
    let number: Int32
    private var buffer: [UInt8] = []
    private var start = 0
    private var scanned = 0
    /// Whether the other side has ended it.
    private(set) var hasEnded = false
    /// Whether it was ended here, because the other side sent a longer answer than any server does.
    private(set) var isFlooded = false
    /// The lines of an answer whose end has not come.
    private var body: [String] = []
    private var bodySize = 0
    private let longest: Int

    /// Connects, within 3 s.
    /// - Parameter longest: The most bytes of an answer; the values of 50,000 tweaks in JSON are about as many.
    init(_ address: Address, longest: Int = 16 << 20) throws(Address.Refusal) {
        number = try address.connectedSocket()
        self.longest = longest
    }

    deinit { close(number) }

    /// Sends a line. A connection that breaks shows when it is read.
    func send(_ line: String) {
        if !System.write(Array((line + "\n").utf8), to: number) { hasEnded = true }
    }

    /// Sends as much as goes without waiting.
    /// - Returns: How much went; nil when the connection is broken.
    func sendSome(_ bytes: [UInt8]) -> Int? {
        let count = bytes.withUnsafeBytes { systemSend(number, $0.baseAddress, $0.count, Int32(MSG_DONTWAIT)) }
        if count >= 0 { return count }
        if errno == EAGAIN || errno == EINTR { return 0 }
        hasEnded = true
        return nil
    }

    /// An answer or an event that has arrived whole, if one has.
    func arrivedMessage() -> ServerMessage? {
        while let line = arrivedLine() {
            switch line {
            case .body(let text):
                body.append(text)
                // An array of short texts is larger than they are.
                bodySize += text.utf8.count + 32
                if bodySize > longest { flood() }
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

    /// Keeps nothing of what is too much.
    private func flood() {
        isFlooded = true
        hangUp()
    }

    /// Ends it at this side: nothing more is said to the other side, which learns of it.
    func hangUp() {
        shutdown(number, Int32(SHUT_RDWR))
        (hasEnded, buffer, start, scanned) = (true, [], 0, 0)
        forgetBody()
    }

    /// A whole line that has arrived, if one has.
    private func arrivedLine() -> ServerLine? {
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

    /// Takes in what is there; waits where nothing is.
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
        if buffer.count > longest { flood() }
    }

    /// The next answer or event; nil when the connection has ended, or none is whole in time.
    private func message(before deadline: ContinuousClock.Instant?) -> ServerMessage? {
        while true {
            if let message = arrivedMessage() { return message }
            if hasEnded { return nil }
            if let deadline {
                let left = max(0, Int32((deadline - .now) / .milliseconds(1)))
                if !System.wait([(number, .read)], milliseconds: left)[0].canRead { return nil }
            }
            receive()
        }
    }

    /// Sends a request and waits for the whole answer.
    /// - Parameter milliseconds: How long all of it may take; nil: as long as it likes.
    /// - Returns: Body, and status line; nil when the connection ends or it does not come in time. It counts as ended then,
    ///   too: the answer that is late would be taken for that to the next request.
    func ask(
        _ line: String, within milliseconds: Int32? = nil, onEvent: (String) -> Void = { _ in }
    ) -> Answer? {
        // It would be obeyed all the same, later, and nobody would know.
        if hasEnded { return nil }
        forgetBody()
        send(line)
        let deadline = milliseconds.map { ContinuousClock.now + .milliseconds($0) }
        while let message = message(before: deadline) {
            switch message {
            case .event(let text): onEvent(text)
            case .answer(let answer): return answer
            }
            // Events that have come already are no reason to stay, however many there are.
            if deadline.map({ .now >= $0 }) ?? false { break }
        }
        hasEnded = true
        return nil
    }

    /// Why it has ended, for people.
    var end: String {
        isFlooded
            ? "sends an answer of more than \(longest >> 20) MiB, as no process does; the connection is closed"
            : "has ended the connection"
    }
}

/// What a server says, as far as it is whole.
enum ServerMessage: Equatable {
    case answer(Answer)
    case event(String)
}

/// The answer to one request.
struct Answer: Equatable {
    var body: [String]
    var status: String
    var isRefusal: Bool

    /// The same answer with another body.
    func replacing(body: [String]) -> Answer { Answer(body: body, status: status, isRefusal: isRefusal) }

    /// A body of `  name: value` lines.
    func fact(_ name: String) -> String? {
        body.first { $0.hasPrefix("  \(name): ") }.map { String($0.dropFirst(name.utf8.count + 4)) }
    }

    /// The revision of `ok rev N…`.
    var revision: UInt64? {
        let words = status.split(separator: " ")
        return words.count >= 3 && words[1] == "rev" ? UInt64(words[2]) : nil
    }
}

/// send(2), under a name that no method takes.
private func systemSend(_ number: Int32, _ bytes: UnsafeRawPointer?, _ count: Int, _ flags: Int32) -> Int {
    send(number, bytes, count, flags)
}
