// The commands login and logout.

import Tweaks
import TweaksTerminal
import TweaksWire

/// What stands behind `login` and `logout`.
struct LoginArguments: Equatable {
    /// The process, where it is named here and not by an option.
    var name: String?
    /// Where the token is read, if not from standard input.
    var descriptor: Int32?
    /// `login --plain`: the token is shown as it is.
    var isPlain = false
    /// `logout --keep`: it is not forgotten.
    var keeps = false

    /// Nothing that stands here is repeated: it may be what somebody takes for the place of a token.
    init(_ verb: Verb, _ words: some Sequence<String>, hasAddress: Bool) throws(Failure) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            switch word {
            case "--fd" where verb == .login && descriptor == nil:
                guard let text = rest.popFirst(), let number = Int32(text), number >= 0 else {
                    throw Failure(.usage, "login: behind --fd goes the number of an open file descriptor, as in --fd 3")
                }
                descriptor = number
            case "--plain" where verb == .login: isPlain = true
            case "--keep" where verb == .logout: keeps = true
            case _ where !hasAddress && name == nil && !word.hasPrefix("-"): name = word
            default: throw Self.tooMuch(verb)
            }
        }
    }

    static let noProcess = Failure(
        .unreachable,
        "login: what stands behind it is no running process of yours; write NAME, -s PATH or -H HOST:PORT. A token is "
            + "never an argument: if it was one, revoke it")

    static func tooMuch(_ verb: Verb) -> Failure {
        if verb == .logout { return Failure(.usage, "logout: write \(Verb.logout.usage)") }
        return Failure(
            .usage,
            "login: write \(Verb.login.usage). A token is never an argument, because everybody on this machine can see "
                + "those; it is asked for, or read from standard input or --fd N. If it was one, revoke it")
    }
}

/// Takes a token from its owner, and keeps it if the server takes it.
struct Login {
    let console: Console
    let cache: any TokenCache
    let target: Target
    let descriptor: Int32?
    /// The token is shown as it is.
    let isPlain: Bool

    func run() throws(Failure) -> ExitCode {
        let secret = try secret()
        let connection = try target.open()
        let token = try check(secret, on: connection)
        try cache.keep(token, for: target.address.cacheKey)
        report(token)
        return .ok
    }

    // MARK: The token

    private func secret() throws(Failure) -> String {
        let bytes: [UInt8]
        if let descriptor {
            bytes = try SecretInput.line(from: descriptor)
        } else if System.isTerminal(0) {
            bytes = try SecretInput.line(prompt: "Token for \(target.name): ")
        } else {
            bytes = try SecretInput.line(from: 0)
        }
        guard let text = String(validating: bytes, as: UTF8.self) else { throw Self.noToken }
        let secret = text.trimmed
        if secret.isEmpty { throw Failure(.usage, "login: no token was given") }
        guard Quoting.isSafe(secret), secret.utf8.count <= 1_024, !secret.contains(" ") else { throw Self.noToken }
        return secret
    }

    private static let noToken = Failure(
        .usage, "login: that is no token; one is made by tweakctl token new, and looks like twk_…")

    // MARK: The server

    private func check(_ secret: String, on connection: Connection) throws(Failure) -> KeptToken {
        var token = KeptToken(secret: secret, name: "", scopes: [], isPlain: isPlain)
        guard let outcome = connection.show(token, within: Welcome.patience) else {
            throw Failure(.unreachable, "\(target.name) has not answered whether it takes the token")
        }
        let answer = try accepted(outcome, secret)
        guard connection.ask("json on", within: Self.patience) != nil,
            let facts = connection.ask("whoami", within: Self.patience), !facts.isRefusal,
            let json = JSON(facts.status)
        else {
            throw Failure(.unreachable, "\(target.name) takes the token, but does not say what it may; nothing is kept")
        }
        token.name = Secrets.masked(Self.name(answer) ?? json["token"]?.string ?? "", secret)
        token.scopes = json["scopes"]?.elements.compactMap { $0.string.map { Secrets.masked($0, secret) } } ?? []
        // A session may have shown several tokens; this one is its first.
        let shown = json["tokens"]?.elements.first { $0["name"]?.string == token.name } ?? json
        token.expires = shown["expires"]?.string.flatMap { TimeText.parse($0) }
        return token
    }

    private func accepted(_ outcome: Handshake.Outcome, _ secret: String) throws(Failure) -> Answer {
        switch outcome {
        case .accepted(let answer): return answer
        case .tokenRefused: throw Failure(.refused, "\(target.name): \(notTaken)")
        case .refused(let answer):
            throw Failure(.refused, "\(target.name): \(Secrets.masked(Painter.refusal(answer.status), secret))")
        case .isStranger: throw Welcome.stranger(target.name)
        case .isPlainOnly:
            throw Failure(
                .refused,
                "\(target.name) knows no other way than to be sent the token itself, and was not; "
                    + Welcome.plainRemedy(target.welcome.option))
        }
    }

    /// Of `ok token NAME may …`.
    private static func name(_ answer: Answer) -> String? {
        let words = answer.status.split(separator: " ")
        return words.count > 2 && words[1] == "token" ? String(words[2]) : nil
    }

    private static let patience: Int32 = 5_000

    private var notTaken: String {
        let remedy =
            isPlain
            ? "the process may take none in plain: try without --plain"
            : "if its line in the token file says sha256:, tweakctl token renew there makes a new one"
        return "the token is not taken: it is wrong, was revoked, or has expired; nothing is kept; \(remedy)"
    }

    private func report(_ token: KeptToken) {
        if token.isPlain { console.remark("\(target.name): \(token.wasShown)") }
        if console.isJSON {
            console.print([
                JSON.object([
                    ("server", .string(target.address.cacheKey)), ("token", .string(token.name)),
                    ("scopes", .array(token.scopes.map(JSON.string))),
                    ("expires", .text(token.expires.map { TimeText.seconds($0) })),
                ]).text
            ])
            return
        }
        var words = "logged in to \(target.name) as \(token.name)"
        if !token.scopes.isEmpty { words += ", which may \(token.scopes.joined(separator: " "))" }
        if let expires = token.expires { words += "; it ends \(Expiry.text(expires, now: Expiry.now))" }
        console.print([Quoting.sanitized(words)])
    }
}

/// Forgets tokens.
struct Logout {
    let console: Console
    let cache: any TokenCache

    /// - Parameter servers: The addresses that may be meant; empty for the only one that there is a token for.
    func run(_ servers: [String]) throws(Failure) -> ExitCode {
        let wanted = servers.isEmpty ? try only() : servers
        for server in wanted {
            guard let token = try cache.forget(server) else { continue }
            console.remark("\(server): the token \(token.name) is forgotten; revoking it is up to who gave it")
            return .ok
        }
        throw Failure(.refused, "logout: no token is kept for \(wanted.joined(separator: " or "))")
    }

    private func only() throws(Failure) -> [String] {
        let all = cache.servers
        if all.isEmpty { throw Failure(.refused, "logout: no token is kept") }
        if all.count > 1 {
            throw Failure(.usage, "logout: of which process? Tokens are kept for \(all.joined(separator: ", "))")
        }
        return all
    }
}

extension String {
    /// Without blanks at either end.
    fileprivate var trimmed: String {
        let blanks: Set<Character> = [" ", "\t", "\r", "\n", "\r\n"]
        var text = self[...]
        while let first = text.first, blanks.contains(first) { text.removeFirst() }
        while let last = text.last, blanks.contains(last) { text.removeLast() }
        return String(text)
    }
}
