// Sends requests without waiting for the answers to earlier ones, and gives up when none arrives in time.

import TweaksSystem

/// Requests in progress on one connection.
struct Pipeline {
    let connection: Connection
    private let target: Target
    private var unsent: [UInt8] = []
    /// For each request in order, whether its answer may take longer than the timeout.
    private var requests: [Bool] = []
    private var answered = 0
    /// The time of the last bytes in either direction.
    private var progress = ContinuousClock.now

    init(_ target: Target, _ connection: Connection) { (self.target, self.connection) = (target, connection) }

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
            if case .answer = message { answered = min(answered + 1, requests.count) }
            messages.append(message)
        }
        return messages
    }
}
