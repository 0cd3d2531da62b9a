// Chooses a directory for a user's sockets in a temporary directory.

#if Server
    import TweaksInterface
    import TweaksServer
    import TweaksSystem

    /// The directory of this user's sockets. `tweakctl` searches the same directories.
    struct RunDirectory: Equatable {
        let path: String
        /// Why it is not the default directory; nil if it is.
        let reason: String?

        /// A directory that needs no name of this user.
        init(_ path: String) { (self.path, reason) = (path, nil) }

        /// Uses `tweaks-UID`; if another user has taken that name, `tweaks-UID-` with a random suffix that is reused
        /// later.
        /// - Throws: `ServerError` if no directory can be created.
        init(in temporary: String, user: UInt32 = ThisProcess.user) throws(ServerError) {
            let usual = RunPlaces.usual(in: temporary, user)
            guard let owner = (try? Folder.anywhere.info(usual))?.owner, owner != user else {
                // Other problems with it are reported, with a remedy, when the socket is created.
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

        /// A directory created earlier by this user; a directory of another user could be a trap.
        private static func known(in temporary: String, _ user: UInt32) -> String? {
            guard let folder = try? Folder(temporary), let names = try? folder.names() else { return nil }
            return names.filter { $0.hasPrefix(RunPlaces.prefix(user)) }.sorted().first { name in
                guard let info = try? folder.info(name) else { return false }
                return info.kind == .directory && info.owner == user && info.mode & 0o077 == 0
            }.map { "\(temporary)/\($0)" }
        }

        private static func made(in temporary: String, _ user: UInt32) throws(ServerError) -> String {
            var template = Array("\(temporary)/\(RunPlaces.prefix(user))XXXXXX".utf8CString)
            guard mkdtemp(&template) != nil else {
                throw ServerError(
                    "\(temporary)/tweaks-\(user) is another user's, and none beside it can be made "
                        + "(\(errorText())); set XDG_RUNTIME_DIR or TWEAKS_SOCKET", isUnavailable: true)
            }
            return String(decoding: template.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
#endif
