// Authenticates with the saved token of a server, again while the server has no place, and handles the result.

import Tweaks
import TweaksSystem
import TweaksWire

/// The saved token of one server. Using it prints nothing unless there is a problem.
struct SavedLogin {
    let cache: TokenCache?
    /// The address of the server, as the cache has it.
    let server: String
    /// The arguments that name the server, for messages.
    let option: String
    /// Whether any program may listen at the address, as at a port. A server that does not know the token gets no
    /// command.
    let isPublic: Bool

    /// The token for this server, unless it has expired.
    /// - Parameter reportProblem: Receives the message about an expired token, which is deleted.
    func token(_ reportProblem: (String) -> Void) -> SavedToken? {
        guard let cache, let token = cache.token(for: server) else { return nil }
        guard token.hasExpired(at: Expiry.now), let expires = token.expires else { return token }
        drop(token, "has expired (\(TimeText.seconds(expires)))", reportProblem)
        return nil
    }

    /// Handles the result of an authentication.
    /// - Returns: The failure that ends the program; nil if commands may be sent, with or without the token's scopes.
    func handle(_ outcome: Handshake.Outcome, of token: SavedToken, _ reportProblem: (String) -> Void) -> Failure? {
        let reason: String
        switch outcome {
        case .accepted:
            if token.isPlain { reportProblem("\(server): \(token.plainTextWarning)") }
            return nil
        case .serverUnverified: return Self.unverifiedServer(server)
        case .plainOnly: reason = "was not sent: the server accepts it only in plain text; \(Self.plainRemedy(option))"
        case .refused(let answer): reason = "could not be used (\(answer.errorCode?.rawValue ?? "no reason given"))"
        case .tokenRefused:
            reason =
                "was rejected: it was revoked or has expired, or another program listens there; log in again: "
                + "tweakctl login \(option)\(token.isPlain ? ", without --plain" : "")"
        }
        let text = "\(server): the token \(token.name) \(reason)"
        if isPublic { return Failure(.refused, "\(text); to connect without it: tweakctl logout \(option)") }
        reportProblem(text)
        return nil
    }

    /// The failure of a server that has not proved that it knows the token.
    static func unverifiedServer(_ server: String) -> Failure {
        Failure(
            .refused,
            "the program at \(server) does not know this token: it may not be the one you signed in to; nothing was "
                + "sent to it")
    }

    /// The remedy for a server that accepts plain text only.
    static func plainRemedy(_ option: String) -> String {
        "tweakctl login --plain \(option) sends it to the program that listens there"
    }

    /// Authenticates for the shell's completion: prints nothing, and deletes nothing.
    /// - Returns: Whether requests may be sent to the server.
    func authenticateQuietly(on connection: Connection, within milliseconds: Int32) -> Bool {
        guard let token = cache?.token(for: server), !token.hasExpired(at: Expiry.now) else { return true }
        guard let outcome = connection.authenticate(with: token, within: milliseconds) else { return false }
        return handle(outcome, of: token) { _ in } == nil
    }

    private func drop(_ token: SavedToken, _ reason: String, _ reportProblem: (String) -> Void) {
        let remedy = "log in with another token: tweakctl login \(option)"
        do throws(Failure) {
            // Another call may have saved a new token in the meantime.
            try cache?.forget(server, ifItIs: token.secret)
            reportProblem("\(server): the token \(token.name) \(reason), and is deleted; \(remedy)")
        } catch {
            reportProblem("\(server): the token \(token.name) \(reason); \(remedy)")
            reportProblem("the saved token could not be deleted: \(error.description)")
        }
    }
}

extension SavedToken {
    /// The warning after a token was sent in plain text.
    var plainTextWarning: String {
        "the token \(name) was sent in plain text to the program that listens there; tweakctl token renew \(name), "
            + "where the process runs, makes one that need not be sent"
    }
}

/// One authentication: by SCRAM, which sends neither side's secret, or in plain text where the owner chose that.
struct Handshake {
    /// The next step.
    enum Step: Equatable {
        case send(String)
        case end(Outcome)
    }

    /// The result of the authentication.
    enum Outcome: Equatable {
        /// The server accepts the token. By SCRAM it has proved that it knows it.
        case accepted(Answer)
        /// It rejects the proof, and has not proved that it knows the token.
        case tokenRefused(Answer)
        /// It refuses before it was sent a proof, or for another reason: the token may be valid.
        case refused(Answer)
        /// It does not support SCRAM, and was sent no secret.
        case plainOnly
        /// It claims to accept the token, but has not proved that it knows it.
        case serverUnverified
    }

    /// The first line to send.
    let first: String
    /// The SCRAM exchange; nil for plain text.
    private var scram: Scram.Client?
    private var hasAnswered = false

    init(_ token: SavedToken) {
        scram = token.isPlain ? nil : Scram.Client(token: token.secret)
        first = scram.map { Self.line($0.first) } ?? "auth \(CommandText.token(token.secret))"
    }

    private static func line(_ message: String) -> String { "auth \(Scram.mechanism) \(message)" }

