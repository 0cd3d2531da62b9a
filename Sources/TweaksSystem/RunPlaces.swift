// Lists the directories where daemons put their sockets, for the daemons and for the clients that search them.

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

    /// The usual directory in a temporary directory. If another user has that name, a daemon makes one with random
    /// letters after ``prefix(_:)``.
    package static func usual(in temporary: String, _ user: UInt32) -> String { "\(temporary)/tweaks-\(user)" }

    /// What names of such other directories begin with.
    package static func prefix(_ user: UInt32) -> String { "tweaks-\(user)-" }
}

extension Optional {
    fileprivate func filter(_ isIncluded: (Wrapped) -> Bool) -> Wrapped? { flatMap { isIncluded($0) ? $0 : nil } }
}
