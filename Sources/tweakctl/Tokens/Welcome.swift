// Showing a token to a server, and what comes of it.

import Tweaks
import TweaksWire

/// Shows tokens that are kept, without a word where all is well.
struct Welcome {
    let cache: (any TokenCache)?
    /// How the server is addressed.
    let server: String
    /// What to tell the user to type.
    let option: String

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

    /// The line that shows a token.
    static func line(_ token: KeptToken) -> String { "auth \(CommandText.token(token.secret))" }

    /// Takes note of what the server said to it.
    func heard(_ answer: Answer, of token: KeptToken, _ complain: (String) -> Void) {
        guard answer.isRefusal else { return }
        switch answer.errorCode {
        case TweakError.Code.denied.rawValue where !answer.isAboutSomethingElse:
            drop(token, "is not taken any more: it was revoked, or has expired", complain)
        case let code:
            complain("\(server): the token \(token.name) could not be shown (\(code ?? "no reason given"))")
        }
    }

    /// Shows the token that is kept, and waits for the answer.
    func show(on connection: Connection, _ complain: (String) -> Void) {
        guard let token = token(complain),
            let answer = connection.ask(Self.line(token), within: Self.patience)
        else { return }
        heard(answer, of: token, complain)
    }

    /// The same for the shell's completion, which nobody would hear complain: nothing is said, and nothing dropped.
    func showQuietly(on connection: Connection, within milliseconds: Int32) {
        guard let token = cache?.token(for: server), !token.hasExpired(at: Expiry.now) else { return }
        _ = connection.ask(Self.line(token), within: milliseconds)
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
    /// Whether it is not this token that is refused, but whoever shows it, or tokens as such: then it may be good still.
    var isAboutSomethingElse: Bool {
        status.contains("this process takes no tokens") || status.contains("is not the user of this process")
    }

    /// The code of a refusal, if it is one that the protocol has.
    var errorCode: String? {
        if status.hasPrefix("{") { return JSONText.value(status)?["error"]?["code"]?.string.flatMap(Self.known) }
        let words = status.split(separator: " ", maxSplits: 2)
        return words.count > 1 && words[0] == "error" ? Self.known(String(words[1])) : nil
    }

    private static func known(_ code: String) -> String? { TweakError.Code(rawValue: code)?.rawValue }
}
