// Saves tokens between calls, in a file that no other user can read, write or redirect.

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

/// Saves at most one token for each server, in a file of mode 0600. A server is identified by its address: `HOST:PORT`,
/// or the path of its socket.
struct TokenCache {
    private let file: PrivateFile

    init(path: String) { file = PrivateFile(path: path, sizeLimit: 1 << 20) }

    /// `tweakctl/tokens` in the user's state directory; nil for a user without one.
    static var standard: TokenCache? {
        if let state = System.variable("XDG_STATE_HOME"), state.hasPrefix("/") {
            return TokenCache(path: state + "/tweakctl/tokens")
        }
        return System.variable("HOME").map { TokenCache(path: $0 + "/.local/state/tweakctl/tokens") }
    }

    /// The standard cache, or an error if there is none.
    static func required() throws(Failure) -> TokenCache {
        if let standard { return standard }
        throw Failure(.usage, "there is no directory to save a token in; set HOME, or XDG_STATE_HOME")
    }

    /// The servers with saved tokens, in order.
    var servers: [String] { entries.map(\.server) }

    /// The token for a server; nil if there is none, or it cannot be read.
    func token(for server: String) -> SavedToken? { entries.first { $0.server == server }?.token }

    /// Saves a token, replacing an older one.
    /// - Throws: If it cannot be stored.
    func save(_ token: SavedToken, for server: String) throws(Failure) {
        try change(creates: true) { entries in
            entries.removeAll { $0.server == server }
            entries.append(Entry(server: server, token: token))
        }
    }

    /// Deletes the token for a server.
    /// - Parameter secret: Deletes only this token; nil deletes any.
    /// - Returns: The deleted token; nil if there was none.
    /// - Throws: If it cannot be deleted.
    @discardableResult
    func forget(_ server: String, ifItIs secret: String? = nil) throws(Failure) -> SavedToken? {
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

/// A file of mode 0600, never reached through a symbolic link, in a directory that no other user can write.
/// A file that a service reads may have mode 0640 and the group of that service.
///
/// Changes replace the file atomically: a reader sees the old or the new content whole. A lock serializes writers.
struct PrivateFile {
    let path: String
    /// The maximum size; a larger file is refused.
    let sizeLimit: Int
    /// The group of the service that reads it, if it is written for a service.
    var sharedWith: UInt32?

    /// The content; nil where there is no file.
    func read() throws(Failure) -> [UInt8]? {
        guard let (folder, name) = try openFolder() else { return nil }
        return try rethrowing(try folder.content(of: name, limit: sizeLimit, Self.rules)?.bytes)
    }

    /// Replaces the content.
    /// - Parameters:
    ///   - creates: Whether a missing file is created; otherwise the call does nothing then.
    ///   - body: Returns the new content for the old one; nil to leave it unchanged.
    func change(
        creates: Bool = true, _ body: ([UInt8]) throws(Failure) -> [UInt8]?
    ) throws(Failure) {
        if creates { createFolder() }
        guard let (folder, name) = try openFolder() else {
            if creates { throw failure("there is no directory \(directory); make it") }
            return
        }
        guard let old = try rethrowing(try lock(name, in: folder, creates: creates)) else { return }
        defer { withExtendedLifetime(old) {} }
        guard let new = try body(try rethrowing(try old.content(limit: sizeLimit))) else { return }
        try rethrowing(try folder.replace(name, with: new, prepare: keepOwner(of: old.info)))
        // So that a removal survives a power failure; not every file system supports it.
        try? folder.flush()
    }

    // MARK: Opening

    /// Group read permission is not checked: the owner decides it.
    private static let rules = FileRules(.userOrRootOrAnyoneForRoot, forbidden: 0o037)

    private var directory: String { Folder.split(path).directory }

    private func createFolder() {
        let directory = directory
        for slash in directory.indices.dropFirst() where directory[slash] == "/" {
            mkdir(String(directory[..<slash]), sharedWith == nil ? 0o700 : 0o755)
        }
        guard mkdir(directory, 0o700) == 0, let sharedWith else { return }
        chown(directory, geteuid(), sharedWith)
        chmod(directory, 0o750)
    }

    private func openFolder() throws(Failure) -> (folder: Folder, name: String)? {
        do throws(FileProblem) {
            let (folder, name) = try Folder.of(path)
            try folder.validate(Self.rules)
            return (folder, name)
        } catch {
            switch error.fault {
            case .owner(let uid): throw failure("its directory belongs to uid \(uid); use one of your own")
            case .mode: throw failure("its directory can be written by others; chmod go-w \(directory)")
            default: if error.isPathMissing { return nil } else { throw failure(error.reason) }
            }
        }
    }

    /// Opens the file with an exclusive lock.
    private func lock(_ name: String, in folder: Folder, creates: Bool) throws(FileProblem) -> OpenFile? {
        do throws(FileProblem) {
            return try folder.lock(name, for: creates ? .readingOrCreating : .reading, Self.rules, waits: true)
        } catch {
            if error.isMissing { return nil }
            throw error
        }
    }

    /// Keeps owner and group, so that the process that reads the file still can after root has changed it.
    private func keepOwner(of old: FileInfo) -> (Int32) throws(FileProblem) -> Void {
        { new throws(FileProblem) in
            let mode = sharedWith == nil ? old.mode & 0o777 : 0o640
            guard fchown(new, old.owner, sharedWith ?? old.group) == 0, fchmod(new, mode_t(mode)) == 0 else {
                throw FileProblem(path, "writing it", .failed(FileError(errno)))
            }
        }
    }

    // MARK: Failing

    private func rethrowing<Result>(_ body: @autoclosure () throws(FileProblem) -> Result) throws(Failure) -> Result {
        do throws(FileProblem) {
            return try body()
        } catch {
            switch error.fault {
            case .kind(.link): throw failure("\(error.reason); \(error.remedy)")
            case .mode: throw failure("\(error.reason); chmod 600 \(path), or 640 for a service's group")
            case .size(_, let limit): throw failure("it is too large; it may have at most \(limit) bytes")
            default: throw failure(error.reason)
            }
        }
    }

    private func failure(_ reason: String) -> Failure { Failure(.refused, "\(path): \(reason)") }
}
