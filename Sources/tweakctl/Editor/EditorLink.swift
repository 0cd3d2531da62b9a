// The editor's connection: requests go out without waiting, and each answer finds its question.

import Tweaks
import TweaksTerminal

/// Something that came from the server.
enum Arrival: Equatable {
    case answer(Answer, Ask)
    /// What became of a token, if it is worth a line.
    case remark(String)
    case event(String)
}

/// One connection after the other to the same place.
struct EditorLink {
    private let target: Target
    private var connection: Connection?
    private var asks: [Ask] = []
    private var unsent: [UInt8] = []
    /// Since when an answer is owed, and nothing came.
    private var owedSince: ContinuousClock.Instant?
    private var pause = Self.shortestPause
    /// When to try again; nil while there is a connection.
    private(set) var retry: ContinuousClock.Instant?

    private static let shortestPause = Duration.milliseconds(50)
    private static let longestPause = Duration.seconds(2)
    /// So long nobody wonders.
    private static let patience = Duration.seconds(2)

    /// The token that is being shown, and how far that is.
    private var shown: (token: KeptToken, handshake: Handshake)?
    /// What was asked meanwhile, and is sent to who knows the token.
    private var held: [UInt8] = []
    /// Why nothing is to be said to the program there.
    private(set) var failure: Failure?
    /// What is to be said at the next opportunity.
    private var remarks: [String] = []

    init(_ target: Target, _ connection: Connection) {
        (self.target, self.connection) = (target, connection)
        showToken()
    }

    /// Before all else on a new connection; nothing else is sent before it has ended.
    private mutating func showToken() {
        shown = target.welcome.token { remarks.append($0) }.map { ($0, Handshake($0)) }
        guard let line = shown?.handshake.first else { return }
        unsent += Array((line + "\n").utf8)
        asks.append(.token)
    }

    /// Takes an answer of the handshake.
    private mutating func goOn(_ answer: Answer) {
        guard let step = shown?.handshake.heard(answer), let token = shown?.token else { return }
        switch step {
        case .send(let line):
            unsent += Array((line + "\n").utf8)
            asks.insert(.token, at: 0)
        case .end(let outcome):
            shown = nil
            if let failure = target.welcome.judge(outcome, of: token, { remarks.append($0) }) {
                self.failure = failure
                connection?.hangUp()
            } else {
                unsent += held
                held = []
            }
        }
        sendSome()
    }

    /// The descriptor, and what to wait for; none while there is no connection.
    var awaited: (Int32, System.Readiness) { (connection?.number ?? -1, unsent.isEmpty ? .read : .readAndWrite) }

    /// When the answer that is owed is late; nil while none is.
    var lateAt: ContinuousClock.Instant? { owedSince.map { $0 + Self.patience } }

    mutating func send(_ lines: [String], _ ask: Ask, answer: Int, now: ContinuousClock.Instant) {
        guard connection != nil else { return }
        for (position, line) in lines.enumerated() {
            let bytes = Array((line + "\n").utf8)
            if shown == nil { unsent += bytes } else { held += bytes }
            asks.append(position == answer ? ask : .nothing)
        }
        if owedSince == nil { owedSince = now }
        sendSome()
    }

    /// As much as goes; the rest when the socket can take it.
    mutating func sendSome() {
        guard !unsent.isEmpty, let count = connection?.sendSome(unsent) else { return }
        unsent.removeFirst(count)
    }

    /// Takes in what is there.
    mutating func receive(now: ContinuousClock.Instant) -> [Arrival] {
        guard let connection else { return [] }
        connection.receive()
        var arrivals: [Arrival] = []
        while let message = connection.arrivedMessage() {
            switch message {
            case .event(let text): arrivals.append(.event(text))
            case .answer(let answer): finish(answer, &arrivals)
            }
        }
        owedSince = asks.isEmpty ? nil : now
        arrivals += remarks.map(Arrival.remark)
        remarks = []
        return arrivals
    }

    private mutating func finish(_ answer: Answer, _ arrivals: inout [Arrival]) {
        if asks.first == .hello, !answer.isRefusal { pause = Self.shortestPause }
        if asks.first == .token {
            asks.removeFirst()
            return goOn(answer)
        }
        // What nobody asked for, such as the reason for an end, is worth a line.
        arrivals.append(.answer(answer, asks.isEmpty ? .deed("") : asks.removeFirst()))
    }

    // MARK: Ends and beginnings

    var hasEnded: Bool { connection?.hasEnded ?? false }

    /// Lets go of a connection that has ended, to try again.
    mutating func drop(now: ContinuousClock.Instant) {
        (connection, asks, unsent, owedSince) = (nil, [], [], nil)
        (shown, held) = (nil, [])
        retry = now + pause
    }

    /// Tries to connect, when it is time.
    /// - Returns: Whether there is a new connection.
    mutating func reconnect(now: ContinuousClock.Instant) -> Bool {
        guard let due = retry, due <= now else { return false }
        connection = try? target.open()
        if connection == nil {
            pause = min(pause * 2, Self.longestPause)
            retry = ContinuousClock.now + pause
        } else {
            // Whoever accepts and hangs up is left alone for longer each time; only an answer makes that good.
            (retry, pause) = (nil, min(pause * 2, Self.longestPause))
            showToken()
        }
        return connection != nil
    }
}
