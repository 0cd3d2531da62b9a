// Runs commands from standard input: sends lines as they are read, and prints answers as they arrive.

import Tweaks
import TweaksSystem
import TweaksTerminal

/// Sends the lines of a descriptor and prints the answers. Requests are pipelined, so that a long script costs no more
/// round trips than a short one; a line typed into a pipe is still answered at once.
struct Script {
    private let connection: Connection
    private let console: Console
    private let input: Int32
    private var unread: [UInt8] = []
    private var unsent: [UInt8] = []
    /// The line numbers of requests in order; nil for a request that is not from the script.
    private var pendingLines: [Int?] = []
    private var answered = 0
    private var lineNumber = 0
    private var inputHasEnded = false
    /// Whether the script has sent `quit`; lines after it would not be answered.
    private var hasQuit = false
    private var wasRefused = false
    /// The refusal of the first request, which ends the script.
    private var refusal: Failure?
    /// The error of reading the input.
    private var inputFailure: Failure?

    /// The maximum number of bytes that are read and not sent.
    private static let window = 1 << 16

    init(_ input: Int32, _ connection: Connection, _ console: Console) {
        (self.input, self.connection, self.console) = (input, connection, console)
        // The server closes a session whose first command is invalid, so a valid one goes first.
        enqueue(console.isJSON ? "json on" : "ping", nil)
    }

    /// Runs the script to its end.
    /// - Returns: `refused` if any line was refused.
    mutating func run() throws(Failure) -> ExitCode {
        while !inputHasEnded || !unsent.isEmpty || answered < pendingLines.count {
            if connection.hasEnded { throw refusal ?? connectionLost() }
            // A file is read to its end. Other input may have no end, so it ends with the reader of the output, as in
            // any pipe.
            if Console.readerHasGone, !System.isFile(input) { break }
            step()
        }
        if let failure = refusal ?? inputFailure { throw failure }
        return wasRefused ? .refused : .ok
    }

    private mutating func step() {
        let wantsInput = !inputHasEnded && unsent.count < Self.window
        let ready = System.wait([
            (connection.number, unsent.isEmpty ? .read : .readAndWrite), (wantsInput ? input : -1, .read),
        ])
        if ready[1].canRead { readInput() }
        // Without blocking: a blocked write would prevent reading.
        if ready[0].canWrite { sendSome() }
        if ready[0].canRead {
            connection.receive()
            while let message = connection.nextMessage() { handle(message) }
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
            queueLine(rest[..<end])
            rest = rest[(end + 1)...]
            if hasQuit { return }
        }
        unread = Array(rest)
        if inputHasEnded, !unread.isEmpty { queueLine(unread[...]) }
    }

    /// A read error: the incomplete line is not sent.
    private mutating func stopReading() {
        let reason = errorText()
        (inputHasEnded, unread) = (true, [])
        inputFailure = Failure(.refused, "standard input: \(reason); no line after line \(lineNumber) was sent")
    }

    /// Queues a line. Blank lines and comments are not sent: they are not answered, and the first blank line enables
    /// prompts.
    private mutating func queueLine(_ bytes: ArraySlice<UInt8>) {
        lineNumber += 1
        let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
        if bytes.withUnsafeBufferPointer(CommandText.isAnswered) {
            unsent += bytes
            unsent.append(UInt8(ascii: "\n"))
            pendingLines.append(lineNumber)
            hasQuit = CommandText.isQuit(bytes)
            inputHasEnded = inputHasEnded || hasQuit
        }
    }

    private mutating func enqueue(_ line: String, _ number: Int?) {
        unsent += Array((line + "\n").utf8)
        pendingLines.append(number)
    }

    // MARK: Answers

    private mutating func handle(_ message: ServerMessage) {
        switch message {
        case .event(let text): console.printEvent(text)
        case .answer(let answer): finish(answer)
        }
    }

    private mutating func finish(_ answer: Answer) {
        let number = answered < pendingLines.count ? pendingLines[answered] : lineNumber
        answered = min(answered + 1, pendingLines.count)
        guard let number else {
            // The server refuses this session; it closes the connection.
            if answer.isRefusal { refusal = Failure(.refused, ReplyFormatter.refusal(answer.status)) }
            return
        }
        wasRefused = wasRefused || answer.isRefusal
        console.report(answer, place: "line \(number)")
    }

    private func connectionLost() -> Failure {
        let open = pendingLines[answered...].compactMap(\.self)
        if open.isEmpty, let inputFailure { return inputFailure }
        guard let first = open.first else { return Failure(.unreachable, "the process \(connection.endReason)") }
        let rest = open.count == 1 ? "line \(first) was" : "\(open.count) lines, from line \(first) on, were"
        return Failure(.unreachable, "the process \(connection.endReason); \(rest) not answered")
    }
}
