// Judges whether others than the process's user and root could have written a file, or put another one in its place.

import TweaksSystem

/// The way to a file, judged: every directory and symbolic link on it, and the file.
///
/// Each has to belong to the process's user or root. A directory that others may write has to be sticky, so that they
/// cannot take away what is in it; a file that they may write is theirs. A group counts as others, the process's own
/// among them; but not where root has let it into a directory of its own further up, as `/var/log` is on some systems.
/// What is mounted read-only cannot be written, whatever its mode says.
package enum FileTrust {
    /// Why a file is not to be trusted, and the remedy; nil when no other user could have written it, or there is none.
    /// - Parameter path: An absolute path. Links on the way are judged and followed.
    package static func objection(to path: String) -> String? {
        let steps = PathTrail.steps(to: path)
        // Where the name stands, and where the file is that it leads to.
        let nearest = [path, steps.last ?? path].map(directory)
        for step in steps {
            if let objection = objection(step, isNear: nearest.contains(step)) { return objection }
        }
        return nil
    }

    /// Where a file is. Steps are written without doubled slashes; a path that is not is judged where it leads to.
    private static func directory(of path: String) -> String {
        let slash = path.lastIndex(of: "/") ?? path.startIndex
        return slash == path.startIndex ? "/" : String(path[..<slash])
    }

    private static func objection(_ path: String, isNear: Bool) -> String? {
        guard let facts = try? Folder.anywhere.facts(path) else { return nil }
        guard facts.isTrusted else {
            return "\(path) belongs to uid \(facts.owner), who can change what is there; chown it to root or to uid "
                + "\(ThisProcess.user), or name another file"
        }
        // A link has no mode.
        if facts.kind == .link || facts.mode & 0o022 == 0 { return nil }
        if facts.kind == .directory {
            if !facts.isOpenToOthers { return nil }
            if !isNear, facts.owner == 0, facts.mode & 0o002 == 0 { return nil }
        }
        if isReadOnly(path) { return nil }
        return "others can write \(path) (mode \(String(facts.mode, radix: 8))); chmod go-w it"
    }

    private static func isReadOnly(_ path: String) -> Bool {
        var facts = statvfs()
        return statvfs(path, &facts) == 0 && UInt(facts.f_flag) & UInt(ST_RDONLY) != 0
    }
}
