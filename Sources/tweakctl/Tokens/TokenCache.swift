// Saves tokens between calls, so that one login is enough.

import Tweaks
import TweaksSystem
import TweaksWire

/// A saved token, with what the server reported about it.
struct SavedToken: Equatable {
    var secret: String
    /// Its name at the server.
    var name: String
    /// Its scopes, as the server reports them.
    var scopes: [String]
    /// Its expiry in milliseconds since 1970; nil if it never expires as far as is known.
    var expires: Int64?
    /// Whether its owner wants it sent in plain text, to a server without SCRAM.
    var isPlain = false

    func hasExpired(at now: Int64) -> Bool { expires.map { $0 <= now } ?? false }
}

/// Saves at most one token for each server. tweakctl saves them in a file of the user; a program that embeds the
/// client, and has a keychain or no disk at all, implements this protocol.
///
/// A server is identified by its address: `HOST:PORT`, or the path of its socket.
protocol TokenCache: AnyObject {
    /// The token for a server; nil if there is none, or it cannot be read.
    func token(for server: String) -> SavedToken?
    /// The servers with saved tokens, in order.
    var servers: [String] { get }
    /// Saves a token, replacing an older one.
    /// - Throws: If it cannot be stored.
    func save(_ token: SavedToken, for server: String) throws(Failure)
    /// Deletes the token for a server.
    /// - Parameter secret: Deletes only this token; nil deletes any.
    /// - Returns: The deleted token; nil if there was none.
    /// - Throws: If it cannot be deleted.
    @discardableResult
    func forget(_ server: String, ifItIs secret: String?) throws(Failure) -> SavedToken?
}

extension TokenCache {
    @discardableResult
    func forget(_ server: String) throws(Failure) -> SavedToken? { try forget(server, ifItIs: nil) }
}

/// Saves tokens in memory, until the program ends.
final class MemoryTokenCache: TokenCache {
    private var tokens: [String: SavedToken] = [:]

    var servers: [String] { tokens.keys.sorted() }

    func token(for server: String) -> SavedToken? { tokens[server] }

    func save(_ token: SavedToken, for server: String) throws(Failure) { tokens[server] = token }

    func forget(_ server: String, ifItIs secret: String?) throws(Failure) -> SavedToken? {
        if let secret, tokens[server]?.secret != secret { return nil }
        return tokens.removeValue(forKey: server)
    }
}

/// Saves tokens in a file of mode 0600.
final class FileTokenCache: TokenCache {
    private let file: PrivateFile

    init(path: String) { file = PrivateFile(path: path, sizeLimit: 1 << 20) }

    /// `tweakctl/tokens` in the user's state directory; nil for a user without one.
    static var standard: FileTokenCache? {
        if let state = System.variable("XDG_STATE_HOME"), state.hasPrefix("/") {
            return FileTokenCache(path: state + "/tweakctl/tokens")
        }
        return System.variable("HOME").map { FileTokenCache(path: $0 + "/.local/state/tweakctl/tokens") }
    }

    /// The standard cache, or an error if there is none.
    static func required() throws(Failure) -> FileTokenCache {
        if let standard { return standard }
        throw Failure(.usage, "there is no directory to save a token in; set HOME, or XDG_STATE_HOME")
    }

    var servers: [String] { entries.map(\.server) }

    func token(for server: String) -> SavedToken? { entries.first { $0.server == server }?.token }

    func save(_ token: SavedToken, for server: String) throws(Failure) {
        try change(creates: true) { entries in
            entries.removeAll { $0.server == server }
            entries.append(Entry(server: server, token: token))
        }
    }

    func forget(_ server: String, ifItIs secret: String?) throws(Failure) -> SavedToken? {
        var forgotten: SavedToken?
        try change(creates: false) { entries in
            forgotten = entries.first { $0.server == server && (secret ?? $0.token.secret) == $0.token.secret }?.token
            if forgotten != nil { entries.removeAll { $0.server == server } }
        }
        return forgotten
    }

    // MARK: The file

    private struct Entry: Equatable {
        let server: String
        let token: SavedToken
    }

    /// The readable entries. A file that others can access counts as empty; the error appears when it is to be changed.
    private var entries: [Entry] {
        guard let bytes = try? file.read() else { return [] }
        return Self.entries(bytes)
    }

    private func change(creates: Bool, _ body: (inout [Entry]) -> Void) throws(Failure) {
        try file.change(creates: creates) { bytes throws(Failure) in
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
        let token = SavedToken(
            secret: words[1].text, name: words[2].text, scopes: words[3...].map(\.text), expires: expires,
            isPlain: isPlain)
        return Entry(server: words[0].text, token: token)
    }
}
