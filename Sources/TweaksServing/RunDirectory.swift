// Chooses the directory of a user's sockets where the session has none of its own: in the temporary directory.

import TweaksInterface
import TweaksSystem
import TweaksServer

/// The directory of this user's sockets. `tweakctl` looks in the same places.
struct RunDirectory: Equatable {
    let path: String
    /// Why it is not the usual one; nil where it is.
    let reason: String?

    /// `tweaks-UID`; where another user has taken that name, `tweaks-UID-` and random letters, the same one every time.
    /// - Throws: `ServerError` where none can be made.
    init(in temporary: String, user: UInt32 = ThisProcess.user) throws(ServerError) {
        let usual = "\(temporary)/tweaks-\(user)"
        guard let owner = (try? Folder.anywhere.facts(usual))?.owner, owner != user else {
            // What else may be wrong with it is said when the socket is made, with a remedy that can be followed.
            (path, reason) = (usual, nil)
            return
        }
        reason = "\(usual) belongs to uid \(owner)"
        if let known = Self.known(in: temporary, user) {
            path = known
        } else {
            path = try Self.made(in: temporary, user)
        }
    }

    /// One that was made before; another's of such a name could hold a trap.
    private static func known(in temporary: String, _ user: UInt32) -> String? {
        guard let folder = try? Folder(temporary), let names = try? folder.names() else { return nil }
        return names.filter { $0.hasPrefix("tweaks-\(user)-") }.sorted().first { name in
            guard let facts = try? folder.facts(name) else { return false }
            return facts.kind == .directory && facts.owner == user && facts.mode & 0o077 == 0
        }.map { "\(temporary)/\($0)" }
    }

    private static func made(in temporary: String, _ user: UInt32) throws(ServerError) -> String {
        var template = Array("\(temporary)/tweaks-\(user)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw ServerError(
                "\(temporary)/tweaks-\(user) is another user's, and none beside it can be made "
                    + "(\(errorText())); set XDG_RUNTIME_DIR or TWEAKS_SOCKET")
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}
