// Decides how often and when to connect again to a process that has no place for another session.

import Tweaks
import TweaksSystem
import TweaksWire

/// The pauses between attempts to sign in: they double, and all together they are bounded. A part of each is random, so
/// that several programs do not come back at the same moment.
struct AdmissionRetry {
    /// The time after which no further attempt begins, unless `--timeout` is shorter.
    static let limit = Duration.seconds(10)
    private static let pauses = Duration.milliseconds(50)...Duration.seconds(2)

    private var pause = Self.pauses.lowerBound

    /// The pause before the next attempt; nil if there is none.
    /// - Parameters:
    ///   - elapsed: The time since the first attempt.
    ///   - limit: The time after which no further attempt begins.
    ///   - random: The random part, 0…1.
    mutating func next(
        elapsed: Duration, limit: Duration = Self.limit, random: Double = .random(in: 0...1)
    ) -> Duration? {
        let next = pause / 2 + pause / 2 * random
        pause = min(pause * 2, Self.pauses.upperBound)
        return elapsed + next < limit ? next : nil
    }
}

extension Handshake.Outcome {
    /// The answer of a process that has no place for this session, and says nothing about the token.
    var crowded: Answer? {
        guard case .refused(let answer) = self else { return nil }
        let codes: [TweakError.Code] = [.tooMany, .busy]
        return answer.errorCode.flatMap(TweakError.Code.init).map(codes.contains) == true ? answer : nil
    }
}

extension Target {
    /// Connects and authenticates; at a port, which all users of the machine can reach, again while the process has no
    /// place because others open connections all the time.
    /// - Returns: The last connection, and the result; nil if it ended, or no answer came in time.
    func authenticated(
        with token: SavedToken, sleep: (Duration) -> Void = Self.sleep
    ) throws(Failure) -> (Connection, Handshake.Outcome?) {
        var (retry, slept, start) = (AdmissionRetry(), Duration.zero, ContinuousClock.now)
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
                + "\(ReplyFormatter.refusal(answer.status)); the token is not at fault: try again, or end other "
                + "connections")
    }
}
