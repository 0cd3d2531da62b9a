// Runs commands from standard input: sends lines as they are read, and prints answers as they arrive.

import Tweaks
import TweaksSystem

/// Sends the lines of a descriptor and prints the answers. A line that is refused ends the script, so that each line
/// waits for the answer to the one before it. With `--keep-going` requests are pipelined: a long script costs no more
/// round trips than a short one. A line typed into a pipe is answered at once.
struct Script {
    private var pipeline: Pipeline
    private let console: Console
    private let input: Int32
    private let keepsGoing: Bool
    private var unread: [UInt8] = []
    /// The position in `unread` of the first line that was not sent.
    private var position = 0
    /// The line numbers of requests in order; nil for a request that is not from the script.
    private var pendingLines: [Int?] = []
    private var answered = 0
    private var lineNumber = 0
    private var inputHasEnded = false
    private var wasRefused = false
    /// The refusal of the first request, which ends the script.
    private var refusal: Failure?
    /// The error of reading the input.
    private var inputFailure: Failure?

    /// The maximum number of bytes that are read and not sent.
    private static let window = 1 << 16

    init(_ input: Int32, _ target: Target, _ console: Console, keepsGoing: Bool) throws(Failure) {
        self.input = input
        self.console = console
        self.keepsGoing = keepsGoing
        pipeline = Pipeline(target, try target.connect())
        // The server closes a session whose first command is invalid, so a valid one goes first.
        send(Array((console.isJSON ? "json on" : "ping").utf8)[...], nil)
        if !console.isJSON { pipeline.requestFields() }
    }

    private var connection: Connection { pipeline.connection }

    /// Runs the script to its end.
    /// - Returns: `refused` if any line was refused.
    mutating func run() throws(Failure) -> ExitCode {
        while !inputHasEnded || position < unread.count || !pipeline.isIdle {
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
        let wantsInput = !inputHasEnded && unread.count - position + pipeline.unsentCount < Self.window
        let (canReadInput, messages) = pipeline.wait(for: wantsInput ? input : -1)
        for message in messages { handle(message) }
        if canReadInput { readInput() }
        sendLines()
    }

    // MARK: Input

    private mutating func readInput() {
        guard let bytes = System.read(input) else { return stopReading() }
        inputHasEnded = bytes.isEmpty
        unread.removeFirst(position)
        position = 0
        unread += bytes
    }

    /// A read error: the incomplete line is not sent.
    private mutating func stopReading() {
        let reason = errorText()
        let lines = unread[position...].count { $0 == UInt8(ascii: "\n") }
        inputFailure = Failure(.refused, "standard input: \(reason); no line after line \(lineNumber + lines) was sent")
        inputHasEnded = true
        unread.removeLast(unread.reversed().prefix { $0 != UInt8(ascii: "\n") }.count)
        position = min(position, unread.count)
    }

    /// Sends the lines that may be sent now: one while none is unanswered, or as many as the window takes.
    private mutating func sendLines() {
        while position < unread.count, keepsGoing ? pipeline.unsentCount < Self.window : pipeline.isIdle {
            let lineEnd = unread[position...].firstIndex(of: UInt8(ascii: "\n"))
            guard let end = lineEnd ?? (inputHasEnded ? unread.count : nil) else { return }
            let line = unread[position..<end]
            position = min(end + 1, unread.count)
            sendLine(line)
        }
    }

    /// Sends a line. Blank lines and comments are not sent: they are not answered, and the first blank line enables
    /// prompts.
    private mutating func sendLine(_ bytes: ArraySlice<UInt8>) {
        lineNumber += 1
        let bytes = bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes
        guard bytes.withUnsafeBufferPointer(CommandText.isAnswered) else { return }
        send(bytes, lineNumber)
        // Lines after `quit` would not be answered.
        if CommandText.isQuit(bytes) { endInput() }
    }

    private mutating func endInput() {
        inputHasEnded = true
        position = unread.count
    }

    private mutating func send(_ line: ArraySlice<UInt8>, _ number: Int?) {
        pipeline.add(line)
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
            if answer.isRefusal { refusal = Failure(.refused, answer.complaint) }
            return
        }
        wasRefused = wasRefused || answer.isRefusal
        console.report(answer, place: "line \(number)")
        if answer.isRefusal, !keepsGoing { stop(after: number) }
    }

