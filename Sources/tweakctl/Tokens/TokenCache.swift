// Where tokens are kept between two calls, so that one logs in once.

import Tweaks
import TweaksTerminal
import TweaksWire

/// A token as its owner keeps it, with what the server said it may.
struct KeptToken: Equatable {
    var secret: String
    /// What the server calls it.
    var name: String
    /// What it was given, in the words of the server.
    var scopes: [String]
    /// When it ends, in milliseconds since 1970; nil: never, as far as is known.
    var expires: Int64?
    /// Its owner wants it shown as it is, to a server that knows nothing better.
    var isPlain = false

    func hasExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }
}

/// Keeps at most one token for each server. tweakctl keeps them in a file of the user; a program that embeds the
/// client, and has a keychain or no disk at all, brings its own.
///
/// A server is known by what it is addressed by: `HOST:PORT`, or the path of its socket.
protocol TokenCache: AnyObject {
    /// The token for a server; nil where there is none, or where nothing can be read.
    func token(for server: String) -> KeptToken?
    /// The servers that there are tokens for, in order.
    var servers: [String] { get }
    /// Keeps a token in the place of an older one.
    /// - Throws: Why it will not be there next time.
    func keep(_ token: KeptToken, for server: String) throws(Failure)
    /// Forgets the token for a server.
    /// - Parameter secret: Only this one; nil for whichever it is.
    /// - Returns: What was forgotten; nil where there was none.
    /// - Throws: Why it is still there.
    @discardableResult
    func forget(_ server: String, ifItIs secret: String?) throws(Failure) -> KeptToken?
}

extension TokenCache {
    @discardableResult
    func forget(_ server: String) throws(Failure) -> KeptToken? { try forget(server, ifItIs: nil) }
}

/// Tokens for as long as the program runs.
final class MemoryTokenCache: TokenCache {
    private var tokens: [String: KeptToken] = [:]

    var servers: [String] { tokens.keys.sorted() }

    func token(for server: String) -> KeptToken? { tokens[server] }

    func keep(_ token: KeptToken, for server: String) throws(Failure) { tokens[server] = token }

    func forget(_ server: String, ifItIs secret: String?) throws(Failure) -> KeptToken? {
        if let secret, tokens[server]?.secret != secret { return nil }
        return tokens.removeValue(forKey: server)
    }
}

/// Tokens in a file of mode 0600.
final class FileTokenCache: TokenCache {
    private let file: PrivateFile

    init(path: String) { file = PrivateFile(path: path, sizeLimit: 1 << 20) }

    /// `tweakctl/tokens` in the user's state directory; nil for who has none.
    static var standard: FileTokenCache? {
        if let state = System.variable("XDG_STATE_HOME"), state.hasPrefix("/") {
            return FileTokenCache(path: state + "/tweakctl/tokens")
        }
        return System.variable("HOME").map { FileTokenCache(path: $0 + "/.local/state/tweakctl/tokens") }
    }

    /// The standard one, where it is needed.
    static func required() throws(Failure) -> FileTokenCache {
        if let standard { return standard }
        throw Failure(.usage, "there is no place to keep a token; set HOME, or XDG_STATE_HOME to a directory")
    }

    var servers: [String] { entries.map(\.server) }

    func token(for server: String) -> KeptToken? { entries.first { $0.server == server }?.token }

    func keep(_ token: KeptToken, for server: String) throws(Failure) {
        try change(makes: true) { entries in
            entries.removeAll { $0.server == server }
            entries.append(Entry(server: server, token: token))
        }
    }

    func forget(_ server: String, ifItIs secret: String?) throws(Failure) -> KeptToken? {
        var forgotten: KeptToken?
        try change(makes: false) { entries in
            forgotten = entries.first { $0.server == server && (secret ?? $0.token.secret) == $0.token.secret }?.token
            if forgotten != nil { entries.removeAll { $0.server == server } }
        }
        return forgotten
    }

    // MARK: The file

    private struct Entry: Equatable {
        let server: String
        let token: KeptToken
    }

    /// What can be read; a file that is not ours alone is as good as none, which is said when it is to be changed.
    private var entries: [Entry] {
        guard let bytes = try? file.read() else { return [] }
        return Self.entries(bytes)
    }

    private func change(makes: Bool, _ body: (inout [Entry]) -> Void) throws(Failure) {
        try file.change(makes: makes) { bytes throws(Failure) in
            let old = Self.entries(bytes)
            var new = old
            body(&new)
            return new == old ? nil : Self.text(new.sorted { $0.server < $1.server })
        }
    }

    private static let heading =
        "# Tokens of tweakctl, for login and logout: SERVER TOKEN NAME \"SCOPE\"… [plain] [expires TIME]"

    private static func text(_ entries: [Entry]) -> [UInt8] {
        let lines = entries.map { entry in
            let token = entry.token
            var words = ([entry.server, token.secret, token.name] + token.scopes).map(Quoting.json)
            if token.isPlain { words.append("plain") }
            if let expires = token.expires { words += ["expires", TimeText.print(expires)] }
            return words.joined(separator: " ")
        }
        return Array(([heading] + lines).map { $0 + "\n" }.joined().utf8)
    }

    private static func entries(_ bytes: [UInt8]) -> [Entry] {
        bytes.split(separator: UInt8(ascii: "\n")).compactMap { line in
            entry(line.withUnsafeBufferPointer { (try? Tokenizer.tokens($0)) ?? [] })
        }
    }

    private static func entry(_ tokens: [Token]) -> Entry? {
        var words = tokens
        var expires: Int64?
        if words.count >= 5, words[words.count - 2] == Token("expires") {
            guard let time = TimeText.parse(words[words.count - 1].text) else { return nil }
            expires = time
            words.removeLast(2)
        }
        let isPlain = words.last == Token("plain")
        if isPlain { words.removeLast() }
        guard words.count >= 3, words.allSatisfy(\.isQuoted) else { return nil }
        let token = KeptToken(
            secret: words[1].text, name: words[2].text, scopes: words[3...].map(\.text), expires: expires,
            isPlain: isPlain)
        return Entry(server: words[0].text, token: token)
    }
}
