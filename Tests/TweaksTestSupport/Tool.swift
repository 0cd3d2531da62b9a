// Locates and runs installed programs.

import Foundation

/// A program on the path.
package struct Tool: Sendable {
    package static let bash = Tool("bash")
    /// The headless shell of Chromium. The full browser is not used instead: its pages take five times as long, and it
    /// closes tabs later than it says. The path avoids Debian's wrapper script, which does not forward signals.
    package static let chromium =
        Tool("chromium-headless-shell", in: ["/usr/lib/chromium"]) ?? Tool("chrome-headless-shell")
    package static let nc = Tool("nc")
    package static let telnet = Tool("telnet")
    package static let setpriv = Tool("setpriv")
    package static let unshare = Tool("unshare")
    package static let setsid = Tool("setsid")
    package static let sh = Tool("sh")
    package static let sha256sum = Tool("sha256sum")
    package static let promtool = Tool("promtool")
    package static let prometheus = Tool("prometheus")
    package static let curl = Tool("curl")
    package static let vim = Tool("vim")
    package static let python3 = Tool("python3")
    package static let tar = Tool("tar")
    package static let flock = Tool("flock")
    package static let mount = Tool("mount")
    package static let umount = Tool("umount")

    package let path: String

    private init(_ name: String) {
        let directories = ["/usr/bin", "/bin", "/usr/sbin", "/sbin", "/usr/local/bin", "/opt/homebrew/bin"]
        self = Tool(name, in: directories) ?? Tool(path: name)
    }

    private init?(_ name: String, in directories: [String]) {
        let paths = directories.map { "\($0)/\(name)" }
        guard let path = paths.first(where: { FileManager.default.isExecutableFile(atPath: $0) }) else { return nil }
        self.path = path
    }

    private init(path: String) { self.path = path }

    /// Whether it is installed.
    package var exists: Bool { path.hasPrefix("/") }

    /// Runs it to its end and returns what it printed.
    package func run(_ arguments: [String], input: String = "") throws -> String {
        let program = try RunningProgram(path, arguments)
        // The input may exceed what a pipe holds.
        Thread.detachNewThread {
            program.type(input)
            program.endInput()
        }
        return try program.result().output
    }
}
