// Showing a token to a server, and what comes of it.

import Tweaks
import TweaksTerminal
import TweaksWire

/// Shows tokens that are kept, without a word where all is well.
struct Welcome {
    let cache: (any TokenCache)?
    /// How the server is addressed.
    let server: String
    /// What to tell the user to type.
    let option: String
    /// Any program may listen there, as at a port: one that does not know the token is told nothing else.
    let isPublic: Bool

    /// A wrong token is answered late, so that guessing takes time.
    static let patience: Int32 = 15_000

    /// The token for this server, if there is one that has not ended.
    /// - Parameter complain: Is told of one that has, which is forgotten.
    func token(_ complain: (String) -> Void) -> KeptToken? {
        guard let cache, let token = cache.token(for: server) else { return nil }
        guard token.hasExpired(at: Expiry.now), let expires = token.expires else { return token }
        drop(token, "has expired (\(TimeText.seconds(expires)))", complain)
        return nil
    }

    /// Takes note of what came of showing it.
    /// - Returns: Why to leave at once; nil where all is well, and where a command may do without it.
    func judge(_ outcome: Handshake.Outcome, of token: KeptToken, _ complain: (String) -> Void) -> Failure? {
        let reason: String
        switch outcome {
        case .accepted:
            if token.isPlain { complain("\(server): \(token.wasShown)") }
            return nil
        case .isStranger: return Self.stranger(server)
        case .isPlainOnly: reason = "could not be shown without sending it itself; \(Self.plainRemedy(option))"
        case .refused(let answer): reason = "could not be shown (\(answer.errorCode ?? "no reason given"))"
        case .tokenRefused:
            reason =
                "is not taken: it was revoked or has expired, or another program listens there; log in again: "
                + "tweakctl login \(option)\(token.isPlain ? ", without --plain" : "")"
        }
        let text = "\(server): the token \(token.name) \(reason)"
        if isPublic { return Failure(.refused, "\(text); to do without it: tweakctl logout \(option)") }
        complain(text)
        return nil
    }

    /// What is said of a server that takes a token and cannot know it.
    static func stranger(_ server: String) -> Failure {
        Failure(
            .refused,
            "the program at \(server) does not know this token: it may not be the one you signed in to; nothing was shown "
                + "to it")
    }

    /// What helps where a server knows plain `auth` alone.
    static func plainRemedy(_ option: String) -> String {
        "tweakctl login --plain \(option) does that: it shows the token to the program that listens there"
    }

    /// Shows the token that is kept, and waits for what comes of it.
    /// - Throws: Why nothing else is to be said to the program there.
    func show(on connection: Connection, _ complain: (String) -> Void) throws(Failure) {
        guard let token = token(complain), let outcome = connection.show(token, within: Self.patience) else { return }
        if let failure = judge(outcome, of: token, complain) { throw failure }
    }

    /// The same for the shell's completion, which nobody would hear complain: nothing is said, and nothing dropped.
    /// - Returns: Whether something may be asked of the program there.
    func showQuietly(on connection: Connection, within milliseconds: Int32) -> Bool {
        guard let token = cache?.token(for: server), !token.hasExpired(at: Expiry.now) else { return true }
        guard let outcome = connection.show(token, within: milliseconds) else { return false }
        return judge(outcome, of: token) { _ in } == nil
    }

    private func drop(_ token: KeptToken, _ reason: String, _ complain: (String) -> Void) {
        let remedy = "log in with another one: tweakctl login \(option)"
        do throws(Failure) {
            // Another call may have logged in meanwhile.
            try cache?.forget(server, ifItIs: token.secret)
            complain("\(server): the token \(token.name) \(reason), and is forgotten; \(remedy)")
        } catch {
            complain("\(server): the token \(token.name) \(reason); \(remedy)")
            complain("it could not be forgotten: \(error.description)")
        }
    }
}

extension Answer {
    /// The code of a refusal, if it is one that the protocol has.
    var errorCode: String? {
        if status.hasPrefix("{") { return JSON(status)?["error"]?["code"]?.string.flatMap(Self.known) }
        let words = status.split(separator: " ", maxSplits: 2)
        return words.count > 1 && words[0] == "error" ? Self.known(String(words[1])) : nil
    }

    private static func known(_ code: String) -> String? { TweakError.Code(rawValue: code)?.rawValue }
}

extension KeptToken {
    /// What is said where it was shown in plain.
    var wasShown: String {
        "the token \(name) was shown in plain, to the program that listens there; tweakctl token renew \(name), where the process "
            + "runs, makes one that is not"
    }
}
