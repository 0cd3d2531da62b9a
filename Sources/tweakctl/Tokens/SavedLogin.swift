// Authenticates with the saved token of a server and handles the result.

import Tweaks
import TweaksSystem
import TweaksWire

/// The saved token of one server. Using it prints nothing unless there is a problem.
struct SavedLogin {
    let cache: (any TokenCache)?
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
        case .refused(let answer): reason = "could not be used (\(answer.errorCode ?? "no reason given"))"
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

extension Answer {
    /// The error code, if the protocol defines it.
    var errorCode: String? {
        if status.hasPrefix("{") { return JSON(status)?["error"]?["code"]?.string.flatMap(Self.known) }
        let words = status.split(separator: " ", maxSplits: 2)
        return words.count > 1 && words[0] == "error" ? Self.known(String(words[1])) : nil
    }

    private static func known(_ code: String) -> String? { TweakError.Code(rawValue: code)?.rawValue }
}

extension SavedToken {
    /// The warning after a token was sent in plain text.
    var plainTextWarning: String {
        "the token \(name) was sent in plain text to the program that listens there; tweakctl token renew \(name), "
            + "where the process runs, makes one that need not be sent"
    }
}
