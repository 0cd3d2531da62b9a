// Commands from standard input: all are sent as they come, and each answer is shown as it arrives.

import Tweaks
import TweaksSystem
import TweaksTerminal

/// Sends the lines of a descriptor and shows the answers. Requests go out without waiting for answers, so that a long
/// script costs no more round trips than a short one; a line typed into a pipe is answered at once all the same.
struct Script {
    private let connection: Connection
    private let console: Console
    private let input: Int32
    private var unread: [UInt8] = []
    private var unsent: [UInt8] = []
    /// The lines that are still to be answered, by their numbers; nil for our own request.
    private var waiting: [Int?] = []
    private var answered = 0
    private var lineNumber = 0
    private var inputHasEnded = false
    /// Whether the script has said that this is its end; what stands behind it would not be answered.
    private var hasQuit = false
    private var wasRefused = false
    /// Why we are not let in.
    private var refusal: Failure?
    /// Why not all of it could be read.
    private var cut: Failure?

    /// So much may be on its way.
    private static let window = 1 << 16

    init(_ input: Int32, _ connection: Connection, _ console: Console) {
        (self.input, self.connection, self.console) = (input, connection, console)
        // A session that has said something sensible is not ended by the first slip.
        enqueue(console.isJSON ? "json on" : "ping", nil)
    }

    /// Runs it to its end.
    /// - Returns: How it went: refused where any line was.
    mutating func run() throws(Failure) -> ExitCode {
        while !inputHasEnded || !unsent.isEmpty || answered < waiting.count {
            if connection.hasEnded { throw refusal ?? lost() }
            // A file is done to its end. What else comes may have none, and ends with its reader, as in any pipe.
            if Console.readerHasGone, !System.isFile(input) { break }
            step()
        }
        if let failure = refusal ?? cut { throw failure }
        return wasRefused ? .refused : .ok
    }

    private mutating func step() {
        let wantsInput = !inputHasEnded && unsent.count < Self.window
        let ready = System.wait([
            (connection.number, unsent.isEmpty ? .read : .readAndWrite), (wantsInput ? input : -1, .read),
        ])
        if ready[1].canRead { readInput() }
        // As much as surely fits: a blocking write of more would keep us from reading.
        if ready[0].canWrite { sendSome() }
        if ready[0].canRead {
            connection.receive()
            while let message = connection.arrivedMessage() { take(message) }
        }
    }

    private mutating func sendSome() {
        guard let count = connection.sendSome(unsent) else { return }
        unsent.removeFirst(count)
    }

    // MARK: Input

    private mutating func readInput() {
        guard let bytes = System.read(input) else { return stopReading() }
        inputHasEnded = bytes.isEmpty
        unread += bytes
        var rest = unread[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            takeLine(rest[..<end])
            rest = rest[(end + 1)...]
            if hasQuit { return }
        }
        unread = Array(rest)
        if inputHasEnded, !unread.isEmpty { takeLine(unread[...]) }
    }

    /// What has been read of the next line is not the whole of it, and is not sent.
    private mutating func stopReading() {
        let reason = errorText()
        (inputHasEnded, unread) = (true, [])
        cut = Failure(.refused, "standard input: \(reason); nothing behind line \(lineNumber) was sent")
    }

    /// Blanks and comments are not answered, and the first blank line would ask for a prompt: they stay here.
    private mutating func takeLine(_ bytes: ArraySlice<UInt8>) {
        lineNumber += 1
        let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
        if bytes.withUnsafeBufferPointer(CommandText.isAnswered) {
            unsent += bytes
            unsent.append(UInt8(ascii: "\n"))
            waiting.append(lineNumber)
            hasQuit = CommandText.isQuit(bytes)
            inputHasEnded = inputHasEnded || hasQuit
        }
    }

    private mutating func enqueue(_ line: String, _ number: Int?) {
        unsent += Array((line + "\n").utf8)
        waiting.append(number)
    }

    // MARK: Answers

    private mutating func take(_ message: ServerMessage) {
        switch message {
        case .event(let text): console.printEvent(text)
        case .answer(let answer): finish(answer)
        }
    }

    private mutating func finish(_ answer: Answer) {
        let number = answered < waiting.count ? waiting[answered] : lineNumber
        answered = min(answered + 1, waiting.count)
        guard let number else {
            // Whoever may not even ask is told why, and the connection ends.
            if answer.isRefusal { refusal = Failure(.refused, Painter.refusal(answer.status)) }
            return
        }
        wasRefused = wasRefused || answer.isRefusal
        console.report(answer, place: "line \(number)")
    }

    private func lost() -> Failure {
        let open = waiting[answered...].compactMap(\.self)
        if open.isEmpty, let cut { return cut }
        guard let first = open.first else { return Failure(.unreachable, "the process \(connection.end)") }
        let rest = open.count == 1 ? "line \(first) was" : "\(open.count) lines, from line \(first) on, were"
        return Failure(.unreachable, "the process \(connection.end); \(rest) not answered")
    }
}
