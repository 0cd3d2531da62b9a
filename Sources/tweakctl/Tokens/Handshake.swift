// Authenticates with a token, message by message.

import Tweaks
import TweaksWire

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
            (self.scram, hasAnswered) = (scram, true)
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
        switch answer.errorCode.flatMap(TweakError.Code.init) {
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
        if status.hasPrefix("{") { return JSON(status)?[Scram.field]?.string }
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
