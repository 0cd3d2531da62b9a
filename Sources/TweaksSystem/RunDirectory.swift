// Finds the directories of sockets: a daemon chooses one of them, and its clients search all.

/// The candidates for a user's run directory, best first.
package struct RunPlaces: Equatable, Sendable {
    /// The directory in `XDG_RUNTIME_DIR`; nil without that variable. It is in use where the variable's is writable.
    package let runtime: String?
    /// The temporary directories, in which a directory has the user's number in its name.
    package let temporary: [String]

    /// - Parameters:
    ///   - variable: Looks up an environment variable.
    ///   - common: The temporary directories of the system. A container with a read-only root has only the last one.
    package init(common: [String] = ["/tmp", "/dev/shm"], _ variable: (String) -> String?) {
        let isAbsolute = { (path: String) in path.hasPrefix("/") }
        runtime = variable("XDG_RUNTIME_DIR").filter(isAbsolute).map { "\($0)/tweaks" }
        if let only = variable("TWEAKS_TMPDIR").filter(isAbsolute).map(Self.withoutEnd) {
            temporary = [only]
        } else {
            let named = variable("TMPDIR").filter(isAbsolute).map(Self.withoutEnd)
            temporary = [named].compactMap(\.self) + common.filter { $0 != named }
        }
    }

    private static func withoutEnd(_ path: String) -> String {
        var path = path
        while path.hasSuffix("/"), path != "/" { path.removeLast() }
        return path
    }
}

/// A directory of one user's sockets.
package struct RunDirectory: Equatable, Sendable {
    package let path: String
    /// Why it is not the usual directory; nil if it is.
    package let reason: String?

    /// A directory whose name is given.
    package init(_ path: String, reason: String? = nil) {
        self.path = path
        self.reason = reason
    }

    /// The usual directory in a temporary directory.
    private static func usual(in temporary: String, _ user: UInt32) -> String { "\(temporary)/tweaks-\(user)" }

    /// The directories that daemons of this user have made because another user has the usual name: that name with
    /// random letters after it. One that another user can write could be a trap.
    private static func others(in temporary: String, _ user: UInt32) -> [RunDirectory] {
        let names = (try? Folder(temporary).names()) ?? []
        return names.filter { $0.hasPrefix("tweaks-\(user)-") }.sorted()
            .map { RunDirectory("\(temporary)/\($0)") }.filter { $0.isTrusted(by: user) }
    }

    /// Whether only this user and root can put a socket into it.
    private func isTrusted(by user: UInt32) -> Bool {
        guard let info = try? Folder.anywhere.info(path) else { return false }
        return info.kind == .directory && info.owner == user && info.mode & 0o022 == 0
    }

    /// Whether no other user can even list it.
    private var isPrivate: Bool { (try? Folder.anywhere.info(path)).map { $0.mode & 0o077 == 0 } ?? false }

    // MARK: Choosing

    /// Why a temporary directory holds no directory for a user.
    package struct Obstacle: Error, CustomStringConvertible {
        package let description: String
    }

    /// The usual directory, or, if another user has taken that name, one beside it, which is used again later.
    package init(in temporary: String, user: UInt32 = ThisProcess.user) throws(Obstacle) {
        let usual = Self.usual(in: temporary, user)
        guard let owner = (try? Folder.anywhere.info(usual))?.owner, owner != user else {
            // Other problems with it are reported, with a remedy, when the socket is created.
            self.init(usual)
            return
        }
        let reason = "\(usual) belongs to uid \(owner)"
        if let known = Self.others(in: temporary, user).first(where: \.isPrivate) {
            self.init(known.path, reason: reason)
        } else {
            self.init(try Self.made(beside: usual), reason: reason)
        }
    }

    private static func made(beside usual: String) throws(Obstacle) -> String {
        var template = Array("\(usual)-XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            throw Obstacle(
                description: "\(usual) is another user's, and none beside it can be made (\(errorText())); "
                    + "set XDG_RUNTIME_DIR or TWEAKS_SOCKET")
        }
        return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    // MARK: Searching

    /// All directories where a daemon of a user may have put its socket: it may have been started with other variables,
    /// or found a place that it could not use.
    package static func all(_ places: RunPlaces, user: UInt32 = ThisProcess.user) -> [RunDirectory] {
        let runtime = places.runtime.map { [RunDirectory($0)] } ?? []
        return runtime
            + places.temporary.flatMap { temporary in
                [RunDirectory(usual(in: temporary, user))] + others(in: temporary, user)
            }
    }

    /// The path of the socket that a process of this name has here.
    package func socket(of name: String) -> String { "\(path)/\(name).sock" }

    /// The paths of the sockets in it, by name. Empty where another user could have planted one.
    package func sockets(user: UInt32 = ThisProcess.user) -> [String] {
        guard isTrusted(by: user), let folder = try? Folder(path), let names = try? folder.names() else { return [] }
        let found = names.filter { name in
            guard name.hasSuffix(".sock"), name.utf8.count > 5, let info = try? folder.info(name) else { return false }
            return info.kind == .socket && info.owner == user
        }
        return found.sorted().map { "\(path)/\($0)" }
    }
}

extension Optional {
    fileprivate func filter(_ isIncluded: (Wrapped) -> Bool) -> Wrapped? { flatMap { isIncluded($0) ? $0 : nil } }
}
