// Checks whether other users could have written a file or replaced it.

import TweaksSystem

/// Validates the path to a file: every directory and symbolic link on it, and the file.
///
/// Each must belong to the process's user or root. A directory that others can write must be sticky, so that they
/// cannot remove files from it; a file that they can write is untrusted. A group counts as others, the process's own
/// included, except in a directory of root further up the path that root has opened to a group, as `/var/log` is on
/// some systems. Files on a read-only mount cannot be written in any mode.
package enum FileTrust {
    /// Why a file is not trusted, and the remedy; nil if no other user could have written it, or it does not exist.
    /// - Parameter path: An absolute path. Links on the way are checked and followed.
    package static func objection(to path: String) -> String? {
        let steps = ResolvedPath(path).steps
        // The directory that contains the name, and the one that contains the file after following links.
        let nearest = [path, steps.last ?? path].map { Folder.split($0).directory }
        for step in steps {
            if let objection = objection(step, isNear: nearest.contains(step)) { return objection }
        }
        return nil
    }

    private static func objection(_ path: String, isNear: Bool) -> String? {
        guard let info = try? Folder.anywhere.info(path) else { return nil }
        guard info.isTrusted else {
            return "\(path) belongs to uid \(info.owner), who can change what is there; chown it to root or to uid "
                + "\(ThisProcess.user), or name another file"
        }
        // A link's mode has no meaning.
        if info.kind == .link || info.mode & 0o022 == 0 { return nil }
        if info.kind == .directory {
            if !info.isOpenToOthers { return nil }
            if !isNear, info.owner == 0, info.mode & 0o002 == 0 { return nil }
        }
        if isReadOnly(path) { return nil }
        return "others can write \(path) (mode \(String(info.mode, radix: 8))); chmod go-w it"
    }

    private static func isReadOnly(_ path: String) -> Bool {
        var info = statvfs()
        return statvfs(path, &info) == 0 && UInt(info.f_flag) & UInt(ST_RDONLY) != 0
    }
}
