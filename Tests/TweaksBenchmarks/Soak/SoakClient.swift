// One client of the soak: a socket that never blocks, and the steps it goes through.

import Foundation

/// A place among the thousand; one life after the other is lived in it.
struct SoakClient {
    /// Where clients go.
    struct Target {
        let socketPath: String
        let port: UInt16
    }

    /// What came of a life.
    struct Tally {
        var lives: [SoakLife: Int] = [:]
        var statuses = 0
        var refused = 0
        /// Ended by the server, or by a restart of it.
        var cut = 0
    }

    private(set) var socket: Int32 = -1
    private var steps: [SoakStep] = []
    private var position = 0
    private var sent = 0
    private var statuses = 0
    private var isAtLineStart = true
    /// When the present step, or the pause between lives, is over.
    private(set) var wakesAt: ContinuousClock.Instant = .now

    /// A life may take so long; then it is cut off.
    private static let patience = Duration.seconds(15)

    var isAlive: Bool { socket >= 0 }

    /// What it waits for, for poll(2).
    var events: Int16 {
        guard isAlive, position < steps.count else { return 0 }
        switch steps[position] {
        case .send: return Int16(POLLOUT | POLLIN)
        case .hear, .listen, .hearTheEnd: return Int16(POLLIN)
        case .deaf, .halfClose, .vanish: return 0
        }
    }

    // MARK: Beginning and ending

    mutating func begin(_ target: Target, _ generator: inout SeededGenerator, _ tally: inout Tally) {
        let life = SoakLife.allCases[generator.some(0...SoakLife.allCases.count - 1)]
        wakesAt = .now + .milliseconds(generator.some(10...300))
        guard let socket = SoakSocket.open(target, isLocal: generator.isLucky()) else {
            tally.refused += 1
            return
        }
        self.socket = socket
        tally.lives[life, default: 0] += 1
        (steps, position, sent, statuses, isAtLineStart) = (life.steps(&generator), 0, 0, 0, true)
        enterStep()
    }

    mutating func end(pause: Int) {
        if isAlive { close(socket) }
        socket = -1
        steps = []
        wakesAt = .now + .milliseconds(pause)
    }

    // MARK: Going on

    /// Whether a step is done.
    private enum Progress {
        case waits, done
        /// The life is over.
        case over
        /// The server has ended it.
        case cut
    }

    /// Does what it can; true when its life is over.
    mutating func advance(_ buffer: inout [UInt8], _ tally: inout Tally) -> Bool {
        while position < steps.count {
            switch go(steps[position], &buffer, &tally) {
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

    private mutating func go(_ step: SoakStep, _ buffer: inout [UInt8], _ tally: inout Tally) -> Progress {
        switch step {
        case .send(let bytes):
            let next = position + 1 < steps.count ? steps[position + 1] : step
            // Whoever sends much has to read meanwhile, or both would wait for each other.
            if case .hear = next, !receive(&buffer, &tally) { return .cut }
            guard let count = SoakSocket.send(socket, bytes[sent...]) else { return .cut }
            sent += count
            if case .deaf = next { return .done }
            return sent < bytes.count ? .waits : .done
        case .hear(let wanted):
            if !receive(&buffer, &tally) { return .cut }
            return statuses < wanted ? .waits : .done
        case .listen:
            if !receive(&buffer, &tally) { return .over }
            return isOverdue ? .done : .waits
        case .deaf: return isOverdue ? .done : .waits
        case .halfClose:
            shutdown(socket, Int32(SHUT_WR))
            return .done
        case .hearTheEnd: return receive(&buffer, &tally) ? .waits : .over
        case .vanish:
            SoakSocket.makeReset(socket)
            return .over
        }
    }

    private var isOverdue: Bool { wakesAt <= .now }

    private mutating func enterStep() {
        sent = 0
        wakesAt = .now + Self.patience
        guard position < steps.count else { return }
        switch steps[position] {
        // Statuses may come while the request is being sent.
        case .send: statuses = 0
        case .listen(let time), .deaf(let time): wakesAt = .now + .milliseconds(time)
        case .hear, .hearTheEnd, .halfClose, .vanish: break
        }
    }

    /// Reads what is there and counts statuses. False at the end.
    private mutating func receive(_ buffer: inout [UInt8], _ tally: inout Tally) -> Bool {
        while true {
            let count = recv(socket, &buffer, buffer.count, 0)
            if count < 0 { return errno == EAGAIN || errno == EINTR }
            if count == 0 { return false }
            for byte in buffer[..<count] {
                // ok…, error…, {"ok":…; also event…, which only makes somebody hear less.
                if isAtLineStart, byte == UInt8(ascii: "o") || byte == UInt8(ascii: "e") || byte == UInt8(ascii: "{") {
                    statuses += 1
                    tally.statuses += 1
                }
                isAtLineStart = byte == 10
            }
        }
    }
}
