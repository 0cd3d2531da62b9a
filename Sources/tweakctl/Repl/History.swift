// The lines typed before: in memory, and in a file that only its owner can read.

import TweaksSystem

/// What was typed. A file that cannot be read or written costs the memory of it, never the session.
struct History {
    private(set) var lines: [String] = []
    private let path: String?

    /// So many lines are kept.
    static let limit = 1_000

    /// - Parameter path: The file; nil for none.
    init(path: String?) {
        self.path = path
        guard let path, let text = Self.read(path) else { return }
        let all = text.split(separator: "\n").map { String($0) }
        lines = all.suffix(Self.limit)
        if all.count > 2 * Self.limit { rewrite(path) }
    }

    /// `tweakctl/history` in the user's state directory.
    static var standardPath: String? {
        if let state = System.variable("XDG_STATE_HOME"), state.hasPrefix("/") { return state + "/tweakctl/history" }
        return System.variable("HOME").map { $0 + "/.local/state/tweakctl/history" }
    }

    /// Remembers a line, unless it repeats the last one.
    /// - Parameter inFile: False for what had better not be written down.
    mutating func add(_ line: String, inFile: Bool) {
        if line.isEmpty || line == lines.last { return }
        lines.append(line)
        if lines.count > Self.limit { lines.removeFirst() }
        guard inFile, let path, let file = Self.open(path, O_WRONLY | O_APPEND | O_CREAT) else { return }
        System.write(Array((line + "\n").utf8), to: file)
        close(file)
    }

    // MARK: The file

    private static func read(_ path: String) -> String? {
        guard let file = open(path, O_RDONLY) else { return nil }
        defer { close(file) }
        var bytes: [UInt8] = []
        while bytes.count < 4 << 20, let chunk = System.read(file), !chunk.isEmpty { bytes += chunk }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// Opens it, with its directories where it is to be made. Never through a symbolic link; another's is refused.
    private static func open(_ path: String, _ flags: Int32) -> Int32? {
        if flags & O_CREAT != 0 { makeDirectories(path) }
        let file = systemOpen(path, flags | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK, 0o600)
        guard file >= 0 else { return nil }
        var facts = stat()
        guard fstat(file, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid() else {
            close(file)
            return nil
        }
        if facts.st_mode & 0o077 != 0 { fchmod(file, 0o600) }
        return file
    }

    private static func makeDirectories(_ path: String) {
        for slash in path.indices.dropFirst() where path[slash] == "/" { mkdir(String(path[..<slash]), 0o700) }
    }

    /// Leaves the newest lines.
    private func rewrite(_ path: String) {
        let new = "\(path).\(getpid())"
        guard let file = Self.open(new, O_WRONLY | O_CREAT | O_EXCL) else { return }
        let isWritten = System.write(Array((lines.joined(separator: "\n") + "\n").utf8), to: file)
        close(file)
        if !isWritten || rename(new, path) != 0 { unlink(new) }
    }
}

/// open(2), under a name that no method takes.
private func systemOpen(_ path: String, _ flags: Int32, _ mode: mode_t) -> Int32 { open(path, flags, mode) }
