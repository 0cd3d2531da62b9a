// Reads a token file, but only one that no other user can have written or read.

import TweaksSystem
import TweaksWire

/// What a token file holds at a moment.
package enum TokenFile: Equatable, Sendable {
    case bytes([UInt8])
    case missing
    /// It is there and not taken: what is wrong with it, and the remedy.
    case refused(String)

    /// Reads it. Never through a symbolic link in its place, and never waiting, as reading a pipe would.
    package init(path: String) {
        let (directory, name) = Self.split(path)
        let folder = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard folder >= 0 else {
            self = errno == ENOENT || errno == ENOTDIR ? .missing : .refused("\(directory): \(Self.text(errno))")
            return
        }
        defer { close(folder) }
        if let reason = Self.objection(toDirectory: folder) {
            self = .refused("\(directory) \(reason)")
            return
        }
        let file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)
        guard file >= 0 else {
            self = Self.missing(errno)
            return
        }
        defer { close(file) }
        self = Self.objection(to: file, path).map(Self.refused) ?? Self.content(of: file)
    }

    private static func missing(_ code: Int32) -> TokenFile {
        switch code {
        case ENOENT, ENOTDIR: .missing
        case ELOOP: .refused("it is a symbolic link; name the file itself")
        default: .refused(text(code))
        }
    }

    private static func split(_ path: String) -> (directory: String, name: String) {
        guard let slash = path.utf8.lastIndex(of: UInt8(ascii: "/")) else { return (".", path) }
        let directory = String(path[..<slash])
        return (directory.isEmpty ? "/" : directory, String(path[path.utf8.index(after: slash)...]))
    }

    // MARK: Whose it is

    /// Who can put another file in its place can put tokens into it.
    private static func objection(toDirectory descriptor: Int32) -> String? {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return text(errno) }
        if !isTrusted(facts.st_uid) { return "belongs to uid \(facts.st_uid); keep tokens in a directory of your own" }
        let isShared = facts.st_mode & (S_IWGRP | S_IWOTH) != 0 && facts.st_mode & S_ISVTX == 0
        return isShared ? "can be written by others; chmod go-w it" : nil
    }

    private static func objection(to descriptor: Int32, _ path: String) -> String? {
        var facts = stat()
        guard fstat(descriptor, &facts) == 0 else { return text(errno) }
        if facts.st_mode & S_IFMT != S_IFREG { return "it is no regular file; name one" }
        if !isTrusted(facts.st_uid) { return "it belongs to uid \(facts.st_uid); chown it to \(geteuid())" }
        // Root keeps a service's tokens where the service reads them by its group.
        let isOfOwnGroup = facts.st_uid == 0 && geteuid() != 0 && facts.st_gid == getegid() && getegid() != 0
        if facts.st_mode & (isOfOwnGroup ? 0o037 : 0o077) != 0 {
            let group = getegid() == 0 ? "" : "; or root's, readable for group \(getegid())"
            return "others can read or write it (mode \(octal(facts.st_mode & 0o777))\(group)); chmod 600 \(path)"
        }
        return nil
    }

    private static func isTrusted(_ uid: uid_t) -> Bool { uid == geteuid() || uid == 0 }

    private static func octal(_ mode: mode_t) -> String { String(mode, radix: 8) }

    // MARK: Reading

    private static func content(of descriptor: Int32) -> TokenFile {
        var bytes: [UInt8] = []
        // One more than there may be, so that a file that is too large is seen to be.
        while bytes.count <= TokenText.sizeLimit {
            var failure: Int32 = 0
            let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
                let result = read(descriptor, buffer.baseAddress, buffer.count)
                failure = result < 0 ? errno : 0
                count = max(0, result)
            }
            if failure == EINTR { continue }
            if failure != 0 { return .refused(text(failure)) }
            if chunk.isEmpty { return .bytes(bytes) }
            bytes += chunk
        }
        return .refused("it is larger than \(TokenText.sizeLimit) bytes, as no token file is")
    }

    private static func text(_ code: Int32) -> String { errorText(code) }
}
