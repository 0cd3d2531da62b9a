// Connects the editor to its process: pipelines requests, matches answers to them, and reconnects.

import Tweaks
import TweaksSystem

/// A message for the model.
enum Arrival: Equatable {
    case answer(Answer, RequestKind)
    /// A message about the saved token.
    case remark(String)
    case event(String)
}

/// A connection that is reopened whenever it ends.
struct EditorLink {
    private let target: Target
    private var connection: Connection?
    private var requestKinds: [RequestKind] = []
    private var unsent: [UInt8] = []
    /// The time since which an answer is outstanding, without any input.
    private var waitingSince: ContinuousClock.Instant?
    private var backoff = Backoff(Watcher.pauses)
    /// The time of the next attempt to connect; nil while connected.
    private(set) var retry: ContinuousClock.Instant?

    /// The time after which an answer counts as late.
    private static let replyTimeout = Duration.seconds(2)

    /// The saved token in use, and its authentication.
    private var authentication: (token: SavedToken, handshake: Handshake)?
    /// Requests that wait for the end of the authentication.
    private var pending: [UInt8] = []
    /// The reason not to send anything to the server.
    private(set) var failure: Failure?
    /// Messages for the next `receive`.
    private var remarks: [String] = []

    init(_ target: Target, _ connection: Connection) {
        self.target = target
        self.connection = connection
        showToken()
    }

    /// Starts the authentication on a new connection; requests wait until it has ended.
    private mutating func showToken() {
        authentication = target.savedLogin.token { remarks.append($0) }.map { ($0, Handshake($0)) }
        guard let line = authentication?.handshake.first else { return }
        unsent += Array((line + "\n").utf8)
        requestKinds.append(.token)
    }

    /// Handles an answer to the authentication.
    private mutating func continueAuthentication(_ answer: Answer) {
        guard let step = authentication?.handshake.receive(answer), let token = authentication?.token else { return }
        switch step {
        case .send(let line):
            unsent += Array((line + "\n").utf8)
            requestKinds.insert(.token, at: 0)
        case .end(let outcome):
            authentication = nil
            // The connection is opened again, after longer pauses.
            if target.isTurnedAway(outcome) {
                connection?.hangUp()
            } else if let failure = target.savedLogin.handle(outcome, of: token, { remarks.append($0) }) {
                self.failure = failure
                connection?.hangUp()
            } else {
                unsent += pending
                pending = []
            }
        }
        sendSome()
    }

    /// The descriptor and the condition to wait for; -1 while there is no connection.
    var awaited: (Int32, System.Readiness) { (connection?.number ?? -1, unsent.isEmpty ? .read : .readAndWrite) }

    /// The time at which the outstanding answer counts as late; nil if there is none.
    var lateAt: ContinuousClock.Instant? { waitingSince.map { $0 + Self.replyTimeout } }

    mutating func send(_ lines: [String], _ kind: RequestKind, answer: Int, now: ContinuousClock.Instant) {
        guard connection != nil else { return }
        for (position, line) in lines.enumerated() {
            let bytes = Array((line + "\n").utf8)
            if authentication == nil { unsent += bytes } else { pending += bytes }
            requestKinds.append(position == answer ? kind : .nothing)
        }
        if waitingSince == nil { waitingSince = now }
        sendSome()
    }

    /// Sends as much as possible; the rest when the socket is writable.
    mutating func sendSome() {
        guard !unsent.isEmpty, let count = connection?.sendSome(unsent) else { return }
        unsent.removeFirst(count)
    }

    /// Reads and parses what has arrived.
    mutating func receive(now: ContinuousClock.Instant) -> [Arrival] {
        guard let connection else { return [] }
        connection.receive()
        var arrivals: [Arrival] = []
        while let message = connection.nextMessage() {
            switch message {
            case .event(let text): arrivals.append(.event(text))
            case .answer(let answer): finish(answer, &arrivals)
            }
        }
        waitingSince = requestKinds.isEmpty ? nil : now
        arrivals += remarks.map(Arrival.remark)
        remarks = []
        return arrivals
    }

    private mutating func finish(_ answer: Answer, _ arrivals: inout [Arrival]) {
        if requestKinds.first == .hello, !answer.isRefusal { backoff.reset() }
        if requestKinds.first == .token {
            requestKinds.removeFirst()
            return continueAuthentication(answer)
        }
        // An answer without a request, such as the reason for closing, is displayed.
        arrivals.append(.answer(answer, requestKinds.isEmpty ? .command("") : requestKinds.removeFirst()))
    }

    // MARK: Reconnecting

    var hasEnded: Bool { connection?.hasEnded ?? false }

    /// Drops a connection that has ended, and schedules a new one.
    mutating func disconnect(now: ContinuousClock.Instant) {
        connection = nil
        requestKinds = []
        unsent = []
        waitingSince = nil
        authentication = nil
        pending = []
        retry = now + backoff.next()
    }

    /// Connects, if the time has come.
    /// - Returns: Whether there is a new connection.
    mutating func reconnect(now: ContinuousClock.Instant) -> Bool {
        guard let due = retry, due <= now else { return false }
        connection = try? Connection(target.address, within: RunningProcess.timeout)
        if connection == nil {
            retry = ContinuousClock.now + backoff.next()
        } else {
            // A server that accepts and hangs up is retried after longer pauses; only an answer resets them.
            retry = nil
            showToken()
        }
        return connection != nil
    }
}
