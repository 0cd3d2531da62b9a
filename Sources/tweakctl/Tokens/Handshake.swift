// Shows a token to a server, message by message.

import Tweaks
import TweaksWire

/// One showing of a token: by SCRAM, which shows neither side's, or in plain where its owner has said so.
struct Handshake {
    /// What is to be done next.
    enum Step: Equatable {
        case send(String)
        case end(Outcome)
    }

    /// What came of it.
    enum Outcome: Equatable {
        /// The server takes the token. By SCRAM it has shown that it knows it.
        case accepted(Answer)
        /// It refuses what was shown, and has not shown that it knows the token.
        case tokenRefused(Answer)
        /// It refuses before it is shown anything, or for another reason: the token may be good.
        case refused(Answer)
        /// It does not know SCRAM, and was shown nothing.
        case isPlainOnly
        /// It says that it takes the token, and does not know it.
        case isStranger
    }

    /// What is sent first.
    let first: String
    /// The exchange; nil in plain.
    private var scram: Scram.Client?
    private var hasAnswered = false

    init(_ token: KeptToken) {
        scram = token.isPlain ? nil : Scram.Client(token: token.secret)
        first = scram.map { Self.line($0.first) } ?? "auth \(CommandText.token(token.secret))"
    }

    private static func line(_ message: String) -> String { "auth \(Scram.mechanism) \(message)" }

    /// Takes what the server has answered to the line that was sent last.
    mutating func heard(_ answer: Answer) -> Step {
        if answer.isRefusal { return .end(refusal(answer)) }
        guard var scram else { return .end(.accepted(answer)) }
        guard let message = answer.scramMessage else { return .end(.isStranger) }
        if !hasAnswered {
            guard let last = scram.answer(message) else { return .end(.isStranger) }
            (self.scram, hasAnswered) = (scram, true)
            return .send(Self.line(last))
        }
        guard scram.accepts(message) else { return .end(.isStranger) }
        // What follows is for people.
        var answer = answer
        answer.status = answer.status.replacing("\(message) ", with: "", maxReplacements: 1)
        return .end(.accepted(answer))
    }

    /// What a refusal means, by its code and the step that it answers; its words are for people, and may change.
    private func refusal(_ answer: Answer) -> Outcome {
        let hasShown = scram == nil || hasAnswered
        switch answer.errorCode.flatMap(TweakError.Code.init) {
        case .denied? where hasShown: return .tokenRefused(answer)
        // What knows no other way than `auth TOKEN` takes the first message for a mistake.
        case .usage? where !hasShown, .unknownCommand? where !hasShown: return .isPlainOnly
        default: return .refused(answer)
        }
    }
}

extension Answer {
    /// A message of SCRAM: the first word behind `ok`, or a field.
    fileprivate var scramMessage: String? {
        if status.hasPrefix("{") { return JSON(status)?[Scram.field]?.string }
        let words = status.split(separator: " ", maxSplits: 2)
        return words.count > 1 ? String(words[1]) : nil
    }
}

extension Connection {
    /// Shows a token, and waits for what comes of it.
    /// - Returns: Nil when the connection ends, or no answer comes in time.
    func show(_ token: KeptToken, within milliseconds: Int32) -> Handshake.Outcome? {
        var handshake = Handshake(token)
        var line = handshake.first
        while let answer = ask(line, within: milliseconds) {
            switch handshake.heard(answer) {
            case .send(let next): line = next
            case .end(let outcome): return outcome
            }
        }
        return nil
    }
}