    /// Handles the answer to the line that was sent last.
    mutating func receive(_ answer: Answer) -> Step {
        if answer.isRefusal { return .end(refusal(answer)) }
        guard var scram else { return .end(.accepted(answer)) }
        guard let message = answer.scramMessage else { return .end(.serverUnverified) }
        if !hasAnswered {
            guard let last = scram.answer(message) else { return .end(.serverUnverified) }
            self.scram = scram
            hasAnswered = true
            return .send(Self.line(last))
        }
        guard scram.accepts(message) else { return .end(.serverUnverified) }
        // The rest is text for the user.
        var answer = answer
        answer.status = answer.status.replacing("\(message) ", with: "", maxReplacements: 1)
        return .end(.accepted(answer))
    }

    /// Classifies a refusal by its code and the step that it answers, not by its text, which may change.
    private func refusal(_ answer: Answer) -> Outcome {
        let hasShown = scram == nil || hasAnswered
        switch answer.errorCode {
        case .denied? where hasShown: return .tokenRefused(answer)
        // A server without SCRAM takes the first message for a usage error.
        case .usage? where !hasShown, .unknownCommand? where !hasShown: return .plainOnly
        default: return .refused(answer)
        }
    }
}

extension Answer {
    /// The SCRAM message: the first word after `ok`, or a JSON field.
    fileprivate var scramMessage: String? {
        if let message = self[Scram.field]?.string { return message }
        let words = status.split(separator: " ", maxSplits: 2)
        return words.count > 1 ? String(words[1]) : nil
    }
}

extension Connection {
    /// Authenticates with a token and waits for the result.
    /// - Returns: Nil when the connection ends, or no answer comes within the timeout.
    func authenticate(with token: SavedToken, within milliseconds: Int32?) -> Handshake.Outcome? {
        var handshake = Handshake(token)
        var line = handshake.first
        while let answer = ask(line, within: milliseconds) {
            switch handshake.receive(answer) {
            case .send(let next): line = next
            case .end(let outcome): return outcome
            }
        }
        return nil
    }
}

/// The pauses between attempts to sign in: they double, and all together they are bounded. A part of each is random, so
/// that several programs do not come back at the same moment.
struct AdmissionRetry {
    /// The time after which no further attempt begins, unless `--timeout` is shorter.
    static let limit = Duration.seconds(10)

    private var backoff = Backoff(Watcher.pauses)

    /// The pause before the next attempt; nil if there is none.
    /// - Parameters:
    ///   - elapsed: The time since the first attempt.
    ///   - limit: The time after which no further attempt begins.
    ///   - random: The random part, 0…1.
    mutating func next(
        elapsed: Duration, limit: Duration = Self.limit, random: Double = .random(in: 0...1)
    ) -> Duration? {
        let next = backoff.next(random: random)
        return elapsed + next < limit ? next : nil
    }
}

extension Handshake.Outcome {
    /// The answer of a process that has no place for this session, and says nothing about the token.
    var crowded: Answer? {
        guard case .refused(let answer) = self else { return nil }
        let codes: [TweakError.Code?] = [.tooMany, .busy]
        return codes.contains(answer.errorCode) ? answer : nil
    }
}

extension Target {
    /// Connects and authenticates; at a port, which all users of the machine can reach, again while the process has no
    /// place because others open connections all the time.
    /// - Returns: The last connection, and the result; nil if it ended, or no answer came in time.
    func authenticated(
        with token: SavedToken, sleep: (Duration) -> Void = Self.sleep
    ) throws(Failure) -> (Connection, Handshake.Outcome?) {
        var retry = AdmissionRetry()
        var slept = Duration.zero
        let start = ContinuousClock.now
        while true {
            let connection = try open()
            let outcome = connection.authenticate(with: token, within: timeout.milliseconds)
            let elapsed = max(slept, .now - start)
            let isTurnedAway = isTurnedAway(outcome) || hasHungUp(connection)
            guard isTurnedAway, let pause = retry.next(elapsed: elapsed, limit: admissionLimit) else {
                return (connection, outcome)
            }
            slept += pause
            sleep(pause)
        }
    }

    /// Whether a process at a port had no place for the session.
    func isTurnedAway(_ outcome: Handshake.Outcome?) -> Bool { savedLogin.isPublic && outcome?.crowded != nil }

    /// Whether a process at a port closed the connection without a word, as one does that has no place even for a
    /// refusal.
    private func hasHungUp(_ connection: Connection) -> Bool {
        savedLogin.isPublic && connection.hasEnded && !connection.hasReceived && !connection.hasTimedOut
    }

    private var admissionLimit: Duration {
        timeout.milliseconds.map { min(.milliseconds($0), AdmissionRetry.limit) } ?? AdmissionRetry.limit
    }

    private static func sleep(_ pause: Duration) {
        _ = System.wait([], milliseconds: Int32(clamping: Int64(pause / .milliseconds(1)) + 1))
    }

    /// Throws if a process at a port had no place all the time.
    func checkAdmitted(_ outcome: Handshake.Outcome?) throws(Failure) {
        guard isTurnedAway(outcome), let answer = outcome?.crowded else { return }
        throw Failure(
            .refused,
            "\(name): not admitted within \(DurationText.print(Int64(admissionLimit / .nanoseconds(1)))): "
                + "\(answer.complaint); the token is not at fault: try again, or end other "
                + "connections")
    }
}