    /// Ends the script at a refused line.
    private mutating func stop(after number: Int) {
        let isLast = inputHasEnded && position == unread.count
        endInput()
        if isLast { return }
        console.printRemark("stopped at line \(number); no later line was sent; --keep-going sends them all")
    }

    private func connectionLost() -> Failure {
        let open = pendingLines[answered...].compactMap(\.self)
        if open.isEmpty, let inputFailure { return inputFailure }
        let failure = pipeline.failure
        guard let first = open.first else { return failure }
        let rest = open.count == 1 ? "line \(first) was" : "\(open.count) lines, from line \(first) on, were"
        return Failure(failure.code, "\(failure.description); \(rest) not answered")
    }
}

/// Requests in progress on one connection.
struct Pipeline {
    let connection: Connection
    private let target: Target
    private var unsent: [UInt8] = []
    /// For each request in order, whether its answer may take longer than the timeout.
    private var requests: [Bool] = []
    private var answered = 0
    /// The position of the request for fields, whose answer is no concern of the caller; nil without one.
    private var fieldsRequest: Int?
    /// The time of the last bytes in either direction.
    private var progress = ContinuousClock.now

    init(_ target: Target, _ connection: Connection) {
        self.target = target
        self.connection = connection
    }

    /// Whether no answer is outstanding.
    var isIdle: Bool { answered == requests.count }
    /// The number of bytes that the process has not taken.
    var unsentCount: Int { unsent.count }

    /// The error of a connection that has ended.
    var failure: Failure { target.failure(of: connection) }

    /// Adds a request, without its line end.
    mutating func add(_ line: some Collection<UInt8>) {
        if isIdle { progress = .now }
        requests.append(target.timeout.mayBeExtended(for: line))
        unsent += line
        unsent.append(UInt8(ascii: "\n"))
    }

    /// Requests that the answers to later requests have their fields, as an older server cannot do.
    mutating func requestFields() {
        fieldsRequest = requests.count
        add(Answer.fieldsRequest.utf8)
    }

    /// Waits until something arrives, or a descriptor can be read.
    /// - Parameter input: The descriptor; -1 for none.
    mutating func wait(for input: Int32 = -1) -> (canReadInput: Bool, messages: [ServerMessage]) {
        let ready = System.wait(
            [(connection.number, unsent.isEmpty ? .read : .readAndWrite), (input, .read)], milliseconds: timeLeft)
        // Without blocking: a blocked write would prevent reading.
        if ready[0].canWrite { sendSome() }
        let messages = ready[0].canRead ? receive() : []
        if timeLeft == 0 { endUnlessExtended() }
        return (ready[1].canRead, messages)
    }

    /// The time until the process counts as stopped, in milliseconds; nil while nothing is expected of it.
    private var timeLeft: Int32? {
        guard !isIdle, let milliseconds = target.timeout.milliseconds else { return nil }
        let passed = Int64((ContinuousClock.now - progress) / .milliseconds(1))
        return Int32(max(0, Int64(milliseconds) - passed))
    }

    private mutating func endUnlessExtended() {
        if requests[answered], target.isAlive { progress = .now } else { connection.giveUp() }
    }

    /// Sends all requests, and waits for their answers.
    static func exchange(
        _ requests: [String], with target: Target, on connection: Connection, withFields: Bool = false
    ) throws(Failure) -> [Answer] {
        var pipeline = Pipeline(target, connection)
        if withFields, !connection.wantsFields { pipeline.requestFields() }
        for request in requests { pipeline.add(request.utf8) }
        var answers: [Answer] = []
        while answers.count < requests.count {
            if connection.hasEnded { throw target.failure(of: connection, to: requests.last) }
            for case .answer(let answer) in pipeline.wait().messages { answers.append(answer) }
        }
        return answers
    }

    private mutating func sendSome() {
        guard let count = connection.sendSome(unsent), count > 0 else { return }
        unsent.removeFirst(count)
        progress = .now
    }

    private mutating func receive() -> [ServerMessage] {
        connection.receive()
        progress = .now
        var messages: [ServerMessage] = []
        while let message = connection.nextMessage() {
            guard case .answer(let answer) = message else {
                messages.append(message)
                continue
            }
            let isOfFields = answered == fieldsRequest
            if isOfFields { connection.wantsFields = true }
            answered = min(answered + 1, requests.count)
            // Another refusal is that of the session.
            if !isOfFields || answer.isRefusal && answer.errorCode != .usage { messages.append(message) }
        }
        return messages
    }
}
