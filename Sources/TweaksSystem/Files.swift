// The few things done to files outside the state directory.

/// Calls of the system for whole files.
package enum Files {
    /// Writes all of it.
    /// - Returns: False when it cannot be; `errno` says why.
    package static func write(_ text: String, to descriptor: Int32) -> Bool {
        var text = text
        return text.withUTF8 { bytes in
            var rest = bytes[...]
            while !rest.isEmpty {
                let count = systemWrite(descriptor, UnsafeRawBufferPointer(UnsafeBufferPointer(rebasing: rest)))
                if count < 0, errno != EINTR { return false }
                rest = rest.dropFirst(max(0, count))
            }
            return true
        }
    }

    /// Makes a file that only this user reads, in place of nothing, and writes all of it.
    /// - Parameter synced: It is on the disk before this returns.
    /// - Returns: Why not; then there is none.
    package static func make(_ path: String, _ text: String, synced: Bool = false) -> String? {
        let number = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0o600)
        guard number >= 0 else { return errorText() }
        defer { close(number) }
        if write(text, to: number), !synced || fsync(number) == 0 { return nil }
        defer { unlink(path) }
        return errorText()
    }

    /// What is in a directory; nothing where it cannot be read.
    package static func names(in path: String) -> [String] {
        guard let directory = opendir(path) else { return [] }
        defer { closedir(directory) }
        var names: [String] = []
        while let entry = readdir(directory) {
            names.append(
                withUnsafeBytes(of: &entry.pointee.d_name) { String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self) })
        }
        return names
    }
}

/// write(2), under a name that no method takes.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
