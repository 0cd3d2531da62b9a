// The editor's connection: requests go out without waiting, and each answer finds its question.

import Tweaks

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
    private var body: [String] = []
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

    /// The token that is being shown.
    private var shown: KeptToken?
    /// What is to be said at the next opportunity.
    private var remarks: [String] = []

    init(_ target: Target, _ connection: Connection) {
        (self.target, self.connection) = (target, connection)
        showToken()
    }

    /// Before all else on a new connection. Like the others it is not waited for.
    private mutating func showToken() {
        shown = target.welcome.token { remarks.append($0) }
        guard let shown else { return }
        unsent += Array((Welcome.line(shown) + "\n").utf8)
        asks.append(.token)
    }

    /// The descriptor, and what to wait for; none while there is no connection.
    var awaited: (Int32, System.Readiness) { (connection?.number ?? -1, unsent.isEmpty ? .read : .readAndWrite) }

    /// When the answer that is owed is late; nil while none is.
    var lateAt: ContinuousClock.Instant? { owedSince.map { $0 + Self.patience } }

    mutating func send(_ lines: [String], _ ask: Ask, answer: Int, now: ContinuousClock.Instant) {
        guard connection != nil else { return }
        for (position, line) in lines.enumerated() {
            unsent += Array((line + "\n").utf8)
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
        while let line = connection.arrivedLine() {
            switch line {
            case .body(let text): body.append(text)
            case .event(let text): arrivals.append(.event(text))
            case .ok(let text): finish(Answer(body: body, status: text, isRefusal: false), &arrivals)
            case .error(let text): finish(Answer(body: body, status: text, isRefusal: true), &arrivals)
            }
        }
        owedSince = asks.isEmpty ? nil : now
        arrivals += remarks.map(Arrival.remark)
        remarks = []
        return arrivals
    }

    private mutating func finish(_ answer: Answer, _ arrivals: inout [Arrival]) {
        body = []
        if asks.first == .hello, !answer.isRefusal { pause = Self.shortestPause }
        if asks.first == .token {
            asks.removeFirst()
            if let shown { target.welcome.heard(answer, of: shown) { remarks.append($0) } }
            return
        }
        // What nobody asked for, such as the reason for an end, is worth a line.
        arrivals.append(.answer(answer, asks.isEmpty ? .deed("") : asks.removeFirst()))
    }

    // MARK: Ends and beginnings

    var hasEnded: Bool { connection?.hasEnded ?? false }

    /// Lets go of a connection that has ended, to try again.
    mutating func drop(now: ContinuousClock.Instant) {
        (connection, asks, body, unsent, owedSince) = (nil, [], [], [], nil)
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
