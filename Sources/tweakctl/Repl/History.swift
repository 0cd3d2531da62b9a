// Keeps the lines typed before, in memory and in a file that only its owner can read.

import TweaksSystem

/// The input history. A file that cannot be read or written loses the history, never the session.
struct History {
    private(set) var lines: [String] = []
    private let path: String?

    /// The number of lines in the file.
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

    /// Adds a line, unless it repeats the last one.
    /// - Parameter inFile: False for a line that may hold a secret.
    mutating func add(_ line: String, inFile: Bool) {
        if line.isEmpty || line == lines.last { return }
        lines.append(line)
        if lines.count > Self.limit { lines.removeFirst() }
        guard inFile, let path else { return }
        try? PosixFileSystem().makeDirectories(Folder.split(path).directory)
        try? Self.open(path, for: .appending).write(Array((line + "\n").utf8))
    }

    // MARK: The file

    private static func read(_ path: String) -> String? {
        (try? open(path, for: .reading).head(4 << 20)).map { String(decoding: $0, as: UTF8.self) }
    }

    /// Opens the file, never through a symbolic link, and never another user's.
    private static func open(_ path: String, for purpose: FilePurpose) throws(FileProblem) -> OpenFile {
        let file = try Folder.anywhere.open(path, for: purpose, FileRules(.user))
        if file.info.mode & 0o077 != 0 { fchmod(file.descriptor, 0o600) }
        return file
    }

    /// Truncates the file to the newest lines.
    private func rewrite(_ path: String) { try? Folder.replace(path, with: lines.joined(separator: "\n") + "\n") }
}
