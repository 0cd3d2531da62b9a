// A file with secrets: read and replaced as nobody else can read, write or redirect it.

import TweaksSystem

/// A file of mode 0600, never reached through a symbolic link in its place, in a directory that nobody else can write.
/// One that a service reads may have mode 0640 and the group of that service.
///
/// It is changed by a new file that takes its place in one step: whoever reads it sees the old or the new one whole.
/// Two that change it at once come one after the other.
struct PrivateFile {
    let path: String
    /// A larger one is something else.
    let sizeLimit: Int
    /// The group that reads it, where it is made or changed for a service.
    var sharedWith: UInt32?

    /// Its content; nil where there is none.
    func read() throws(Failure) -> [UInt8]? {
        guard let folder = try openFolder(), let file = try openFile(in: folder, makes: false) else { return nil }
        return try content(of: file)
    }

    /// Replaces its content.
    /// - Parameters:
    ///   - makes: Whether it is made where there is none; else nothing happens then.
    ///   - body: Turns the old content into the new one; nil for leaving it as it is.
    func change(
        makes: Bool = true, _ body: ([UInt8]) throws(Failure) -> [UInt8]?
    ) throws(Failure) {
        if makes { makeFolder() }
        guard let folder = try openFolder() else {
            if makes { throw failure("there is no directory \(place.directory); make it") }
            return
        }
        guard let file = try openLocked(in: folder, makes: makes) else { return }
        guard let new = try body(try content(of: file)) else { return }
        try replace(file, in: folder, with: new)
    }

    // MARK: Opening

    /// A descriptor that is closed when it is let go of.
    private final class Handle {
        let number: Int32

        init(_ number: Int32) { self.number = number }

        deinit { close(number) }
    }

    private var place: (directory: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let directory = String(path[..<slash])
        return (directory.isEmpty ? "/" : directory, String(path[path.utf8.index(after: slash)...]))
    }

    private func makeFolder() {
        let directory = place.directory
        for slash in directory.indices.dropFirst() where directory[slash] == "/" {
            mkdir(String(directory[..<slash]), sharedWith == nil ? 0o700 : 0o755)
        }
        guard mkdir(directory, 0o700) == 0, let sharedWith else { return }
        chown(directory, geteuid(), sharedWith)
        chmod(directory, 0o750)
    }

    private func openFolder() throws(Failure) -> Handle? {
        let number = open(place.directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        if number < 0, errno == ENOENT || errno == ENOTDIR { return nil }
        if number < 0 { throw failure(System.errorText()) }
        let folder = Handle(number)
        var facts = stat()
        guard fstat(number, &facts) == 0 else { throw failure(System.errorText()) }
        if !Self.isTrusted(facts.st_uid) {
            throw failure("its directory belongs to uid \(facts.st_uid); use one of your own")
        }
        if facts.st_mode & (S_IWGRP | S_IWOTH) != 0, facts.st_mode & S_ISVTX == 0 {
            throw failure("its directory can be written by others; chmod go-w \(place.directory)")
        }
        return folder
    }

    /// Who may have made it. Root looks after the files of all.
    private static func isTrusted(_ uid: uid_t) -> Bool { uid == geteuid() || uid == 0 || geteuid() == 0 }

    private func openFile(in folder: Handle, makes: Bool) throws(Failure) -> Handle? {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC
        var number = openat(folder.number, place.name, flags)
        while number < 0, errno == ENOENT, makes {
            number = openat(folder.number, place.name, flags | O_CREAT | O_EXCL, 0o600)
            // Another was faster.
            if number < 0, errno == EEXIST { number = openat(folder.number, place.name, flags) }
        }
        if number < 0, errno == ENOENT { return nil }
        if number < 0 {
            throw failure(errno == ELOOP ? "it is a symbolic link; name the file itself" : System.errorText())
        }
        let file = Handle(number)
        try check(facts(of: file))
        return file
    }

    /// The same, for us alone. Who waits for a file that is replaced meanwhile has to open the new one.
    private func openLocked(in folder: Handle, makes: Bool) throws(Failure) -> Handle? {
        while let file = try openFile(in: folder, makes: makes) {
            while flock(file.number, LOCK_EX) != 0 {
                if errno != EINTR { throw failure(System.errorText()) }
            }
            let held = try facts(of: file)
            var named = stat()
            let isThere = fstatat(folder.number, place.name, &named, AT_SYMLINK_NOFOLLOW) == 0
            if isThere, held.st_ino == named.st_ino, held.st_dev == named.st_dev { return file }
        }
        return nil
    }

    private func facts(of file: Handle) throws(Failure) -> stat {
        var facts = stat()
        guard fstat(file.number, &facts) == 0 else { throw failure(System.errorText()) }
        return facts
    }

    private func check(_ facts: stat) throws(Failure) {
        if facts.st_mode & S_IFMT != S_IFREG { throw failure("it is no regular file") }
        if !Self.isTrusted(facts.st_uid) { throw failure("it belongs to uid \(facts.st_uid)") }
        // Which group that is, is for the one who reads it to judge.
        if facts.st_mode & 0o037 != 0 {
            let mode = String(facts.st_mode & 0o777, radix: 8)
            throw failure("others can read or write it (mode \(mode)); chmod 600 \(path), or 640 for a service's group")
        }
    }

    // MARK: Content

    private func content(of file: Handle) throws(Failure) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count <= sizeLimit {
            guard let chunk = System.read(file.number) else { throw failure(System.errorText()) }
            if chunk.isEmpty { return bytes }
            bytes += chunk
        }
        throw failure("it is larger than \(sizeLimit) bytes, as no such file is")
    }

    private func replace(_ old: Handle, in folder: Handle, with bytes: [UInt8]) throws(Failure) {
        let new = ".\(place.name).\(getpid()).new"
        // What a process of this number left behind when it was killed.
        unlinkat(folder.number, new, 0)
        let number = openat(folder.number, new, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        if number < 0 { throw failure(System.errorText()) }
        let file = Handle(number)
        do throws(Failure) {
            try keepOwner(of: old, on: file)
            guard System.write(bytes, to: number), fsync(number) == 0,
                renameat(folder.number, new, folder.number, place.name) == 0
            else { throw failure(System.errorText()) }
        } catch {
            unlinkat(folder.number, new, 0)
            throw error
        }
        // So that what was taken away stays away when the power goes; not every file system can do it.
        fsync(folder.number)
    }

    /// The process that reads it shall be able to go on reading it when root has changed it.
    private func keepOwner(of old: Handle, on new: Handle) throws(Failure) {
        let (before, now) = (try facts(of: old), try facts(of: new))
        let group = sharedWith ?? before.st_gid
        if before.st_uid != now.st_uid || group != now.st_gid, fchown(new.number, before.st_uid, group) != 0 {
            throw failure(System.errorText())
        }
        let mode = sharedWith == nil ? before.st_mode & 0o777 : 0o640
        if mode != now.st_mode & 0o777, fchmod(new.number, mode) != 0 { throw failure(System.errorText()) }
    }

    private func failure(_ reason: String) -> Failure { Failure(.refused, "\(path): \(reason)") }
}
