// Runs one client of the soak: a non-blocking socket and the steps of its current session.

import Foundation

/// A client, which runs one session after the other.
struct SoakClient {
    /// The addresses of the server.
    struct Target {
        let socketPath: String
        let port: UInt16
    }

    /// The outcomes of all sessions.
    struct Tally {
        var sessions: [SoakBehavior: Int] = [:]
        var statuses = 0
        var refused = 0
        /// Sessions that the server ended.
        var cut = 0
    }

    private(set) var socket: Int32 = -1
    private var steps: [SoakStep] = []
    private var position = 0
    private var sent = 0
    private var statuses = 0
    private var isAtLineStart = true
    /// The end of the current step, or of the pause between sessions.
    private(set) var wakesAt: ContinuousClock.Instant = .now

    /// The timeout of a step.
    private static let timeout = Duration.seconds(15)

    var isConnected: Bool { socket >= 0 }

    /// The events of poll(2) that it waits for.
    var events: Int16 {
        guard isConnected, position < steps.count else { return 0 }
        switch steps[position] {
        case .send: return Int16(POLLOUT | POLLIN)
        case .awaitStatuses, .read, .readToEnd: return Int16(POLLIN)
        case .pauseReading, .halfClose, .reset: return 0
        }
    }

    // MARK: Beginning and ending

    mutating func begin(_ target: Target, _ generator: inout SeededGenerator, _ tally: inout Tally) {
        let behavior = SoakBehavior.allCases[generator.some(0...SoakBehavior.allCases.count - 1)]
        wakesAt = .now + .milliseconds(generator.some(10...300))
        guard let socket = SoakSocket.open(target, isLocal: generator.isLucky()) else {
            tally.refused += 1
            return
        }
        self.socket = socket
        tally.sessions[behavior, default: 0] += 1
        (steps, position, sent, statuses, isAtLineStart) = (behavior.steps(&generator), 0, 0, 0, true)
        enterStep()
    }

    mutating func end(pause: Int) {
        if isConnected { close(socket) }
        socket = -1
        steps = []
        wakesAt = .now + .milliseconds(pause)
    }

    // MARK: Steps

    /// The progress of a step.
    private enum Progress {
        case waits, done
        /// The session is over.
        case over
        /// The server has ended the session.
        case cut
    }

    /// Advances through its steps without blocking; true when the session is over.
    mutating func advance(_ buffer: inout [UInt8], _ tally: inout Tally) -> Bool {
        while position < steps.count {
            switch perform(steps[position], &buffer, &tally) {
            case .waits: return isOverdue
            case .over: return true
            case .cut:
                tally.cut += 1
                return true
            case .done:
                position += 1
                enterStep()
            }
        }
        return true
    }

    private mutating func perform(_ step: SoakStep, _ buffer: inout [UInt8], _ tally: inout Tally) -> Progress {
        switch step {
        case .send(let bytes):
            let next = position + 1 < steps.count ? steps[position + 1] : step
            // A client that sends much has to read meanwhile, or client and server would wait for each other.
            if case .awaitStatuses = next, !receive(&buffer, &tally) { return .cut }
            guard let count = SoakSocket.send(socket, bytes[sent...]) else { return .cut }
            sent += count
            if case .pauseReading = next { return .done }
            return sent < bytes.count ? .waits : .done
        case .awaitStatuses(let wanted):
            if !receive(&buffer, &tally) { return .cut }
            return statuses < wanted ? .waits : .done
        case .read:
            if !receive(&buffer, &tally) { return .over }
            return isOverdue ? .done : .waits
        case .pauseReading: return isOverdue ? .done : .waits
        case .halfClose:
            shutdown(socket, Int32(SHUT_WR))
            return .done
        case .readToEnd: return receive(&buffer, &tally) ? .waits : .over
        case .reset:
            SoakSocket.closeWithReset(socket)
            return .over
        }
    }

    private var isOverdue: Bool { wakesAt <= .now }

    private mutating func enterStep() {
        sent = 0
        wakesAt = .now + Self.timeout
        guard position < steps.count else { return }
        switch steps[position] {
        // Statuses may arrive while the request is being sent.
        case .send: statuses = 0
        case .read(let time), .pauseReading(let time): wakesAt = .now + .milliseconds(time)
        case .awaitStatuses, .readToEnd, .halfClose, .reset: break
        }
    }

    /// Reads the available bytes and counts statuses. False at the end.
    private mutating func receive(_ buffer: inout [UInt8], _ tally: inout Tally) -> Bool {
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if count == 0 { return false }
            for byte in buffer[..<count] {
                // ok…, error…, {"ok":…; also event…, which only ends a wait for statuses early.
                if isAtLineStart, byte == UInt8(ascii: "o") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "{") {
                    statuses += 1
                    tally.statuses += 1
                }
                isAtLineStart = byte == 10
            }
        }
    }
}
