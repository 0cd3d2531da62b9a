// Implements the commands login and logout.

import Tweaks
import TweaksSystem
import TweaksWire

/// The arguments of `login` and `logout`.
struct LoginArguments: Equatable {
    /// The process, unless an option gives its address.
    var name: String?
    /// The descriptor to read the token from; nil for standard input.
    var descriptor: Int32?
    /// `login --plain`: the token is sent in plain text.
    var isPlain = false
    /// `logout --keep`: the saved token is not deleted.
    var keepsToken = false

    /// No error text repeats an argument: it may be a token in the wrong place.
    init(_ verb: Verb, _ words: some Sequence<String>, hasAddress: Bool) throws(Failure) {
        var rest = Array(words)[...]
        while let word = rest.popFirst() {
            switch word {
            case "--fd" where verb == .login && descriptor == nil:
                guard let text = rest.popFirst(), let number = Int32(text), number >= 0 else {
                    throw Failure(.usage, "login: --fd needs the number of an open file descriptor, as in --fd 3")
                }
                descriptor = number
            case "--plain" where verb == .login: isPlain = true
            case "--keep" where verb == .logout: keepsToken = true
            case _ where !hasAddress && name == nil && !word.hasPrefix("-"): name = word
            default:
                let options = verb == .login ? ["--fd", "--plain"] : ["--keep"]
                // A token does not begin with dashes, and the argument itself is not repeated.
                if word.hasPrefix("--"), let near = Spelling.nearest(to: word, among: options) {
                    throw Failure(.usage, "\(verb.rawValue): did you mean \(near)?")
                }
                throw Self.unexpectedArgument(verb)
            }
        }
    }

    static let noProcess = Failure(
        .unreachable,
        "login: the argument is not a running process of yours; write NAME, -s PATH or -H HOST:PORT. A token is "
            + "never an argument: if that was a token, revoke it")

    static func unexpectedArgument(_ verb: Verb) -> Failure {
        if verb == .logout { return Failure(.usage, "logout: use tweakctl \(Verb.logout.usage)") }
        return Failure(
            .usage,
            "login: use tweakctl \(Verb.login.usage). A token is never an argument, because all users of this machine "
                + "can see arguments; it is asked for, or read from standard input or --fd N. If that was a token, revoke it"
        )
    }
}

/// Reads a token, and saves it if the server accepts it.
struct Login {
    let console: Console
    let cache: TokenCache
    let target: Target
    let descriptor: Int32?
    /// Whether the token is sent in plain text.
    let isPlain: Bool

    func run() throws(Failure) -> ExitCode {
        let secret = try secret()
        let token = try check(secret)
        try cache.save(token, for: target.address.cacheKey)
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
        .usage, "login: that is not a token; tweakctl token new makes one, which looks like twk_…")

    // MARK: The server

    private func check(_ secret: String) throws(Failure) -> SavedToken {
        var token = SavedToken(secret: secret, name: "", scopes: [], isPlain: isPlain)
        let (connection, outcome) = try target.authenticated(with: token)
        guard let outcome else {
            throw Failure(
                Self.code(connection), "\(target.name) did not answer whether it accepts the token; try again")
        }
        try target.checkAdmitted(outcome)
        try checkAccepted(outcome, secret)
        guard connection.ask("json on", within: target.timeout.milliseconds) != nil,
            let info = connection.ask("whoami", within: target.timeout.milliseconds), !info.isRefusal,
            let json = JSON(info.status)
        else {
            throw Failure(
                Self.code(connection),
                "\(target.name) accepts the token, but did not answer what it permits; the token is not saved")
        }
        // The connection is new, so this is the only token that it has shown.
        let shown = json["tokens"]?.elements.first ?? json
        token.name = Secrets.masked((shown["name"] ?? shown["token"])?.string ?? "", secret)
        token.scopes = json["scopes"]?.elements.compactMap { $0.string.map { Secrets.masked($0, secret) } } ?? []
        token.expires = shown["expires"]?.string.flatMap { TimeText.parse($0) }
        return token
    }

    private func checkAccepted(_ outcome: Handshake.Outcome, _ secret: String) throws(Failure) {
        switch outcome {
        case .accepted: break
        case .tokenRefused: throw Failure(.refused, "\(target.name): \(rejection)")
        case .refused(let answer):
            throw Failure(.refused, "\(target.name): \(Secrets.masked(answer.complaint, secret))")
        case .serverUnverified: throw SavedLogin.unverifiedServer(target.name)
        case .plainOnly:
            throw Failure(
                .refused,
                "\(target.name) accepts tokens only in plain text, and the token was not sent; "
                    + SavedLogin.plainRemedy(target.savedLogin.option))
        }
    }

    private static func code(_ connection: Connection) -> ExitCode {
        connection.hasTimedOut ? .timeout : .unreachable
    }

    private var rejection: String {
        let remedy =
            isPlain
            ? "the process may not accept plain text: try without --plain"
            : "if its line in the token file has sha256:, tweakctl token renew there makes a new token"
        return "the token was rejected: it is wrong, was revoked, or has expired; it is not saved; \(remedy)"
    }

    private func report(_ token: SavedToken) {
        if token.isPlain { console.printRemark("\(target.name): \(token.plainTextWarning)") }
        if console.isJSON {
            console.print([
                JSON.object([
                    ("ok", .bool(true)), ("server", .string(target.address.cacheKey)),
                    ("token", .string(token.name)),
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

/// Deletes saved tokens.
struct Logout {
    let console: Console
    let cache: TokenCache

    /// - Parameters:
    ///   - servers: The possible addresses; empty for the only one that has a saved token.
    ///   - others: Whether a server is another instance of the same name, for the case that none of the addresses has a
    ///     token.
    func run(_ servers: [String], orOnly others: ((String) -> Bool)? = nil) throws(Failure) -> ExitCode {
        let wanted = servers.isEmpty ? try only(among: cache.servers) : servers
        let instances = others.map { cache.servers.filter($0) } ?? []
        let known = wanted.contains { cache.token(for: $0) != nil }
        for server in known || instances.isEmpty ? wanted : try only(among: instances) {
            guard let token = try cache.forget(server) else { continue }
            if console.isJSON {
                let fields = [("ok", JSON.bool(true)), ("server", .string(server)), ("token", .string(token.name))]
                console.print([JSON.object(fields).text])
            }
            console.printRemark(
                "\(server): the saved token \(token.name) is deleted; it stays valid until it is revoked")
            return .ok
        }
        throw Failure(.refused, "logout: no token is saved for \(wanted.joined(separator: " or "))")
    }

    private func only(among all: [String]) throws(Failure) -> [String] {
        if all.isEmpty { throw Failure(.refused, "logout: no token is saved") }
        if all.count > 1 {
            throw Failure(.usage, "logout: name the process; tokens are saved for \(all.joined(separator: ", "))")
        }
        return all
    }
}

extension String {
    /// Without whitespace at either end.
    fileprivate var trimmed: String {
        let blanks: Set<Character> = [" ", "\t", "\r", "\n", "\r\n"]
        var text = self[...]
        while let first = text.first, blanks.contains(first) { text.removeFirst() }
        while let last = text.last, blanks.contains(last) { text.removeLast() }
        return String(text)
    }
}
